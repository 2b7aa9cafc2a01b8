import { call } from "../api.ts";
import { t } from "../language.ts";
import { may } from "../session.ts";
import { Field } from "./field.tsx";
import { useLoaded } from "./load.tsx";

interface SavedLoginProps {
  /** The name of the present one. */
  readonly login: string | null;
  readonly problem?: string | undefined;
}

/** The choice `login` of a form: one of the logins of the settings, or "" for none. Absent if there are none. */
export function SavedLogin({ login, problem }: SavedLoginProps) {
  const loaded = useLoaded(async (signal) => (may("listSettings") ? savedLogins(signal) : []), []);
  const names = [...new Set([...(login === null ? [] : [login]), ...(loaded.value ?? [])])];
  if (names.length === 0) return null;
  return (
    <Field label={t.rig.savedLogin} hint={t.rig.savedLoginHint} problem={problem}>
      {(control) => (
        <select {...control} name="login" key={names.length}>
          <option value="">{t.rig.noSavedLogin}</option>
          {names.map((name) => (
            <option key={name} value={name} selected={name === login}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

async function savedLogins(signal: AbortSignal): Promise<string[]> {
  const { sections } = await call("listSettings", {}, { signal });
  const list = sections.find(({ key }) => key === "logins")?.effective;
  return Array.isArray(list)
    ? list.flatMap((each: { name?: unknown }) => (typeof each.name === "string" ? each.name : []))
    : [];
}
