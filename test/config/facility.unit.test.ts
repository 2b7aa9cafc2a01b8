import { expect, test } from "@jest/globals";
import { checkedConfig } from "../../src/config/index.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

const v3 = { version: "3", username: "u", authPassword: "12345678", privPassword: "12345678" };
const pdu = { key: "pdu", kind: "pdu", driver: "snmp", address: "10.0.0.2", preset: "apc-rpdu", ...v3 };
const meter = { key: "meter", kind: "meter", driver: "modbus", address: "10.0.0.3", preset: "sdm630" };
const fan = { key: "fan", kind: "fan", driver: "modbus", address: "10.0.0.4", run: { address: 1 } };
const mqtt = { key: "room", kind: "sensor", driver: "mqtt", topics: { temperature: { topic: "room/t" } } };
const json = { key: "json", kind: "sensor", driver: "http-json", url: "http://10.0.0.5/", paths: { temperature: "t" } };

/** Each mistake as `path: sentence`. */
function mistakes(facility: readonly object[], more: object = {}): string[] {
  try {
    checkedConfig({ miners: [{ address: "10.0.0.9", name: "one" }], groups: [{ name: "Hall" }], ...more, facility });
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("devices of each driver are accepted", () => {
  const outlets = [{ n: 1, miner: "one" }, { n: 2 }];
  const all = [{ ...pdu, outlets }, { ...meter, groups: ["Hall"], place: ["Texas", "B1"] }, fan, mqtt, json];
  expect(mistakes(all, { mqtt: { url: "mqtt://10.0.0.1" } })).toEqual([]);
});

test.each([
  ["a key twice", [meter, meter], "facility[1].key: is the key of an entry before it too"],
  [
    "an odd key",
    [{ ...meter, key: "Main Meter" }],
    /^facility\[0\]\.key: must be 1 to 64 characters of a-z, 0-9, - and _/,
  ],
  ["nothing to read", [{ ...meter, preset: undefined }], /registers: is empty, and there is no preset/],
  ["an unknown preset", [{ ...meter, preset: "sdm" }], /^facility\[0\]\.preset: /],
  [
    "an address of the cloud",
    [{ ...meter, address: "169.254.169.254" }],
    /^facility\[0\]\.address: .*169\.254\.169\.254/,
  ],
  ["a web address", [{ ...meter, address: "https://10.0.0.3" }], "facility[0].address: must be host or host:port"],
  ["no password of v3", [{ ...pdu, privPassword: undefined }], /username: is needed by SNMP v3/],
  ["no community", [{ ...pdu, version: "2c" }], /community: is needed by SNMP v2c/],
  [
    "an outlet twice",
    [{ ...pdu, outlets: [{ n: 1 }, { n: 1 }] }],
    "facility[0].outlets[1].n: is the number of an entry before it too",
  ],
  [
    "a rig at two outlets",
    [
      {
        ...pdu,
        outlets: [
          { n: 1, miner: "one" },
          { n: 2, miner: "one" },
        ],
      },
    ],
    "facility[0].outlets[1].miner: is the miner of an entry before it too",
  ],
  [
    "an unknown rig",
    [{ ...pdu, outlets: [{ n: 1, miner: "on" }] }],
    'facility[0].outlets[0].miner: there is no miner "on"; did you mean "one"?',
  ],
  [
    "an unknown group",
    [{ ...meter, groups: ["Hal"] }],
    'facility[0].groups[0]: there is no group "Hal"; did you mean "Hall"?',
  ],
  [
    "a meter with outlets",
    [{ ...pdu, kind: "meter", outlets: [{ n: 1 }] }],
    "facility[0].outlets: belongs to a device of the kind pdu",
  ],
  ["a sensor with rigs", [{ ...json, miners: ["one"] }], "facility[0].miners: belongs to a meter, a pdu or a fan"],
  [
    "a meter that is switched",
    [{ ...meter, run: { address: 1 } }],
    "facility[0].run: belongs to a device of the kind fan",
  ],
  [
    "a fan that cannot be switched",
    [{ ...json, kind: "fan", miners: ["one"] }],
    /driver: cannot switch a fan with these settings/,
  ],
  ["a scale of 0", [{ ...meter, registers: [{ reading: "power", address: 0, scale: 0 }] }], /scale: must not be 0/],
  ["no broker", [mqtt], /^facility\[0\]\.driver: /],
] as const)("with %s, the sentence says what is wrong", (_what, facility, sentence) => {
  const found = mistakes(facility);
  expect(found).toHaveLength(1);
  if (typeof sentence === "string") expect(found).toEqual([sentence]);
  else expect(found[0]).toMatch(sentence);
});

test("a fan is not switched at a topic where Rigbridge takes commands", () => {
  const topics = { state: { topic: "fan/state" }, set: "rigbridge/miner/1/set" };
  const found = mistakes([{ ...mqtt, kind: "fan", topics }], { mqtt: { url: "mqtt://10.0.0.1" } });
  expect(found).toEqual([expect.stringMatching(/^facility\[0\]\.topics\.set: is below mqtt\.base/)]);
});
