import type { ThingTopics } from "../topics.ts";

/**
 * The messages of Home Assistant's discovery for devices, as its MQTT component reads them
 * (https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload). An unknown key at the root, in `device`,
 * `origin` or `availability` makes it drop the whole message, so these are all keys.
 */
export interface DeviceConfig {
  readonly device: DeviceInfo;
  readonly origin: Origin;
  readonly availability: readonly Availability[];
  readonly availability_mode: "all";
  /** For every component without its own. */
  readonly state_topic: string;
  /** By a stable id: a new id would be a new entity. */
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

/** An entity; `platform` alone removes it. */
export interface Component {
  readonly platform: Platform;
  readonly [option: string]: Option;
}

export type Components = Readonly<Record<string, Component>>;

export const originName = "Rigbridge";

/** A reading that was not published again becomes unknown after this: three heartbeats. */
const expirySeconds = 180;

/** The broker drops a command that it cannot deliver within this time. */
const commandExpirySeconds = 60;

type Options = Readonly<Record<string, Option>>;

export const diagnostic = { entity_category: "diagnostic" } as const;
export const measurement = { state_class: "measurement" } as const;
export const temperature = { device_class: "temperature", unit_of_measurement: "°C", ...measurement } as const;
export const power = { device_class: "power", unit_of_measurement: "W" } as const;
export const energy = { device_class: "energy", unit_of_measurement: "kWh", suggested_display_precision: 2 } as const;
/** The main entity has the name of its device. */
export const mainSwitch = { name: null, device_class: "switch", icon: "mdi:pickaxe" } as const;
export const hashrateIn = (unit: string) =>
  ({ unit_of_measurement: unit, suggested_display_precision: 2, icon: "mdi:pickaxe", ...measurement }) as const;

const fieldTemplate = (field: string): string => `{{ value_json.${field} }}`;

export const sensor = (field: string, options: Options): Component => ({
  platform: "sensor",
  value_template: fieldTemplate(field),
  expire_after: expirySeconds,
  ...options,
});

export const binarySensor = (field: string, options: Options): Component => ({
  platform: "binary_sensor",
  value_template: fieldTemplate(field),
  payload_on: "ON",
  payload_off: "OFF",
  expire_after: expirySeconds,
  ...options,
});

/** Whether the device of this availability topic is reachable; available as long as the bridge is. */
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

/** How Home Assistant publishes commands to a topic. */
const commandTo = (topic: string): Options => ({
  command_topic: topic,
  qos: 1,
  retain: false,
  message_expiry_interval: commandExpirySeconds,
});

export const toggle = (field: string, topic: string, options: Options): Component => ({
  platform: "switch",
  value_template: fieldTemplate(field),
  payload_on: "ON",
  payload_off: "OFF",
  ...commandTo(topic),
  ...options,
});

export const number = (field: string, topic: string, options: Options): Component => ({
  platform: "number",
  value_template: fieldTemplate(field),
  mode: "box",
  ...commandTo(topic),
  ...options,
});

export const select = (field: string, topic: string, options: Options): Component => ({
  platform: "select",
  value_template: fieldTemplate(field),
  ...commandTo(topic),
  ...options,
});

export const button = (topic: string, payload: string, options: Options): Component => ({
  platform: "button",
  payload_press: payload,
  ...commandTo(topic),
  ...options,
});

/** The events at a topic: not retained, so there is no state to expire. */
export const eventEntity = (topic: string, types: readonly string[], options: Options): Component => ({
  platform: "event",
  state_topic: topic,
  event_types: types,
  ...options,
});

/** °C: the range of the action `set_target_temperature`. */
const targets = { min_temp: 5, max_temp: 35, temp_step: 0.5 } as const;

/** A room heated by rigs. `off` stops this rig; `heat` gives it back to the room. */
export const thermostat = ({ state, action, setProperty }: ThingTopics, options: Options): Component => ({
  platform: "climate",
  modes: ["off", "heat"],
  mode_state_topic: state,
  mode_state_template: fieldTemplate("heating_mode"),
  mode_command_topic: setProperty("heating_mode"),
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
  message_expiry_interval: commandExpirySeconds,
  ...options,
});

/** `event_type` at the topic `notification`: info, anything above, and the end of either. */
export const notificationTypes = ["notification", "warning", "closed"] as const;

/** `event_type` at `miner/<uid>/event`. Home Assistant logs a warning for each unannounced type. */
export const minerEventTypes = [...notificationTypes, "status", "best_share", "block_found"] as const;
