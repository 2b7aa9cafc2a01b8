import { facts } from "./home-assistant-facts.ts";
import { type Component, isRecord, isRemoval, type Json, jsonOf, readMessage } from "./home-assistant-message.ts";

/**
 * What Home Assistant would not take of a message, for all components of a device that listen to its topic; without
 * one that which the root of the discovery names. null is an unknown value, and always valid.
 */
export function checkState(config: string, state: string, topic?: string): string[] {
  const message = readMessage(config);
  if (message === null) return ["config: is not a JSON object"];
  const on = topic ?? message.root.state_topic;
  const reads = (message.components ?? []).flatMap(readsOf).filter((read) => read.topic === on);
  const heard = jsonOf(state);
  if (!isRecord(heard)) return ["state: is not a JSON object"];
  return reads.flatMap(({ id, template, refusal }) => {
    const value = template === undefined ? heard : valueAt(heard, template);
    if (value === undefined) return [`${id}: ${template} is not in the state`];
    if (value === null) return [];
    const said = refusal(value);
    return said === null ? [] : [`${id}: ${JSON.stringify(value)} ${said}`];
  });
}

interface Read {
  readonly id: string;
  readonly topic: unknown;
  /** undefined: it takes the message whole. */
  readonly template: unknown;
  /** Why this value is none for it. */
  readonly refusal: Refusal;
}
type Refusal = (value: unknown) => string | null;

/** Everything that a component reads, and what it makes of it. */
function readsOf({ id, own, whole }: Component): Read[] {
  if (isRemoval(own)) return [];
  const { platform } = whole;
  if (platform === "climate") {
    const read = (name: string, template: string, refusal: Refusal): Read => ({
      id,
      topic: whole[name],
      template: whole[template] ?? whole.value_template,
      refusal,
    });
    return [
      read("current_temperature_topic", "current_temperature_template", number),
      read("temperature_state_topic", "temperature_state_template", number),
      read("mode_state_topic", "mode_state_template", oneOf(textsOf(whole.modes))),
      read("action_topic", "action_template", oneOf(facts.climateActions)),
      read("preset_mode_state_topic", "preset_mode_value_template", oneOf([...textsOf(whole.preset_modes), "none"])),
    ].filter(({ topic }) => topic !== undefined);
  }
  const refusal = typeof platform === "string" ? refusals[platform] : undefined;
  return refusal === undefined || whole.state_topic === undefined
    ? []
    : [{ id, topic: whole.state_topic, template: whole.value_template, refusal: refusal(whole) }];
}

const refusals: Readonly<Record<string, (component: Json) => Refusal>> = {
  sensor: sensorRefusal,
  binary_sensor: ({ payload_on: on = "ON", payload_off: off = "OFF" }) => oneOf([on, off]),
  switch: ({ payload_on: on = "ON", payload_off: off = "OFF", state_on: shownOn = on, state_off: shownOff = off }) =>
    oneOf([shownOn, shownOff]),
  number:
    ({ min = 0, max = 100 }) =>
    (value) =>
      number(value) ??
      (Number(value) >= Number(min) && Number(value) <= Number(max) ? null : `is not ${min} to ${max}`),
  select: ({ options }) => oneOf(textsOf(options)),
  text: () => text,
  event:
    ({ event_types: types }) =>
    (value) =>
      isRecord(value) && textsOf(types).some((type) => type === value.event_type)
        ? null
        : `has no event_type of ${textsOf(types).join(", ")}`,
};

function sensorRefusal({
  device_class: given,
  unit_of_measurement: unit,
  state_class: stateClass,
  options,
}: Json): Refusal {
  if (given === "enum") return oneOf(textsOf(options));
  if (given === "timestamp") return moment;
  const isText = typeof given === "string" && facts.textClasses.includes(given);
  const isNumeric = !isText && [given, unit, stateClass].some((key) => typeof key === "string");
  return isNumeric ? number : text;
}

const number: Refusal = (value) => (typeof value === "number" && Number.isFinite(value) ? null : "is not a number");

const moment: Refusal = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value)
    ? null
    : "is not a time with a zone";

/** Home Assistant stores states of at most 255 characters; true would be displayed as "True". */
const text: Refusal = (value) => {
  if (typeof value === "number") return null;
  if (typeof value !== "string") return "is not a text";
  return value.length <= 255 ? null : "is longer than 255 characters";
};

const oneOf =
  (known: readonly unknown[]): Refusal =>
  (value) =>
    known.includes(value) ? null : `is not one of ${known.join(", ")}`;

const textsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** undefined if there is none, or the template is not a plain path. */
function valueAt(heard: Json, template: unknown): unknown {
  const [, path] = /^\{\{ *value_json\.([\w.]+) *\}\}$/.exec(String(template)) ?? [];
  return path
    ?.split(".")
    .reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), heard);
}
