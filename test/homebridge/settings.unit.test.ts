import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { configSchema } from "../../homebridge/scripts/config-schema.ts";
import { isConfigured, readSettings } from "../../homebridge/src/config/read.ts";
import { RigbridgeError } from "../../src/index.ts";

// depends on: homebridge/config.schema.json

const mistakesOf = async (written: object): Promise<string[]> => {
  try {
    await readSettings({ platform: "Rigbridge", name: "Rigbridge", ...written });
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path} ${message}`);
  }
};

test("config.schema.json is up to date; if not: node homebridge/scripts/config-schema.ts --write", () => {
  const file = join(import.meta.dirname, "../../homebridge/config.schema.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(configSchema());
});

describe("settings", () => {
  test("without a service and without rigs configure nothing, whatever else the form left there", () => {
    expect(isConfigured({ platform: "Rigbridge", name: "Rigbridge" })).toBe(false);
    expect(isConfigured({ platform: "Rigbridge", rigs: [], service: { url: "" }, defaults: { as: "switch" } })).toBe(
      false,
    );
    expect(isConfigured({ rigs: [{ address: "192.168.1.9" }] })).toBe(true);
    expect(isConfigured({ service: { url: "http://127.0.0.1:17790" } })).toBe(true);
  });

  test("of the wrong kind are mistakes", async () => {
    expect(await mistakesOf({ rigs: { address: "192.168.1.9" }, servise: { url: "http://192.168.1.2" } })).toEqual([
      "rigs must be a list, is a mapping of keys",
      'servise is not a known key; did you mean "service"?',
    ]);
    expect(await mistakesOf({ rigs: ["192.168.1.9"] })).toEqual(["rigs[0] must be a mapping of keys, is text"]);
    expect(await mistakesOf({ groups: { only: [] } })).toEqual(["groups.only needs at least 1 of them"]);
  });

  test("may have empty values left by the form, and Homebridge's own keys", async () => {
    const bridge = { username: "0E:00:00:00:00:01", port: 1 };
    const written = {
      rigs: [{ address: "192.168.1.9", name: "", password: null, sensors: null }],
      _bridge: bridge,
    };
    const settings = await readSettings({ platform: "Rigbridge", ...written });
    expect(settings.rigs).toEqual([{ address: "192.168.1.9" }]);
    expect(settings).toMatchObject({ name: "Rigbridge", alarm: true, defaults: { as: "outlet", sensors: [] } });
  });

  test("of a room or a plug that has no fields name each of them", async () => {
    const missing = ["name", "target", "roomTemperature"].map((key) => `rigs[0].heating.${key} is missing`);
    expect(await mistakesOf({ rigs: [{ address: "192.168.1.9", heating: { name: "" } }] })).toEqual(missing);
    expect(await mistakesOf({ rigs: [{ address: "192.168.1.9", heating: {}, as: "heater" }] })).toEqual(missing);
    expect(await mistakesOf({ rigs: [{ address: "192.168.1.9", supply: {} }] })).toEqual([
      expect.stringMatching(/^rigs\[0\]\.supply\.type /),
      "rigs[0].supply.address is missing",
    ]);
  });

  test("keep the indexes of rigs that follow an empty one", async () => {
    const rig = (address: string) => ({ address, name: "" });
    expect((await readSettings({ rigs: [rig("192.168.1.9"), rig(""), { name: null }] })).rigs).toHaveLength(1);
    expect(await mistakesOf({ rigs: [rig(""), { adress: "192.168.1.9" }] })).toEqual([
      expect.stringMatching(/^rigs\[1\]\.adress is not a known key/),
      "rigs[0].address is missing",
      "rigs[1].address is missing",
    ]);
  });

  test("with mistakes are refused with all of them, each at its path", async () => {
    const mistakes = await mistakesOf({
      alarms: true,
      rigs: [
        { address: "http://192.168.1.9/path", as: "lamp" },
        { adress: "192.168.1.10" },
        { address: "192.168.1.11", supply: { type: "shelly", address: "a b" } },
        { address: "192.168.1.12", as: "heater" },
        { address: "192.168.1.13", heating: { name: "Bath", target: 99, roomTemperature: { url: "ftp://x" } } },
        { address: "192.168.1.12" },
      ],
    });
    expect(mistakes).toEqual([
      "rigs[0].as must be one of outlet, switch, heater, hidden",
      'rigs[1].adress is not a known key; did you mean "address"?',
      "rigs[4].heating.target must be at most 35",
      'alarms is not a known key; did you mean "alarm"?',
      "rigs[1].address is missing",
      "rigs[3].heating is missing; a heater needs a room with a temperature sensor",
      expect.stringMatching(/^rigs\[4\]\.heating\.roomTemperature\.url must be a web address/),
      expect.stringMatching(/^rigs\[0\]\.address .*has a path/),
      "rigs[5].address is also the address of rigs[3]",
      expect.stringMatching(/^rigs\[2\]\.supply\.address .*whitespace/),
    ]);
  });

  test("give each room one heater", async () => {
    const heating = { name: "Bath", target: 21, roomTemperature: { url: "http://192.168.1.5/bath" } };
    const heater = (address: string, name: string) => ({ address, name, as: "heater", heating });
    expect(
      await mistakesOf({ rigs: [{ address: "192.168.1.8" }, heater("192.168.1.9", "A"), heater("192.168.1.10", "B")] }),
    ).toEqual(["rigs[2].heating.name is also the name of rigs[1].heating"]);
    const other = { ...heater("192.168.1.10", "A"), heating: { ...heating, name: "Attic" } };
    expect(await mistakesOf({ rigs: [heater("192.168.1.9", "A"), other] })).toEqual([
      "rigs[1].name is also the miner of rigs[0].heating",
    ]);
  });

  test("for an existing service name its miners, without keys of rigs that the plugin reads", async () => {
    const service = { url: "http://192.168.1.2:17790" };
    expect(await mistakesOf({ service: { url: `${service.url}, https://second.example` } })).toEqual([]);
    expect(await mistakesOf({ service: { url: `${service.url}, second` } })).toEqual([
      expect.stringMatching(/^service\.url\[1\] must be/),
    ]);
    const garage = { miner: "Garage", as: "switch", offlineExpected: true };
    expect(await mistakesOf({ service, rigs: [garage] })).toEqual([]);
    expect(await mistakesOf({ service, rigs: [garage, garage] })).toEqual(["rigs[1].miner is already used by rigs[0]"]);
    expect(await mistakesOf({ service, rigs: [{ address: "192.168.1.9" }] })).toEqual([
      "rigs[0].address is only for rigs that the plugin reads itself; set it in the service instead",
      "rigs[0].miner is missing; enter the name or uid of the miner in the service",
    ]);
    expect(await mistakesOf({ rigs: [{ address: "192.168.1.9", miner: "Garage" }] })).toEqual([
      "rigs[0].miner is only for an existing service; enter the address of the rig instead",
    ]);
  });

  test("never quote a secret", async () => {
    const secret = "invented-secret";
    const mistakes = await mistakesOf({
      service: { url: `http://anna:${secret}@192.168.1.2`, key: `${secret} with blank`, locale: "xx_!" },
    });
    expect(mistakes.length).toBeGreaterThan(0);
    expect(mistakes.join()).not.toContain(secret);
  });
});
