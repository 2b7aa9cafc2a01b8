import { useEffect, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { may } from "../../session.ts";

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}
export const noLogin: Login = { username: "", password: "", token: "" };

/** The given parts of a login, in the form of the API. */
export const givenLogin = (login: Login): Partial<Login> =>
  Object.fromEntries(Object.entries(login).filter(([, text]) => text !== ""));

interface LoginFieldsProps {
  readonly login: Login;
  readonly onChange: (login: Login) => void;
}

/** User name, password and token of a rig. The input stays in this form until it is sent. */
export const LoginFields = ({ login, onChange }: LoginFieldsProps) => (
  <div class="login-fields">
    <Field label={t.add.username}>
      {(control) => (
        <input
          {...control}
          value={login.username}
          autocomplete="off"
          maxLength={200}
          onInput={({ currentTarget }) => onChange({ ...login, username: currentTarget.value })}
        />
      )}
    </Field>
    <Field label={t.add.password}>
      {(control) => (
        <input
          {...control}
          type="password"
          value={login.password}
          autocomplete="new-password"
          maxLength={200}
          onInput={({ currentTarget }) => onChange({ ...login, password: currentTarget.value })}
        />
      )}
    </Field>
    <Field label={t.add.token}>
      {(control) => (
        <input
          {...control}
          type="password"
          value={login.token}
          autocomplete="new-password"
          maxLength={1000}
          onInput={({ currentTarget }) => onChange({ ...login, token: currentTarget.value })}
        />
      )}
    </Field>
  </div>
);

/** The names of all groups, for suggestions; a new name creates a group. */
function useGroupNames(): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!may("listGroups")) return;
    call("listGroups", {})
      .then((groups) => setNames(groups.map(({ name }) => name).sort(byName)))
      .catch(() => undefined);
  }, []);
  return names;
}

export function GroupField({ group, onChange }: { group: string; onChange: (group: string) => void }) {
  const names = useGroupNames();
  if (names.length === 0) return null;
  return (
    <Field label={t.add.group}>
      {(control) => (
        <select {...control} value={group} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">{t.add.noGroup}</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
