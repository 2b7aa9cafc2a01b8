import { describe, expect, test } from "@jest/globals";
import { checkDevice, checkDevices, checkState } from "./home-assistant-checker.ts";

const topic = "homeassistant/device/rig-1/config";

type Json = Record<string, unknown>;

/** A device with something of every platform that the rules speak of. */
const root: Json = {
  device: {
    identifiers: ["farm_020000000001"],
    connections: [["mac", "02:00:00:00:00:01"]],
    manufacturer: "Bitmain",
    model: "Antminer S19",
    model_id: "S19",
    name: "Rig 1",
    hw_version: "1",
    sw_version: "2026.1",
    serial_number: "A1",
    via_device: "farm_bridge",
    suggested_area: "Garage",
    configuration_url: "http://192.168.1.20/",
  },
  origin: { name: "Rigs", sw_version: "1.0.0", support_url: "https://example.org/" },
  state_topic: "rigs/miner/1/state",
  availability: [
    { topic: "rigs/bridge/state" },
    { topic: "rigs/miner/1/availability", payload_available: "online", payload_not_available: "offline" },
  ],
  availability_mode: "all",
  qos: 1,
};

const component = (id: string, platform: string, rest: Json): Json => ({
  platform,
  unique_id: `1_${id}`,
  value_template: `{{ value_json.${id} }}`,
  ...rest,
});
const without = (component: Json, ...keys: string[]): Json =>
  Object.fromEntries(Object.entries(component).filter(([key]) => !keys.includes(key)));

const rate = component("rate", "sensor", {
  name: "Hash rate",
  unit_of_measurement: "TH/s",
  state_class: "measurement",
  suggested_display_precision: 1,
  expire_after: 180,
  icon: "mdi:pickaxe",
});
const power = component("power", "sensor", {
  name: "Power",
  device_class: "power",
  unit_of_measurement: "W",
  state_class: "measurement",
});
const energy = component("energy", "sensor", {
  name: "Energy",
  device_class: "energy",
  unit_of_measurement: "kWh",
  state_class: "total_increasing",
});
const status = component("status", "sensor", { name: "Status", device_class: "enum", options: ["mining", "stopped"] });
const started = component("started", "sensor", {
  name: "Started",
  device_class: "timestamp",
  entity_category: "diagnostic",
  enabled_by_default: false,
});
const profit = component("profit", "sensor", { name: "Profit per day", unit_of_measurement: "EUR/d" });
const problem = component("problem", "binary_sensor", {
  name: "Problem",
  device_class: "problem",
  payload_on: "yes",
  payload_off: "no",
});
const mining = component("mining", "switch", {
  name: null,
  command_topic: "rigs/miner/1/mining/set",
  device_class: "switch",
});
const limit = component("limit", "number", {
  name: "Power limit",
  command_topic: "rigs/miner/1/limit/set",
  device_class: "power",
  unit_of_measurement: "W",
  min: 800,
  max: 3600,
  step: 10,
  mode: "box",
  entity_category: "config",
});
const mode = component("mode", "select", {
  name: "Mode",
  command_topic: "rigs/miner/1/mode/set",
  options: ["eco", "normal"],
});
const reboot: Json = {
  platform: "button",
  unique_id: "1_reboot",
  name: "Reboot",
  command_topic: "rigs/miner/1/action",
  payload_press: "reboot",
  device_class: "restart",
};
const found: Json = {
  platform: "event",
  unique_id: "1_found",
  name: "Block",
  state_topic: "rigs/miner/1/event",
  event_types: ["block_found"],
};
const room: Json = {
  "~": "rigs/miner/1",
  platform: "climate",
  unique_id: "1_room",
  name: "Room",
  modes: ["off", "heat"],
  mode_state_topic: "~/state",
  mode_state_template: "{{ value_json.room_mode }}",
  mode_command_topic: "~/room_mode/set",
  current_temperature_topic: "~/state",
  current_temperature_template: "{{ value_json.room_temperature }}",
  temperature_state_topic: "~/state",
  temperature_state_template: "{{ value_json.room_target }}",
  temperature_command_topic: "~/action",
  temperature_command_template: '{"action": "set_target_temperature", "temperature": {{ value }}}',
  action_topic: "~/state",
  action_template: "{{ value_json.room_action }}",
  min_temp: 5,
  max_temp: 35,
  temp_step: 0.5,
  precision: 0.1,
  temperature_unit: "C",
};
const label = component("label", "text", { command_topic: "rigs/miner/1/label/set", min: 1, max: 64, mode: "text" });
const firmware = component("firmware", "update", {
  command_topic: "rigs/miner/1/firmware/set",
  payload_install: "install",
  device_class: "firmware",
});
const pressed: Json = {
  platform: "device_automation",
  automation_type: "trigger",
  topic: "rigs/miner/1/event",
  type: "button_short_press",
  subtype: "button_1",
};
const gone: Json = { platform: "sensor" };

const components: Json = {
  rate,
  power,
  energy,
  status,
  started,
  profit,
  problem,
  mining,
  limit,
  mode,
  reboot,
  found,
  room,
  label,
  firmware,
  pressed,
  gone,
};

const payload = (change: Json = {}): string => JSON.stringify({ ...root, components, ...change });

/** What is said of this component alone. */
const said = (component: unknown): string[] => checkDevice(topic, payload({ components: { it: component } }));

describe("a discovery message is accepted", () => {
  test("with a component of every platform that the rules speak of", () => {
    expect(checkDevice(topic, payload())).toEqual([]);
  });

  test("in short forms", () => {
    const short = {
      dev: { ids: "farm", mf: "Bitmain", mdl: "S19", sw: "1", cns: [["mac", "02:00:00:00:00:01"]], cu: "http://rig/" },
      o: { name: "Rigs", sw: "1", url: "https://example.org/" },
      avty: { t: "rigs/bridge/state", pl_avail: "on", pl_not_avail: "off" },
      stat_t: "rigs/miner/1/state",
      cmps: {
        power: {
          p: "sensor",
          uniq_id: "1_power",
          dev_cla: "power",
          unit_of_meas: "W",
          val_tpl: "{{ value_json.power }}",
        },
      },
    };
    expect(checkDevice("rigs/ha/device/node/rig_1/config", JSON.stringify(short))).toEqual([]);
  });

  test("when it is empty, and so removes the device", () => {
    expect(checkDevice(topic, "")).toEqual([]);
  });
});

describe("a discovery message is refused", () => {
  test.each([
    "homeassistant/sensor/rig-1/config",
    "homeassistant/device/rig.1/config",
    "homeassistant/device/a/b/c/config",
    "homeassistant/device/rig-1/state",
    "home+/device/rig-1/config",
  ])("on the topic %s", (elsewhere) => {
    expect(checkDevice(elsewhere, payload())).toEqual([
      `topic: "${elsewhere}" is not <prefix>/device/<object id>/config, with ids of A-Z, a-z, 0-9, _ and -`,
    ]);
  });

  test.each(["{", "[]", "null", '"rig"', "\u0000"])("when it is %j and no JSON object", (text) => {
    expect(checkDevice(topic, text)).toEqual(["payload: is not a JSON object"]);
  });

  test.each<[string, Json, string]>([
    ["an unknown key", { name: "Rig" }, 'root: does not know "name"'],
    ["a base for topics, which is for components", { "~": "rigs" }, 'root: does not know "~"'],
    ["attributes for all", { json_attributes_topic: "a" }, 'root: does not know "json_attributes_topic"'],
    ["no device", { device: undefined }, "root: needs the object device"],
    ["no origin", { origin: undefined }, "root: needs the object origin"],
    ["a list of components", { components: [rate] }, "root: needs the object components"],
    ["no component at all", { components: {} }, "root: has no components, so the device never appears"],
    ["a state topic that is none", { state_topic: "" }, "root: state_topic is not a topic"],
    ["an unknown quality of service", { qos: 3 }, "root: qos is not 0, 1 or 2"],
    ["an encoding that is not a text", { encoding: null }, "root: encoding is not a string"],
    [
      "an expiry that is not a number",
      { message_expiry_interval: -1 },
      "root: message_expiry_interval is not a whole number",
    ],
    ["an unknown mode", { availability_mode: "each" }, 'root: availability_mode "each" is not one of all, any, latest'],
    [
      "availability said twice",
      { availability_topic: "a" },
      "root: availability and availability_topic exclude each other",
    ],
    ["availability that is not an object", { availability: ["a"] }, "root: availability[0]: is not an object"],
    ["availability without a topic", { availability: [{}] }, "root: availability[0]: needs a topic"],
    [
      "an unknown key of an availability",
      { availability: { topic: "a", mode: "all" } },
      'root: availability[0]: does not know "mode"',
    ],
    [
      "an availability payload that is not a text",
      { availability: { topic: "a", payload_available: true } },
      "root: availability[0]: payload_available is not a string",
    ],
  ])("with %s", (_, change, message) => {
    expect(checkDevice(topic, payload(change))).toEqual([message]);
  });

  const identifiers = ["farm"];
  test.each<[string, Json, string]>([
    ["an unknown key", { identifiers, area: "Garage" }, 'device: does not know "area"'],
    ["nothing to tell it by", { name: "Rig" }, "device: needs identifiers or connections"],
    ["empty lists to tell it by", { identifiers: [], connections: [] }, "device: needs identifiers or connections"],
    ["an identifier that is a number", { identifiers: [1] }, "device: identifiers are not strings"],
    [
      "a connection that is not a pair",
      { connections: ["02:00:00:00:00:01"] },
      'device: connections are not pairs of strings like ["mac", "02:00:00:00:00:01"]',
    ],
    ["a version that is a number", { identifiers, sw_version: 1 }, "device: sw_version is not a string"],
    ["a model that is null", { identifiers, model: null }, "device: model is not a string"],
    [
      "an address that is not a URL",
      { identifiers, configuration_url: "192.168.1.20" },
      'device: configuration_url "192.168.1.20" is not an http, https or homeassistant URL',
    ],
    [
      "an address of another kind",
      { identifiers, configuration_url: "ftp://rig/" },
      'device: configuration_url "ftp://rig/" is not an http, https or homeassistant URL',
    ],
  ])("of a device with %s", (_, device, message) => {
    expect(checkDevice(topic, payload({ device }))).toEqual([message]);
  });

  test.each<[string, Json, string]>([
    ["an unknown key", { name: "Rigs", version: "1" }, 'origin: does not know "version"'],
    ["no name", {}, "origin: needs a name"],
    ["a version that is a number", { name: "Rigs", sw_version: 1 }, "origin: sw_version is not a string"],
    ["an address that is none", { name: "Rigs", support_url: "rigs" }, 'origin: support_url "rigs" is not an http URL'],
  ])("of an origin with %s", (_, origin, message) => {
    expect(checkDevice(topic, payload({ origin }))).toEqual([message]);
  });
});

describe("a component is refused", () => {
  test.each<[string, unknown, string]>([
    ["that is not an object", null, "it: is not an object"],
    ["of no platform", without(rate, "platform"), 'it: platform "undefined" is none of MQTT\'s'],
    ["of an unknown platform", { ...rate, platform: "miner" }, 'it: platform "miner" is none of MQTT\'s'],
    ["without a unique_id", without(rate, "unique_id"), "it: needs a unique_id, a string"],
    ["with an empty unique_id", { ...rate, unique_id: "" }, "it: needs a unique_id, a string"],
    ["with a key that its platform does not know", { ...mining, expire_after: 9 }, 'it: does not know "expire_after"'],
    ["with what Home Assistant took away", { ...rate, object_id: "rate" }, 'it: does not know "object_id"'],
    [
      "that chooses the entity's id",
      { ...rate, default_entity_id: "switch.Rate" },
      'it: default_entity_id "switch.Rate" is not like sensor.desk_lamp',
    ],
    [
      "of an unknown category",
      { ...rate, entity_category: "usual" },
      'it: entity_category "usual" is neither config nor diagnostic',
    ],
    ["a sensor for setting", { ...rate, entity_category: "config" }, "it: entity_category config is refused by sensor"],
    [
      "a binary sensor for setting",
      { ...problem, entity_category: "config" },
      "it: entity_category config is refused by binary_sensor",
    ],
    ["with an icon of no set", { ...rate, icon: "fan" }, 'it: icon "fan" is not like mdi:fan'],
    ["with a name that is none", { ...rate, name: 1 }, "it: name is neither text nor null"],
    [
      "with a flag that is text",
      { ...rate, enabled_by_default: "no" },
      "it: enabled_by_default is neither true nor false",
    ],
    ["with a fraction of seconds", { ...rate, expire_after: 0.5 }, "it: expire_after is not a whole number"],
    ["with a payload that is not a text", { ...problem, payload_on: true }, "it: payload_on is not a string"],
    [
      "whose commands would stay at the broker",
      { ...mining, retain: true },
      "it: retain is not false: commands would stay at the broker",
    ],
    [
      "with availability beside the root's",
      { ...rate, availability_topic: "a" },
      "it: availability and availability_topic exclude each other",
    ],
    [
      "with an unknown key in its availability",
      { ...rate, availability: [{ topic: "a", qos: 1 }] },
      'it: availability[0]: does not know "qos"',
    ],
  ])("%s", (_, component, message) => {
    expect(said(component)).toEqual([message]);
  });

  test("whose unique_id another of its platform has", () => {
    expect(checkDevice(topic, payload({ components: { rate, again: rate } }))).toEqual([
      'again: unique_id "1_rate" is that of a component before it',
    ]);
  });

  test.each<[string, unknown, string]>([
    ["empty", "", "is not a topic"],
    ["no text", 1, "is not a topic"],
    ["longer than MQTT has them", "a".repeat(65_536), "is longer than 65535 bytes"],
    ["with a control character", "a\u0000b", "has control characters"],
    ["with a wildcard", "rigs/+/set", '"rigs/+/set" has a wildcard where none may be'],
  ])("that is told on a topic %s", (_, command, message) => {
    expect(said({ ...mining, command_topic: command })).toEqual([`it: command_topic ${message}`]);
  });

  test.each(["rigs/a+/state", "rigs/#/state"])("that listens to %s", (state) => {
    expect(said({ ...rate, state_topic: state })).toEqual([
      `it: state_topic "${state}" has a wildcard where none may be`,
    ]);
  });

  test.each([
    "{{ value_json.power | float }}",
    "{{ value_json['power'] }}",
    "{{ value_json.power",
    "{% if value_json.power %}1{% endif %}",
    "power",
  ])("whose value is by the template %s, which is not a plain path", (template) => {
    expect(said({ ...rate, value_template: template })).toEqual([
      `it: value_template "${template}" is not a plain {{ value_json.path }}`,
    ]);
  });

  test("whose template is not a text", () => {
    expect(said({ ...rate, value_template: null })).toEqual(["it: value_template is not a string"]);
  });

  test("that is told by a template which calculates", () => {
    expect(said({ ...limit, command_template: "{{ value * 2 }}" })).toEqual([
      'it: command_template "{{ value * 2 }}" is not a plain {{ value }}',
    ]);
  });
});

describe("a sensor is refused", () => {
  test.each<[string, Json, string]>([
    [
      "of an unknown device class",
      { ...rate, device_class: "hashrate" },
      'device_class "hashrate" is unknown to sensor',
    ],
    ["of an unknown state class", { ...rate, state_class: "now" }, 'state_class "now" is none'],
    ["with a unit that is not a text", { ...rate, unit_of_measurement: 1 }, "unit_of_measurement is not a string"],
    ["of power in kWh", { ...power, unit_of_measurement: "kWh" }, 'unit "kWh" does not go with device_class power'],
    ["of power in no unit", without(power, "unit_of_measurement"), "unit (none) does not go with device_class power"],
    [
      "of times with a unit",
      { ...started, unit_of_measurement: "s" },
      'unit "s" does not go with device_class timestamp',
    ],
    [
      "of money in words",
      { ...profit, device_class: "monetary" },
      'unit "EUR/d" does not go with device_class monetary',
    ],
    [
      "of energy that is measured",
      { ...energy, state_class: "measurement" },
      'state_class "measurement" is impossible with device_class energy',
    ],
    [
      "of money that is measured",
      { ...profit, device_class: "monetary", unit_of_measurement: "EUR", state_class: "measurement" },
      'state_class "measurement" is impossible with device_class monetary',
    ],
    [
      "of an angle that is none",
      { ...rate, state_class: "measurement_angle" },
      "state_class measurement_angle is for the unit °",
    ],
    [
      "with a reset of what is not a total",
      { ...energy, last_reset_value_template: "{{ value_json.reset }}" },
      "last_reset_value_template is for state_class total",
    ],
    [
      "with options without device_class enum",
      { ...status, device_class: undefined },
      "options are for device_class enum",
    ],
    ["of an enum without options", without(status, "options"), "device_class enum needs options"],
    ["of no options", { ...status, options: [] }, "options are not a list of different texts"],
    [
      "of the same option twice",
      { ...status, options: ["mining", "mining"] },
      "options are not a list of different texts",
    ],
  ])("%s", (_, sensor, message) => {
    expect(said(sensor)).toEqual([`it: ${message}`]);
  });

  test("without a topic, where the root has none either", () => {
    expect(checkDevice(topic, payload({ state_topic: undefined, components: { rate } }))).toEqual([
      "rate: needs state_topic",
    ]);
  });

  test.each<[string, Json]>([
    ["a unit", { unit_of_measurement: "W" }],
    ["a state class", { state_class: "measurement" }],
  ])("with options and %s", (_, more) => {
    expect(said({ ...status, ...more })).toContain("it: options go with neither a unit nor a state_class");
  });
});

describe("another platform is refused:", () => {
  test.each<[string, Json, string]>([
    [
      "a binary sensor of a sensor's class",
      { ...problem, device_class: "energy" },
      'device_class "energy" is unknown to binary_sensor',
    ],
    ["a switch that nothing tells", without(mining, "command_topic"), "needs command_topic"],
    ["a switch of a class", { ...mining, device_class: "miner" }, 'device_class "miner" is unknown to switch'],
    [
      "a switch that believes itself",
      { ...mining, optimistic: true },
      "is optimistic, so it shows what nobody reported",
    ],
    ["a number that nothing tells", without(limit, "command_topic"), "needs command_topic"],
    ["a number of a class for texts", { ...limit, device_class: "enum" }, 'device_class "enum" is unknown to number'],
    [
      "a number in the wrong unit",
      { ...limit, unit_of_measurement: "°C" },
      'unit "°C" does not go with device_class power',
    ],
    ["a number with no room", { ...limit, min: 3600 }, "min 3600 is not below max 3600"],
    ["a number below 100 that begins above", without(limit, "max"), "min 800 is not below max 100"],
    ["a number without steps", { ...limit, step: 0 }, "step 0 is not at least 0.001"],
    ["a number shown as nobody knows", { ...limit, mode: "dial" }, 'mode "dial" is not one of auto, box, slider'],
    ["a select without options", without(mode, "options"), "needs options"],
    ["a select with a number", { ...mode, options: [1] }, "options are not a list of different texts"],
    ["a button that tells nothing", without(reboot, "command_topic"), "needs command_topic"],
    ["a button of a class", { ...reboot, device_class: "reboot" }, 'device_class "reboot" is unknown to button'],
    ["a button with a state", { ...reboot, state_topic: "a" }, 'does not know "state_topic"'],
    ["an event without types", without(found, "event_types"), "needs event_types"],
    ["an event of no type", { ...found, event_types: [] }, "event_types are not a list of different texts"],
    [
      "an event on the state topic",
      without(found, "state_topic"),
      "events come on the state topic, whose messages are kept",
    ],
    ["an event of a class", { ...found, device_class: "block" }, 'device_class "block" is unknown to event'],
    [
      "a climate of an unknown mode",
      { ...room, modes: ["off", "warm"] },
      "modes are not a list of auto, cool, dry, fan_only, heat, heat_cool, off",
    ],
    [
      "a climate with presets alone",
      { ...room, preset_modes: ["eco"] },
      "preset_modes and preset_mode_command_topic come together",
    ],
    [
      "a climate with a preset topic alone",
      { ...room, preset_mode_command_topic: "~/preset/set" },
      "preset_modes and preset_mode_command_topic come together",
    ],
    [
      "a climate with a preset called none",
      { ...room, preset_modes: ["none"], preset_mode_command_topic: "a" },
      'preset_modes hold "none"',
    ],
    [
      "a climate with one preset twice",
      { ...room, preset_modes: ["eco", "eco"], preset_mode_command_topic: "a" },
      "preset_modes are not a list of different texts",
    ],
    ["a climate with no room", { ...room, min_temp: 40 }, "min_temp 40 is not below max_temp 35"],
    ["a climate without steps", { ...room, temp_step: 0 }, "temp_step 0 is not a number above 0"],
    ["a climate of a precision", { ...room, precision: 0.2 }, "precision 0.2 is not 0.1, 0.5 or 1"],
    ["a climate in kelvin", { ...room, temperature_unit: "K" }, 'temperature_unit "K" is neither C nor F'],
    [
      "a climate too wet",
      { ...room, max_humidity: 101 },
      "min_humidity 30 is not below max_humidity 101, of 100 at most",
    ],
    [
      "a climate whose humidity nothing tells",
      { ...room, target_humidity_state_topic: "a" },
      "target_humidity_state_topic needs target_humidity_command_topic",
    ],
    ["a climate with a state topic", { ...room, state_topic: "a" }, 'does not know "state_topic"'],
    ["a text without room", { ...label, min: 65 }, "no text is 65 to 64 long"],
    ["a text longer than a state", { ...label, max: 256 }, "no text is 1 to 256 long"],
    ["a text shown as nobody knows", { ...label, mode: "area" }, 'mode "area" is not one of password, text'],
    ["a text of a pattern that is none", { ...label, pattern: 1 }, "pattern is not a text"],
    [
      "an update that cannot be told",
      without(firmware, "command_topic"),
      "payload_install and command_topic come together",
    ],
    [
      "an automation of another type",
      { ...pressed, automation_type: "action" },
      'automation_type "action" is not trigger',
    ],
    ["an automation without a topic", without(pressed, "topic"), "needs topic"],
    ["an automation without a subtype", without(pressed, "subtype"), "needs subtype"],
  ])("%s", (_, component, message) => {
    expect(said(component)).toContain(`it: ${message}`);
  });

  test.each<[string, Json]>([
    ["switch", mining],
    ["number", limit],
    ["select", mode],
  ])("a %s that nobody reports", (_, component) => {
    expect(checkDevice(topic, payload({ state_topic: undefined, components: { it: component } }))).toEqual([
      "it: has no state_topic, so it shows what nobody reported",
    ]);
  });
});

describe("several devices are refused", () => {
  const farm = payload({
    device: { identifiers: ["farm_bridge"] },
    components: { farm: { ...power, unique_id: "farm" } },
  });

  test("when one comes before that which it hangs on, and not after it", () => {
    const rig = payload({ components: { power } });
    const other = "homeassistant/device/farm/config";
    const [parent, child] = [[other, farm] as const, [topic, rig] as const];
    expect(checkDevices(new Map([parent, child]))).toEqual([]);
    expect(checkDevices(new Map([child, parent]))).toEqual([
      `${topic}: device: via_device "farm_bridge" has not been announced before`,
    ]);
  });

  test("when two of them share a unique_id", () => {
    const again = "homeassistant/device/again/config";
    expect(
      checkDevices(
        new Map([
          [topic, farm],
          [again, farm],
        ]),
      ),
    ).toEqual([`${again}: farm: unique_id "farm" is that of a component of ${topic}`]);
  });
});

describe("a state", () => {
  const state: Json = {
    rate: 95.2,
    power: 3250,
    energy: 12.5,
    status: "mining",
    started: "2026-11-20T08:00:00.000Z",
    profit: -0.4,
    problem: "no",
    mining: "ON",
    limit: 3000,
    mode: "eco",
    room_mode: "heat",
    room_temperature: 20.5,
    room_target: 21,
    room_action: "heating",
    label: "left",
    firmware: "1.2",
  };
  const refused = (change: Json): string[] => checkState(payload(), JSON.stringify({ ...state, ...change }));

  test("is accepted when all that the device shows is in it", () => {
    expect(refused({})).toEqual([]);
  });

  test("is accepted when nothing is known", () => {
    expect(refused(Object.fromEntries(Object.keys(state).map((key) => [key, null])))).toEqual([]);
  });

  test.each<[string, Json, string]>([
    ["a path that is not in it", { rate: undefined }, "rate: {{ value_json.rate }} is not in the state"],
    ["a number as text", { rate: "95.2" }, 'rate: "95.2" is not a number'],
    ["a power that is a flag", { power: true }, "power: true is not a number"],
    ["a status that is not an option", { status: "Mining" }, 'status: "Mining" is not one of mining, stopped'],
    [
      "a time without a zone",
      { started: "2026-11-20T08:00:00" },
      'started: "2026-11-20T08:00:00" is not a time with a zone',
    ],
    ["a time as a number", { started: 1 }, "started: 1 is not a time with a zone"],
    ["a binary sensor's other words", { problem: "OFF" }, 'problem: "OFF" is not one of yes, no'],
    ["a switch that is a flag", { mining: true }, "mining: true is not one of ON, OFF"],
    ["a number out of its range", { limit: 700 }, "limit: 700 is not 800 to 3600"],
    ["a number that is text", { limit: "auto" }, 'limit: "auto" is not a number'],
    ["a choice that is none", { mode: "turbo" }, 'mode: "turbo" is not one of eco, normal'],
    ["a mode that the climate has not", { room_mode: "auto" }, 'room: "auto" is not one of off, heat'],
    ["a temperature as text", { room_temperature: "20" }, 'room: "20" is not a number'],
    ["a target as text", { room_target: "20" }, 'room: "20" is not a number'],
    [
      "an action that is none",
      { room_action: "warming" },
      'room: "warming" is not one of cooling, defrosting, drying, fan, heating, idle, off, preheating',
    ],
    ["a text that is a flag", { label: false }, "label: false is not a text"],
    [
      "a text beyond what is kept",
      { label: "a".repeat(256) },
      `label: "${"a".repeat(256)}" is longer than 255 characters`,
    ],
  ])("is refused with %s", (_, change, message) => {
    expect(refused(change)).toEqual([message]);
  });

  test.each(["", "[]", "nothing"])("is refused when it is %j", (text) => {
    expect(checkState(payload(), text)).toEqual(["state: is not a JSON object"]);
  });

  test("of a device that is none is refused", () => {
    expect(checkState("[]", "{}")).toEqual(["config: is not a JSON object"]);
  });

  test("is refused whole where a component takes no part of it", () => {
    expect(checkState(payload({ components: { it: without(power, "value_template") } }), '{"power":1}')).toEqual([
      'it: {"power":1} is not a number',
    ]);
  });

  test("is looked at on other topics too, as that of events", () => {
    const heard = (event: Json) => checkState(payload(), JSON.stringify(event), "rigs/miner/1/event");
    expect(heard({ event_type: "block_found", height: 1 })).toEqual([]);
    expect(heard({ event_type: "alarm" })).toEqual(['found: {"event_type":"alarm"} has no event_type of block_found']);
  });
});
