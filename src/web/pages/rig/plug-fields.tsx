import { useState } from "preact/hooks";
import type { MinerSettings } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";

type Supply = NonNullable<MinerSettings["supply"]>;
type Given = Input<"changeMiner">["supply"];
const types = ["shelly", "tasmota", "mqtt"] as const;

const topicOf = (value: string | { readonly topic: string } | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : value.topic;
const pathOf = (value: string | { readonly path?: string | undefined } | undefined): string =>
  typeof value === "object" ? (value.path ?? "") : "";

/** The plug that supplies a rig. Its password is write-only. */
export function PlugFields({ supply, wrong }: { supply: Supply | null; wrong: (path: string) => string | undefined }) {
  const [type, setType] = useState<string>(supply?.type ?? "");
  const http = supply !== null && supply.type !== "mqtt" ? supply : null;
  const mqtt = supply?.type === "mqtt" ? supply : null;
  const text = (
    name: string,
    label: string,
    path: string,
    value: string,
    more: Readonly<Record<string, unknown>> = {},
  ) => (
    <Field label={label} problem={wrong(`supply.${path}`)}>
      {(control) => <input {...control} name={`plug.${name}`} spellcheck={false} defaultValue={value} {...more} />}
    </Field>
  );
  return (
    <>
      <Field label={t.rig.plugType} problem={wrong("supply.type")} hint={t.rig.plugHint}>
        {(control) => (
          <select
            {...control}
            name="plug.type"
            value={type}
            onChange={({ currentTarget }) => setType(currentTarget.value)}
          >
            <option value="">{t.rig.noPlug}</option>
            {types.map((each) => (
              <option key={each} value={each}>
                {t.rig.plugTypes[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {type === "shelly" || type === "tasmota" ? (
        <>
          {text("address", t.rig.address, "address", http?.address ?? "", { required: true, maxLength: 300 })}
          {text("channel", t.rig.plugChannel, "channel", String(http?.channel ?? 0), {
            type: "number",
            min: 0,
            max: 15,
          })}
          {text("username", t.rig.username, "username", http?.username ?? "", { autocomplete: "off" })}
          {text("password", t.rig.password, "password", "", { type: "password", autocomplete: "new-password" })}
        </>
      ) : null}
      {type === "mqtt" ? (
        <>
          {text("set", t.rig.topicSet, "topics.set", mqtt?.topics.set ?? "", { required: true })}
          {text("state", t.rig.topicState, "topics.state", topicOf(mqtt?.topics.state), { required: true })}
          {text("statePath", t.rig.topicPath, "topics.state.path", pathOf(mqtt?.topics.state))}
          {text("power", t.rig.topicPower, "topics.power", topicOf(mqtt?.topics.power))}
          {text("powerPath", t.rig.topicPath, "topics.power.path", pathOf(mqtt?.topics.power))}
        </>
      ) : null}
      {type === "" ? null : (
        <>
          <label class="switch">
            <input type="checkbox" name="plug.cutPower" defaultChecked={supply?.cutPower ?? false} />
            {t.rig.cutPower}
          </label>
          {text("delay", t.rig.plugDelay, "delay", String(supply?.delay ?? 10), { type: "number", min: 0, max: 45 })}
        </>
      )}
    </>
  );
}

/** The plug in a form; undefined if unchanged, null if removed. */
export function plugFrom(form: FormData, before: Supply | null): Given | undefined {
  const text = (name: string): string => String(form.get(`plug.${name}`) ?? "").trim();
  const type = types.find((each) => each === text("type"));
  if (type === undefined) return before === null ? undefined : null;
  const use = { cutPower: form.get("plug.cutPower") !== null, delay: Number(text("delay")) };
  const value = (name: string) =>
    text(`${name}Path`) === "" ? text(name) : { topic: text(name), path: text(`${name}Path`) };
  if (type === "mqtt") {
    const old = before?.type === "mqtt" ? before : null;
    const power = text("power") === "" ? {} : { power: value("power") };
    const { set: _set, state: _state, power: _power, ...others } = old?.topics ?? {};
    const topics = { ...others, set: text("set"), state: value("state"), ...power };
    const plug = { type, topics, payloads: old?.payloads ?? { on: "ON", off: "OFF" }, ...use };
    return sorted(plug) === sorted(before) ? undefined : plug;
  }
  const username = text("username") === "" ? {} : { username: text("username") };
  const plug = { type, address: text("address"), channel: Number(text("channel")), ...username, ...use };
  if (text("password") !== "") return { ...plug, password: text("password") };
  return sorted(plug) === sorted(before) ? undefined : plug;
}

/** Text that does not depend on the order of keys. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
