import { facts } from "./home-assistant-facts.ts";
import type { Json } from "./home-assistant-message.ts";

/** What a platform asks of its component, which has what the root shares. */
export function checkPlatform(platform: string, id: string, component: Json, root: Json): string[] {
  const check = checks[platform];
  return [
    ...checkClass(platform, component),
    ...checkStateTopic(platform, component),
    ...(check === undefined ? [] : check(component, root)),
  ].map((text) => `${id}: ${text}`);
}

function checkClass(platform: string, { device_class: given }: Json): string[] {
  if (given === undefined || given === null) return [];
  const classes = valuesOf(platform, "device_class");
  return unless(
    classes.length === 0 || classes.includes(String(given)),
    `device_class "${given}" is unknown to ${platform}`,
  );
}

/** The values that a platform accepts for a key; none where it does not list them. */
const valuesOf = (platform: string, key: string): readonly string[] => facts.platforms[platform]?.values[key] ?? [];

/** Without it Home Assistant shows what was asked for as if it had happened. */
const checkStateTopic = (platform: string, { state_topic: topic, optimistic }: Json): string[] =>
  ["switch", "number", "select"].includes(platform)
    ? [
        ...unless(topic !== undefined, "has no state_topic, so it shows what nobody reported"),
        ...unless(optimistic !== true, "is optimistic, so it shows what nobody reported"),
      ]
    : [];

const checks: Readonly<Record<string, (component: Json, root: Json) => string[]>> = {
  sensor: checkSensor,
  number: checkNumber,
  climate: checkClimate,
  select: ({ options }) => unless(isListOfTexts(options), "options are not a list of different texts"),
  event: ({ event_types: types, state_topic: topic }, root) => [
    ...unless(isListOfTexts(types), "event_types are not a list of different texts"),
    ...unless(
      topic === undefined || topic !== root.state_topic,
      "events come on the state topic, whose messages are kept",
    ),
  ],
  text: ({ min = 0, max = 255, mode, pattern }) => [
    ...unless(
      isNumber(min) && isNumber(max) && min >= 0 && min <= max && max <= 255,
      `no text is ${min} to ${max} long`,
    ),
    ...unless(
      mode === undefined || valuesOf("text", "mode").includes(String(mode)),
      `mode "${mode}" is not one of ${valuesOf("text", "mode").join(", ")}`,
    ),
    ...unless(pattern === undefined || typeof pattern === "string", "pattern is not a text"),
  ],
  update: ({ payload_install: install, command_topic: command }) =>
    unless((install === undefined) === (command === undefined), "payload_install and command_topic come together"),
  device_automation: ({ automation_type: type }) =>
    unless(type === "trigger", `automation_type "${type}" is not trigger`),
};

function checkSensor(sensor: Json): string[] {
  const { options, state_class: stateClass, last_reset_value_template: reset } = sensor;
  const unit = typeof sensor.unit_of_measurement === "string" ? sensor.unit_of_measurement.trim() || null : null;
  const given = typeof sensor.device_class === "string" ? sensor.device_class : null;
  const classStates = given === null ? undefined : facts.sensorStateClasses[given];
  const hasStateClass = stateClass !== undefined && stateClass !== null;
  return [
    ...unless(isTextOrNothing(sensor.unit_of_measurement), "unit_of_measurement is not a string"),
    ...unless(
      !hasStateClass || valuesOf("sensor", "state_class").includes(String(stateClass)),
      `state_class "${stateClass}" is none`,
    ),
    ...unless(
      facts.stateClassUnits[String(stateClass)]?.includes(unit) ?? true,
      `state_class ${stateClass} is for the unit ${facts.stateClassUnits[String(stateClass)]?.join(", ")}`,
    ),
    ...unless(reset === undefined || stateClass === "total", "last_reset_value_template is for state_class total"),
    ...(options === undefined || options === null
      ? unless(given !== "enum", "device_class enum needs options")
      : [
          ...unless(isListOfTexts(options), "options are not a list of different texts"),
          ...unless(given === "enum", "options are for device_class enum"),
          ...unless(!hasStateClass && unit === null, "options go with neither a unit nor a state_class"),
        ]),
    ...(given === null ? [] : unitFits(given, unit, facts.sensorUnits)),
    ...unless(
      classStates === undefined || !hasStateClass || classStates.includes(String(stateClass)),
      `state_class "${stateClass}" is impossible with device_class ${given}`,
    ),
  ];
}

/** A currency is not in the lists of units. */
function unitFits(name: string, unit: string | null, all: typeof facts.sensorUnits): string[] {
  const units = facts.textClasses.includes(name) ? [null] : all[name];
  const fits = name === "monetary" ? unit !== null && /^[A-Z]{3}$/.test(unit) : (units?.includes(unit) ?? true);
  return unless(fits, `unit ${unit === null ? "(none)" : `"${unit}"`} does not go with device_class ${name}`);
}

/** Its range is 0 to 100 where none is given. */
function checkNumber({
  min = 0,
  max = 100,
  step = 1,
  mode,
  device_class: given,
  unit_of_measurement: unit,
}: Json): string[] {
  return [
    ...unless(isNumber(min) && isNumber(max) && min < max, `min ${min} is not below max ${max}`),
    ...unless(isNumber(step) && step >= 0.001, `step ${step} is not at least 0.001`),
    ...unless(
      mode === undefined || valuesOf("number", "mode").includes(String(mode)),
      `mode "${mode}" is not one of ${valuesOf("number", "mode").join(", ")}`,
    ),
    ...unless(isTextOrNothing(unit), "unit_of_measurement is not a string"),
    ...(typeof given === "string" ? unitFits(given, typeof unit === "string" ? unit : null, facts.numberUnits) : []),
  ];
}

function checkClimate(climate: Json): string[] {
  const {
    modes: own,
    preset_modes: presets,
    preset_mode_command_topic: presetTopic,
    precision,
    temp_step: step,
  } = climate;
  const {
    min_temp: min,
    max_temp: max,
    min_humidity: dry = 30,
    max_humidity: wet = 99,
    temperature_unit: unit,
  } = climate;
  return [
    ...unless(
      own === undefined || (isListOfTexts(own) && own.every((mode) => facts.climateModes.includes(mode))),
      `modes are not a list of ${facts.climateModes.join(", ")}`,
    ),
    ...unless(
      (presets === undefined) === (presetTopic === undefined),
      "preset_modes and preset_mode_command_topic come together",
    ),
    ...unless(presets === undefined || isListOfTexts(presets), "preset_modes are not a list of different texts"),
    ...unless(!Array.isArray(presets) || !presets.includes("none"), 'preset_modes hold "none"'),
    ...unless(
      [min, max].every((edge) => edge === undefined || isNumber(edge)) &&
        !(isNumber(min) && isNumber(max) && min >= max),
      `min_temp ${min} is not below max_temp ${max}`,
    ),
    ...unless(step === undefined || (isNumber(step) && step > 0), `temp_step ${step} is not a number above 0`),
    ...unless(
      precision === undefined || precision === 0.1 || precision === 0.5 || precision === 1,
      `precision ${precision} is not 0.1, 0.5 or 1`,
    ),
    ...unless(unit === undefined || unit === "C" || unit === "F", `temperature_unit "${unit}" is neither C nor F`),
    ...unless(
      isNumber(dry) && isNumber(wet) && dry < wet && wet <= 100,
      `min_humidity ${dry} is not below max_humidity ${wet}, of 100 at most`,
    ),
    ...unless(
      climate.target_humidity_state_topic === undefined || climate.target_humidity_command_topic !== undefined,
      "target_humidity_state_topic needs target_humidity_command_topic",
    ),
  ];
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

const isTextOrNothing = (value: unknown): boolean => value === undefined || value === null || typeof value === "string";

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((text) => typeof text === "string" && text !== "") &&
  new Set(value).size === value.length;

const unless = (isSo: boolean, message: string): string[] => (isSo ? [] : [message]);
