import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MinerDetail, MinerSettings } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { byName, duration } from "../../format.ts";
import { groupName } from "../../groups.ts";
import { t } from "../../language.ts";
import { type ControlAttributes, Field } from "../../parts/field.tsx";
import { useFocusBack } from "../../parts/focus.ts";
import { FormProblem } from "../../parts/form-problem.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Card } from "../../parts/page.tsx";
import { SavedLogin } from "../../parts/saved-login.tsx";
import { useUnsaved } from "../../parts/unsaved.tsx";
import { useForm } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { DeleteRig } from "./delete-rig.tsx";
import { PlaceFields, placementIn } from "./place-fields.tsx";
import { PlugFields, plugFrom } from "./plug-fields.tsx";

/** Managed miners are numbered from 1, all others from a billion. */
export const isManaged = ({ id }: Pick<MinerDetail, "id">): boolean => id < 1_000_000_000;

interface SettingsProps {
  readonly miner: MinerDetail;
  readonly reload: () => void;
}

/** Settings of a server without this operation. */
const unknownSettings = (miner: MinerDetail): MinerSettings => ({
  declaredBy: "api",
  address: miner.hostDescription,
  driver: null,
  interval: null,
  offlineExpected: false,
  hasLogin: false,
  login: null,
  powerNameplate: null,
  supply: null,
});

/** The administrator's settings of a rig. Values from the configuration file are changed there. */
export function Settings({ miner, reload }: SettingsProps) {
  const hasSaved = useRef(false);
  const loaded = useLoaded(
    async (signal) =>
      may("getMinerSettings") ? call("getMinerSettings", { id: miner.id }, { signal }) : unknownSettings(miner),
    [miner.id],
  );
  return (
    <Loading from={loaded}>
      {(settings) =>
        settings.declaredBy === "file" ? (
          <Notice icon="info" title={t.rig.ofFile} text={t.rig.ofFileText} />
        ) : (
          <>
            <SettingsForm
              key={JSON.stringify(settings)}
              miner={miner}
              settings={settings}
              focusesSave={hasSaved.current}
              saved={() => {
                hasSaved.current = true;
                loaded.reload();
                reload();
              }}
            />
            {may("deleteMiner") ? <DeleteRig miner={miner} /> : null}
          </>
        )
      }
    </Loading>
  );
}

interface FormProps {
  readonly miner: MinerDetail;
  readonly settings: MinerSettings;
  /** It replaces a saved form, and takes its focus. */
  readonly focusesSave: boolean;
  readonly saved: () => void;
}

function SettingsForm({ miner, settings, focusesSave, saved }: FormProps) {
  const groups = useLoaded(async (signal) => (may("listGroups") ? call("listGroups", {}, { signal }) : []), []);
  const [dirty, setDirty] = useState(false);
  const form = useForm(async (filled) => {
    const change = changeIn(filled, miner, settings);
    const { location, ...others } = change;
    if (location !== undefined && others.placeId !== undefined) {
      // One request takes a location or a place, and the slot belongs to the location.
      await call("changeMiner", { id: miner.id, location });
      await call("changeMiner", { id: miner.id, ...others });
    } else if (Object.keys(change).length > 0) await call("changeMiner", { id: miner.id, ...change });
    say(t.rig.saved);
    setDirty(false);
    saved();
  });
  const { wrong, busy, submit } = form;
  const guard = useUnsaved(dirty && !busy);
  const place = useRef<HTMLFormElement>(null);
  const saveButton = useRef<HTMLButtonElement>(null);
  useFocusBack(place, busy);
  // A layout effect: an ordinary one starts some frames later, and would take the focus from where the user is typing
  // by then.
  useLayoutEffect(() => {
    if (focusesSave) saveButton.current?.focus();
  }, []);
  const list = [...(groups.value ?? [])]
    .map(({ id }) => ({ id, name: groupName(groups.value ?? [], id) }))
    .sort((one, other) => byName(one.name, other.name));
  return (
    <form
      ref={place}
      class="stack settings"
      onSubmit={submit}
      onInput={({ currentTarget }) =>
        setDirty(Object.keys(changeIn(new FormData(currentTarget), miner, settings)).length > 0)
      }
    >
      {guard}
      <div class="cards">
        <Card title={t.rig.general}>
          <Field label={t.rig.name} problem={wrong("name")}>
            {(control) => (
              <input {...control} name="name" dir="auto" required maxLength={200} defaultValue={miner.name} />
            )}
          </Field>
          <Field label={t.rig.group} problem={wrong("group")}>
            {(control) => (
              <select {...control} name="group" key={list.length} defaultValue={String(miner.groupId)}>
                <option value="0" selected={miner.groupId === 0}>
                  {t.rig.noGroup}
                </option>
                {list.map(({ id, name }) => (
                  <option key={id} value={String(id)} selected={id === miner.groupId}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={t.rig.tags} hint={t.rig.tagsHint} problem={wrong("tags")}>
            {(control) => <input {...control} name="tags" dir="auto" defaultValue={miner.tags.join(", ")} />}
          </Field>
          <PlaceFields miner={miner} wrong={wrong} />
        </Card>
        <Card title={t.rig.connection}>
          <Field label={t.rig.address} hint={t.rig.addressHint} problem={wrong("address")}>
            {(control) => (
              <input
                {...control}
                name="address"
                required
                maxLength={300}
                spellcheck={false}
                defaultValue={settings.address}
              />
            )}
          </Field>
          <Field
            label={t.rig.interval}
            hint={
              settings.interval === null
                ? t.rig.intervalUnset
                : t.rig.intervalNow({ time: duration(settings.interval) })
            }
            problem={wrong("interval")}
          >
            {(control) => <NumberInput {...control} name="interval" min={1} max={86_400} number={settings.interval} />}
          </Field>
          <Field label={t.rig.nameplate} hint={t.rig.nameplateHint} problem={wrong("powerNameplate")}>
            {(control) => (
              <NumberInput {...control} name="powerNameplate" min={0} max={100_000} number={settings.powerNameplate} />
            )}
          </Field>
          <label class="switch">
            <input type="checkbox" name="offlineExpected" defaultChecked={settings.offlineExpected} />
            {t.rig.offlineExpected}
          </label>
          <fieldset>
            <legend>{t.rig.login}</legend>
            <SavedLogin login={settings.login} problem={wrong("login")} />
            {settings.login === null ? (
              <p class="hint">{settings.hasLogin ? t.rig.loginSet : t.rig.loginUnset}</p>
            ) : null}
            {settings.hasLogin && settings.login === null ? (
              <label class="switch">
                <input type="checkbox" name="noLogin" />
                {t.rig.noLogin}
              </label>
            ) : null}
            <Field label={t.rig.username} problem={wrong("username")}>
              {(control) => (
                <input {...control} name="username" maxLength={200} autocomplete="off" spellcheck={false} />
              )}
            </Field>
            <Field label={t.rig.password} problem={wrong("password")}>
              {(control) => (
                <input {...control} name="password" type="password" maxLength={200} autocomplete="new-password" />
              )}
            </Field>
            <Field label={t.rig.token} problem={wrong("token")}>
              {(control) => (
                <input {...control} name="token" type="password" maxLength={1000} autocomplete="new-password" />
              )}
            </Field>
          </fieldset>
        </Card>
        <Card title={t.rig.plug}>
          <PlugFields supply={settings.supply} wrong={wrong} />
        </Card>
      </div>
      <FormProblem of={form} />
      <div class="row">
        <button ref={saveButton} type="submit" class="button primary" disabled={busy}>
          {t.shell.save}
        </button>
      </div>
    </form>
  );
}

interface NumberInputProps extends ControlAttributes {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly number: number | null;
}

/** Empty for null. */
const NumberInput = ({ number, ...rest }: NumberInputProps) => (
  <input {...rest} type="number" step="any" defaultValue={number === null ? "" : String(number)} />
);

type Change = Omit<Input<"changeMiner">, "id">;

/** The changed fields. An empty login field leaves the login unchanged. */
function changeIn(form: FormData, miner: MinerDetail, settings: MinerSettings): Partial<Change> {
  const text = (name: string): string => String(form.get(name) ?? "").trim();
  const tags = [
    ...new Set(
      text("tags")
        .split(/[,،]/)
        .map((tag) => tag.trim()),
    ),
  ].filter((tag) => tag !== "");
  const numberOf = (name: string): number | null => (text(name) === "" ? null : Number(text(name)));
  const interval = numberOf("interval");
  const powerNameplate = numberOf("powerNameplate");
  const login = form.has("login") ? text("login") || null : settings.login;
  const supply = plugFrom(form, settings.supply);
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const offlineExpected = form.get("offlineExpected") !== null;
  return {
    ...(text("name") === miner.name ? {} : { name: text("name") }),
    ...(Number(text("group")) === miner.groupId ? {} : { group: Number(text("group")) }),
    ...(same(tags, miner.tags) ? {} : { tags }),
    ...placementIn(form, miner),
    ...(text("address") === settings.address ? {} : { address: text("address") }),
    ...(interval === settings.interval ? {} : { interval }),
    ...(offlineExpected === settings.offlineExpected ? {} : { offlineExpected }),
    ...(powerNameplate === settings.powerNameplate ? {} : { powerNameplate }),
    ...(login === settings.login ? {} : { login }),
    ...(form.get("noLogin") === null ? loginFrom(text) : { username: null, password: null, token: null }),
    ...(supply === undefined ? {} : { supply }),
  };
}

/** The changed parts of the login. */
const loginFrom = (text: (name: string) => string) =>
  Object.fromEntries(
    ["username", "password", "token"].flatMap((name) => (text(name) === "" ? [] : [[name, text(name)]])),
  );
