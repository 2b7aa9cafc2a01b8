import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { configSchema } from "../../src/config/index.ts";
import { parseConfig } from "../../src/config/read.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

const mqtt = "mqtt: {broker: embedded}\n";
const read = (supply: string, broker = mqtt) =>
  parseConfig(`${broker}miners: [{address: 127.0.0.1, supply: ${supply}}]`, "rigbridge.yaml", {}).config.miners[0]
    ?.supply;

function mistakes(supply: string, broker = mqtt): string[] {
  try {
    read(supply, broker);
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path.replace(/^[^:]*:\d+: /, "")}: ${message}`);
  }
}

describe("a plug over MQTT", () => {
  test("needs a topic to switch it and one with its state", () => {
    expect(read("{type: mqtt, topics: {set: a/set, state: a/state}}")).toEqual({
      type: "mqtt",
      topics: { set: "a/set", state: "a/state" },
      payloads: { on: "ON", off: "OFF" },
      cutPower: false,
      delay: 10,
    });
  });

  test("may report its measurements in JSON, in kWh by default", () => {
    const topics =
      "{set: a, state: {topic: b, path: POWER}, power: {topic: c, path: E.P}, energy: {topic: c, path: E.T}}";
    expect(read(`{type: mqtt, topics: ${topics}}`)).toMatchObject({
      topics: { state: { path: "POWER" }, energy: { topic: "c", path: "E.T", unit: "kWh" } },
    });
  });

  test.each([
    ["{type: mqtt}", "miners[0].supply.topics: is missing"],
    ["{type: mqtt, topics: {set: a}}", "miners[0].supply.topics.state: "],
    ["{type: mqtt, topics: {set: a/#, state: b}}", "miners[0].supply.topics.set: must be one topic, without + and #"],
    ["{type: mqtt, topics: {set: $SYS/a, state: b}}", "miners[0].supply.topics.set: must not begin with $"],
    ["{type: mqtt, topics: {set: a, state: b, volts: c}}", "miners[0].supply.topics.volts: is not a known key"],
    [
      "{type: mqtt, topics: {set: a, state: b}, chanel: 1}",
      'miners[0].supply.chanel: is not a known key; did you mean "channel"?',
    ],
    ["{type: mqtt, topics: {set: a, state: {topic: b, path: .c}}}", "miners[0].supply.topics.state"],
    ["{type: zwave, address: a}", "miners[0].supply.type: must be one of shelly, tasmota, mqtt"],
    ["{type: shelly}", "miners[0].supply.address: is missing"],
    ["{address: a}", "miners[0].supply.type: must be one of shelly, tasmota, mqtt"],
    ["7", "miners[0].supply: must be a mapping of keys"],
  ])("%s is a mistake", (supply, words) => {
    expect(mistakes(supply).join("\n")).toContain(words);
  });

  test.each([
    ["rigbridge/bridge/request/saveUser", mqtt, "is below mqtt.base (rigbridge)"],
    ["rigbridge", mqtt, "is below mqtt.base (rigbridge)"],
    ["homeassistant/switch/x/config", mqtt, "is below homeassistant"],
    ["homeassistant/status", "mqtt: {broker: embedded, homeAssistant: false}\n", "is below homeassistant"],
    ["farm/one/miner/x/set", "mqtt: {broker: embedded, base: farm/one}\n", "is below mqtt.base (farm/one)"],
    ["ha/x", "mqtt: {broker: embedded, homeAssistant: {prefix: ha}}\n", "is below ha"],
    ["rigbridge/x", `mqtt: {broker: embedded, plugTopics: ["#"]}\n`, "is below mqtt.base (rigbridge)"],
  ])("is not switched at %s, where that is a command to something else", (set, broker, words) => {
    expect(mistakes(`{type: mqtt, topics: {set: ${set}, state: b}}`, broker).join()).toContain(
      `miners[0].supply.topics.set: ${words}`,
    );
  });

  test.each([
    ["rigbridge2/x", mqtt],
    ["zigbee2mqtt/plug/set", mqtt],
    ["rigbridge/x", "mqtt: {broker: embedded, base: farm}\n"],
  ])("is switched at %s, which the file may name without plugTopics", (set, broker) => {
    expect(mistakes(`{type: mqtt, topics: {set: ${set}, state: b}}`, broker)).toEqual([]);
  });

  test("may be read anywhere, also at topics of Home Assistant", () => {
    expect(mistakes("{type: mqtt, topics: {set: a, state: homeassistant/switch/plug/state}}")).toEqual([]);
  });

  test("belongs to one miner", () => {
    const supplies = [
      "{type: shelly, address: Plug.lan}",
      '{type: tasmota, address: "http://plug.lan.:80"}',
      "{type: shelly, address: plug.lan, channel: 1}",
      "{type: mqtt, topics: {set: a, state: b}}",
      "{type: mqtt, topics: {set: a, state: c}}",
    ];
    const miners = supplies.map((supply, index) => `{address: 127.0.0.${index + 1}, supply: ${supply}}`);
    try {
      parseConfig(`${mqtt}miners: [${miners.join(", ")}]`, "rigbridge.yaml", {});
      throw new Error("must be refused");
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      expect(error.errors.map(({ path, message }) => `${path.replace(/^[^:]*:\d+: /, "")}: ${message}`)).toEqual([
        "miners[1].supply: is also the plug of miners[0]",
        "miners[4].supply: is also the plug of miners[3]",
      ]);
    }
  });

  test.each(["zigbee2mqtt/+/set", "cmnd/#", "#", "+", "a/b", "/a"])("plugTopics may be %s", (filter) => {
    const broker = `mqtt: {broker: embedded, plugTopics: ["${filter}"]}\n`;
    expect(mistakes("{type: mqtt, topics: {set: a, state: b}}", broker)).toEqual([]);
  });

  test.each(["a+/b", "a/#/b", "a#", "$SYS/#", ""])("plugTopics may not be %j", (filter) => {
    const broker = `mqtt: {broker: embedded, plugTopics: ["${filter}"]}\n`;
    expect(mistakes("{type: mqtt, topics: {set: a, state: b}}", broker).join()).toContain("mqtt.plugTopics[0]");
  });

  test("needs a broker", () => {
    expect(mistakes("{type: mqtt, topics: {set: a, state: b}}", "")).toEqual([
      "miners[0].supply.type: needs the MQTT bridge: set mqtt in the configuration",
    ]);
  });

  test("is known to editors", () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(configSchema());
    const withSupply = (supply: unknown) => validate({ miners: [{ address: "a", supply }] });
    expect(withSupply({ type: "mqtt", topics: { set: "a", state: "b" } })).toBe(true);
    expect(withSupply({ type: "mqtt", address: "a" })).toBe(false);
  });
});
