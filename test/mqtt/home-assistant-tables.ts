/**
 * What Home Assistant's MQTT component (2026.8) and its sensor and number entities accept, according to their documentation:
 * https://www.home-assistant.io/integrations/mqtt, https://developers.home-assistant.io/docs/core/entity/sensor
 */

const availabilityKeys = [
  ...["availability", "availability_mode", "availability_template", "availability_topic"],
  ...["payload_available", "payload_not_available"],
];

/** What the root may hold for all components, which take it where they have none of their own. */
export const sharedKeys = [
  ...availabilityKeys,
  ...["state_topic", "command_topic", "qos", "encoding", "message_expiry_interval"],
];
export const rootKeys = ["device", "origin", "components", ...sharedKeys];
export const deviceKeys = [
  ...["identifiers", "connections", "manufacturer", "model", "model_id", "name", "hw_version", "sw_version"],
  ...["serial_number", "via_device", "suggested_area", "configuration_url"],
];
export const originKeys = ["name", "sw_version", "support_url"];
export const availabilityEntryKeys = ["topic", "payload_available", "payload_not_available", "value_template"];

const entityKeys = [
  ...["platform", "unique_id", "name", "device", "origin", "~", "entity_picture", "enabled_by_default"],
  ...["visible_by_default", "entity_category", "icon", "json_attributes_topic", "json_attributes_template"],
  ...["default_entity_id", "message_expiry_interval", "qos", "encoding", "group", ...availabilityKeys],
];
const reading = ["state_topic", "value_template"];
const told = ["command_topic", "command_template", "retain"];
const both = [...reading, ...told, "optimistic"];

interface Platform {
  readonly required: readonly string[];
  /** All that a component of it may hold; null where this was not looked up. */
  readonly keys: readonly string[] | null;
  /** Its device classes; null where they are those of sensors or were not looked up. */
  readonly classes: readonly string[] | null;
}

const entity = (required: string[], keys: string[], classes: string[] | null = []): Platform => ({
  required,
  keys: [...entityKeys, ...keys, ...(classes === null || classes.length > 0 ? ["device_class"] : [])],
  classes,
});
const unread = (...required: string[]): Platform => ({ required, keys: null, classes: null });

const binaryClasses = [
  ...["battery", "battery_charging", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas", "heat"],
  ...["light", "lock", "moisture", "motion", "moving", "occupancy", "opening", "plug", "power", "presence", "problem"],
  ...["running", "safety", "smoke", "sound", "tamper", "update", "vibration", "window"],
];

const climateKeys = ["current_humidity", "current_temperature"]
  .flatMap((of) => [`${of}_topic`, `${of}_template`])
  .concat(
    ["fan_mode", "mode", "preset_mode", "swing_mode", "swing_horizontal_mode", "target_humidity", "temperature"]
      .concat("temperature_high", "temperature_low")
      .flatMap((of) => [`${of}_command_topic`, `${of}_command_template`, `${of}_state_topic`, `${of}_state_template`]),
    ["action_topic", "action_template", "power_command_topic", "power_command_template", "preset_mode_value_template"],
    ["modes", "preset_modes", "fan_modes", "swing_modes", "swing_horizontal_modes", "initial", "optimistic", "retain"],
    ["min_temp", "max_temp", "temp_step", "precision", "temperature_unit", "min_humidity", "max_humidity"],
    ["payload_on", "payload_off", "value_template"],
  )
  .filter((key) => key !== "preset_mode_state_template");

const sensorKeys = ["expire_after", "force_update", "last_reset_value_template", "options", "state_class"];

export const platforms: Readonly<Record<string, Platform>> = {
  sensor: entity(
    ["state_topic"],
    [...reading, ...sensorKeys, "suggested_display_precision", "unit_of_measurement"],
    null,
  ),
  binary_sensor: entity(
    ["state_topic"],
    [...reading, "expire_after", "force_update", "off_delay", "payload_on", "payload_off"],
    binaryClasses,
  ),
  switch: entity(
    ["command_topic"],
    [...both, "payload_on", "payload_off", "state_on", "state_off"],
    ["outlet", "switch"],
  ),
  number: entity(
    ["command_topic"],
    [...both, "min", "max", "step", "mode", "payload_reset", "unit_of_measurement"],
    null,
  ),
  select: entity(["command_topic", "options"], [...both, "options"]),
  button: entity(["command_topic"], [...told, "payload_press"], ["identify", "restart", "update"]),
  event: entity(["state_topic", "event_types"], [...reading, "event_types"], ["button", "doorbell", "motion"]),
  climate: entity([], climateKeys),
  text: entity(["command_topic"], [...both, "min", "max", "mode", "pattern"]),
  update: entity(
    ["state_topic"],
    [
      ...[...reading, "command_topic", "payload_install", "retain", "display_precision", "latest_version_topic"],
      ...["latest_version_template", "release_summary", "release_url", "title"],
    ],
    ["firmware"],
  ),
  device_automation: unread("automation_type", "topic", "type", "subtype"),
  tag: unread("topic"),
  notify: unread("command_topic"),
  scene: unread("command_topic"),
  fan: unread("command_topic"),
  alarm_control_panel: unread(),
  camera: unread(),
  cover: unread(),
  date: unread(),
  datetime: unread(),
  device_tracker: unread(),
  humidifier: unread(),
  image: unread(),
  infrared: unread(),
  lawn_mower: unread(),
  light: unread(),
  lock: unread(),
  siren: unread(),
  time: unread(),
  vacuum: unread(),
  valve: unread(),
  water_heater: unread(),
};

/** They belong to a device but are not entities. */
export const nonEntities = ["device_automation", "tag"];

const measurement = ["measurement"];
const totals = ["total", "total_increasing"];
const anyState = [...measurement, ...totals];
const energy = ["J", "kJ", "MJ", "GJ", "mWh", "Wh", "kWh", "MWh", "GWh", "TWh", "cal", "kcal", "Mcal", "Gcal"];
const volume = ["L", "mL", "m³", "ft³", "CCF", "MCF", "gal", "fl. oz."];
const speed = ["m/s", "km/h", "mm/s", "mph", "ft/s", "in/s", "kn", "Beaufort"];
const density = ["μg/m³"];
const pressure = ["Pa", "hPa", "kPa", "mPa", "bar", "cbar", "mbar", "mmHg", "inHg", "inH₂O", "psi"];
const bits = ["bit", "kbit", "Mbit", "Gbit", "B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"]
  .concat("KiB", "MiB", "GiB", "TiB")
  .concat("PiB", "EiB", "ZiB", "YiB");

interface SensorClass {
  /** null stands for no unit; a currency is asked for in words. */
  readonly units: readonly (string | null)[] | "currency";
  readonly stateClasses: readonly string[];
}

const of = (units: SensorClass["units"], stateClasses: readonly string[] = measurement): SensorClass => ({
  units,
  stateClasses,
});

/** Device classes of sensors, and of numbers without the first three. */
export const sensorClasses: Readonly<Record<string, SensorClass>> = {
  date: of([null], []),
  enum: of([null], []),
  timestamp: of([null], []),
  apparent_power: of(["mVA", "VA", "kVA"]),
  aqi: of([null]),
  area: of(["m²", "cm²", "km²", "mm²", "in²", "ft²", "yd²", "mi²", "ac", "ha"], anyState),
  atmospheric_pressure: of(pressure),
  battery: of(["%"]),
  blood_glucose_concentration: of(["mg/dL", "mmol/L"]),
  carbon_dioxide: of(["ppm"]),
  carbon_monoxide: of(["ppm", "ppb", "mg/m³", ...density]),
  conductivity: of(["S/cm", "mS/cm", "μS/cm"]),
  current: of(["A", "mA"]),
  data_rate: of(bits.map((unit) => `${unit}/s`)),
  data_size: of(bits, anyState),
  distance: of(["km", "m", "cm", "mm", "mi", "nmi", "yd", "ft", "in"], anyState),
  duration: of(["d", "h", "min", "s", "ms", "μs"], anyState),
  energy: of(energy, totals),
  energy_distance: of(["kWh/100km", "Wh/km", "mi/kWh", "km/kWh"]),
  energy_storage: of(energy),
  frequency: of(["Hz", "kHz", "MHz", "GHz"]),
  gas: of(["m³", "ft³", "CCF", "MCF", "L"], totals),
  humidity: of(["%"]),
  illuminance: of(["lx"]),
  irradiance: of(["W/m²", "BTU/(h⋅ft²)"]),
  moisture: of(["%"]),
  monetary: of("currency", ["total"]),
  nitrogen_dioxide: of(["ppb", "ppm", ...density]),
  nitrogen_monoxide: of(["ppb", ...density]),
  nitrous_oxide: of(density),
  ozone: of(["ppb", "ppm", ...density]),
  ph: of([null]),
  pm1: of(density),
  pm10: of(density),
  pm25: of(density),
  pm4: of(density),
  power: of(["mW", "W", "kW", "MW", "GW", "TW", "BTU/h"]),
  power_factor: of(["%", null]),
  precipitation: of(["cm", "mm", "in"], anyState),
  precipitation_intensity: of(["mm/d", "mm/h", "in/d", "in/h"]),
  pressure: of(pressure),
  reactive_energy: of(["varh", "kvarh"], totals),
  reactive_power: of(["mvar", "var", "kvar"]),
  signal_strength: of(["dB", "dBm"]),
  sound_pressure: of(["dB", "dBA"]),
  speed: of([...speed, "mm/d", "mm/h", "in/d", "in/h"]),
  sulphur_dioxide: of(["ppb", ...density]),
  temperature: of(["°C", "°F", "K"]),
  temperature_delta: of(["°C", "°F", "K"]),
  volatile_organic_compounds: of(["mg/m³", ...density]),
  volatile_organic_compounds_parts: of(["ppm", "ppb"]),
  voltage: of(["V", "mV", "μV", "kV", "MV"]),
  volume: of(volume, totals),
  volume_flow_rate: of([
    "m³/h",
    "m³/min",
    "m³/s",
    "ft³/min",
    "L/h",
    "L/min",
    "L/s",
    "mL/s",
    "gal/min",
    "gal/h",
    "gal/d",
  ]),
  volume_storage: of(volume),
  water: of(["L", "m³", "ft³", "CCF", "MCF", "gal"], totals),
  weight: of(["kg", "g", "mg", "μg", "oz", "lb", "st"], anyState),
  wind_direction: of(["°"], ["measurement_angle"]),
  wind_speed: of(speed),
};

export const textClasses = ["date", "enum", "timestamp"];

/** Short forms: those that this component knows of the keys above and that are in common use. */
export const shortKeys: Readonly<Record<string, string>> = {
  dev: "device",
  o: "origin",
  cmps: "components",
  p: "platform",
  avty: "availability",
  avty_mode: "availability_mode",
  avty_t: "availability_topic",
  avty_tpl: "availability_template",
  pl_avail: "payload_available",
  pl_not_avail: "payload_not_available",
  t: "topic",
  stat_t: "state_topic",
  cmd_t: "command_topic",
  cmd_tpl: "command_template",
  val_tpl: "value_template",
  uniq_id: "unique_id",
  def_ent_id: "default_entity_id",
  dev_cla: "device_class",
  stat_cla: "state_class",
  unit_of_meas: "unit_of_measurement",
  ent_cat: "entity_category",
  ent_pic: "entity_picture",
  en: "enabled_by_default",
  exp_aft: "expire_after",
  ic: "icon",
  json_attr_t: "json_attributes_topic",
  json_attr_tpl: "json_attributes_template",
  pl_on: "payload_on",
  pl_off: "payload_off",
  pl_prs: "payload_press",
  stat_on: "state_on",
  stat_off: "state_off",
  ops: "options",
  evt_typ: "event_types",
  sug_dsp_prc: "suggested_display_precision",
  opt: "optimistic",
  ret: "retain",
  e: "encoding",
};
export const shortDeviceKeys: Readonly<Record<string, string>> = {
  ids: "identifiers",
  cns: "connections",
  mf: "manufacturer",
  mdl: "model",
  mdl_id: "model_id",
  hw: "hw_version",
  sw: "sw_version",
  sn: "serial_number",
  sa: "suggested_area",
  cu: "configuration_url",
};
export const shortOriginKeys: Readonly<Record<string, string>> = { sw: "sw_version", url: "support_url" };
