/**
 * The messages of Home Assistant's discovery for devices, as its MQTT component reads them
 * (https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload). An unknown key at the root, in `device`,
 * `origin` or `availability` makes it drop the whole message, so these are all there are.
 */
export interface DeviceConfig {
  readonly device: DeviceInfo;
  readonly origin: Origin;
  readonly availability: readonly Availability[];
  readonly availability_mode: "all";
  /** Of every component that names no other. */
  readonly state_topic: string;
  /** By an id that stays: another one is another entity. */
  readonly components: Components;
}

export interface DeviceInfo {
  readonly identifiers: readonly string[];
  readonly connections?: readonly (readonly [string, string])[];
  readonly name: string;
  readonly manufacturer?: string;
  readonly model?: string;
  readonly serial_number?: string;
  readonly sw_version?: string;
  readonly via_device?: string;
  readonly suggested_area?: string;
  readonly configuration_url?: string;
}

export interface Origin {
  readonly name: string;
  readonly sw_version: string;
}

export interface Availability {
  readonly topic: string;
}

export type Platform = "sensor" | "binary_sensor" | "switch" | "number" | "select" | "button" | "event" | "climate";

type Option = string | number | boolean | null | readonly string[] | readonly Availability[];

/** An entity; only `platform` means that it is no more. */
export interface Component {
  readonly platform: Platform;
  readonly [option: string]: Option;
}

export type Components = Readonly<Record<string, Component>>;

export const originName = "Rigbridge";

/** s after which a reading that was not said again is unknown: three heartbeats. */
const expiry = 180;

/** s after which a command that a broker could not deliver is dropped. */
const commandExpiry = 60;

type Options = Readonly<Record<string, Option>>;

const fieldTemplate = (field: string): string => `{{ value_json.${field} }}`;

export const sensor = (field: string, options: Options): Component => ({
  platform: "sensor",
  value_template: fieldTemplate(field),
  expire_after: expiry,
  ...options,
});

export const binarySensor = (field: string, options: Options): Component => ({
  platform: "binary_sensor",
  value_template: fieldTemplate(field),
  payload_on: "ON",
  payload_off: "OFF",
  expire_after: expiry,
  ...options,
});

/** Whether what is at this topic can be reached; known as long as the bridge itself is there. */
export const connectivity = (availability: string, bridge: string): Component => ({
  platform: "binary_sensor",
  name: "Connection",
  device_class: "connectivity",
  entity_category: "diagnostic",
  state_topic: availability,
  payload_on: "online",
  payload_off: "offline",
  availability: [{ topic: bridge }],
});

/** How Home Assistant says something to a topic. */
const telling = (topic: string): Options => ({
  command_topic: topic,
  qos: 1,
  retain: false,
  message_expiry_interval: commandExpiry,
});

export const toggle = (field: string, topic: string, options: Options): Component => ({
  platform: "switch",
  value_template: fieldTemplate(field),
  payload_on: "ON",
  payload_off: "OFF",
  ...telling(topic),
  ...options,
});

export const number = (field: string, topic: string, options: Options): Component => ({
  platform: "number",
  value_template: fieldTemplate(field),
  mode: "box",
  ...telling(topic),
  ...options,
});

export const select = (field: string, topic: string, options: Options): Component => ({
  platform: "select",
  value_template: fieldTemplate(field),
  ...telling(topic),
  ...options,
});

export const button = (topic: string, payload: string, options: Options): Component => ({
  platform: "button",
  payload_press: payload,
  ...telling(topic),
  ...options,
});

/** What happens at a topic; never retained, and no state that could be too old. */
export const happening = (topic: string, types: readonly string[], options: Options): Component => ({
  platform: "event",
  state_topic: topic,
  event_types: types,
  ...options,
});

export interface ThermostatTopics {
  readonly state: string;
  readonly action: string;
}

/** °C that a target may be: what the action `set_target_temperature` takes. */
const targets = { min_temp: 5, max_temp: 35, temp_step: 0.5 } as const;

/** A room that rigs heat. It is switched off with the rigs themselves, so the only mode is `heat`. */
export const thermostat = ({ state, action }: ThermostatTopics, options: Options): Component => ({
  platform: "climate",
  modes: ["heat"],
  mode_state_topic: state,
  mode_state_template: fieldTemplate("heating_mode"),
  action_topic: state,
  action_template: fieldTemplate("heating_action"),
  current_temperature_topic: state,
  current_temperature_template: fieldTemplate("room_temperature"),
  temperature_state_topic: state,
  temperature_state_template: fieldTemplate("room_target"),
  temperature_command_topic: action,
  temperature_command_template: '{"action": "set_target_temperature", "temperature": {{ value }}}',
  temperature_unit: "C",
  precision: 0.1,
  ...targets,
  qos: 1,
  retain: false,
  message_expiry_interval: commandExpiry,
  ...options,
});
