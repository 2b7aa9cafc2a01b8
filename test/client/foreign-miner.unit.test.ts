import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Fields } from "../../src/client/fields.ts";
import { readMiner } from "../../src/client/foreign-miner.ts";
import { MinerMemory } from "../../src/client/miner-memory.ts";
import { Uids } from "../../src/client/uids.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { Miner } from "../../src/contract/resources.ts";
import { parserFor } from "../../src/units/parse.ts";

const now = Date.UTC(2026, 0, 31, 12);
let uids = new Uids("My Garage!");
let memory = new MinerMemory();
/** ms that have passed. */
let passed = 0;
afterEach(() => {
  passed = 0;
  uids = new Uids("My Garage!");
  memory = new MinerMemory();
});

function read(json: object, locale = "sv-SE"): Miner {
  const reading = {
    parser: parserFor({ locale }),
    locale,
    uids,
    memory,
    now: () => now + passed,
    note: () => undefined,
  };
  return Miner.parse(readMiner(new Fields(json, "miner"), 3, reading, { checked: 0, mismatched: 0 }));
}

/** Display strings only, as the document has them. */
const strings = {
  id: 7,
  name: "s19",
  temperature: "59 60 61 °C",
  statusInfo: { statusDisplay: "Mining", statusLine3: "1h 41m" },
  progressInfo: { line1: "Accepted: 1 234 (99%)", line2: "Rejected: 5", line3: "HW Errors: 0" },
  speedInfo: {
    logInterval: 5,
    hashrate: "73,22 TH/s",
    avgHashrate: "73,96 TH/s",
    workUtility: "200 540,59",
    line3: "Power: 2 865 W",
  },
  updatedUtc: "2026-01-31T11:59:00.1234567Z",
  canStop: true,
  canReboot: true,
};

describe("readings", () => {
  test("come from display strings where there are no numbers", () => {
    const { readings, coinInfo, speedInfo, uid, groupID, maxTemperatureValue, avgTemperatureValue } = read(strings);
    expect(readings).toMatchObject({
      at: "2026-01-31T11:59:00.123Z",
      stale: false,
      hashrate: 73.22e12,
      hashrateAverage: 73.96e12,
      power: 2865,
      powerSource: null,
      efficiency: 2865 / 73.22e12,
      energy: null,
      temperature: 61,
      uptime: 6060,
      startedAt: "2026-01-31T10:18:00.123Z",
      mining: true,
      shares: { accepted: 1234, rejected: 5, hardwareErrors: 0 },
      notes: [],
    });
    expect(readings.boards.map(({ slot, temperature }) => [slot, temperature])).toEqual([
      [0, 59],
      [1, 60],
      [2, 61],
    ]);
    expect([coinInfo.powerUsageValue, speedInfo.hashrateValue, uid, groupID]).toEqual([
      2865,
      73.22e12,
      "my-garage-7",
      3,
    ]);
    expect([maxTemperatureValue, avgTemperatureValue]).toEqual([61, 60]);
  });

  test("come from numbers first", () => {
    const { readings } = read({
      ...strings,
      groupID: 9,
      maxTemperatureValue: 62,
      statusInfo: { ...strings.statusInfo, secondsSinceStart: 6075 },
      speedInfo: { ...strings.speedInfo, hashrateValue: 73_219_999_999_999, avgHashrateValue: 73.96e12 },
      coinInfo: { powerUsageValue: 2866, isActualPowerUsage: false, algorithm: "SHA-256" },
      progressInfo: { ...strings.progressInfo, acceptedValue: 1235 },
    });
    expect(readings).toMatchObject({
      hashrate: 73_219_999_999_999,
      temperature: 62,
      uptime: 6075,
      power: 2866,
      powerSource: "nameplate",
      algorithm: "SHA-256",
      shares: { accepted: 1235, rejected: 5, hardwareErrors: 0 },
      notes: [],
    });
  });

  test("that a string contradicts are noted: the locale seems wrong", () => {
    const { readings } = read({ ...strings, speedInfo: { hashrate: "73,22 TH/s", hashrateValue: 7_322e12 } });
    expect(readings.hashrate).toBe(7_322e12);
    expect(readings.notes).toEqual([expect.stringMatching(/hashrate says "73,22 TH\/s".*does not seem to be sv-SE/)]);
  });

  test("boards and fans come from the ASICs; 0 is unknown", () => {
    const asic = (temperature: number, fanSpeed: number) => ({
      deviceInfo: { deviceType: "ASIC", temperature, fanSpeed, fanPercent: 0, intensity: 20, gpuVoltage: null },
      speedInfo: { hashrate: "24,41 TH/s" },
    });
    const { readings, asicList } = read({ ...strings, temperature: "", asicList: [asic(59, 5000), asic(0, 0)] });
    expect(readings.boards.map(({ hashrate, temperature }) => [hashrate, temperature])).toEqual([
      [24.41e12, 59],
      [24.41e12, null],
    ]);
    expect(readings.fans).toEqual([{ rpm: 5000, percent: null }]);
    expect(asicList[0]?.deviceInfo.intensity).toBe("20");
  });

  test("a hash rate of 0 is 0, and a missing one is unknown", () => {
    expect(read({ ...strings, speedInfo: { hashrate: "0 H/s" } }).readings.hashrate).toBe(0);
    expect(read({ ...strings, speedInfo: {} }).readings.hashrate).toBeNull();
  });

  test("when mining started moves only when it really started anew", () => {
    const at = (updatedUtc: string, secondsSinceStart: number) =>
      read({ ...strings, updatedUtc, statusInfo: { statusDisplay: "Mining", secondsSinceStart } }).readings.startedAt;
    const first = at("2026-01-31T12:00:00Z", 3600);
    expect(at("2026-01-31T12:00:15Z", 3600)).toBe(first);
    expect(at("2026-01-31T13:00:00Z", 7210)).toBe(first);
    expect(at("2026-01-31T13:10:00Z", 60)).toBe("2026-01-31T13:09:00.000Z");
  });
});

describe("a miner that its service does not reach", () => {
  test.each([
    { statusInfo: { statusDisplay: "Disconnected" } },
    { isOffline: true },
    { hasValidStatus: false },
    { statusInfo: { statusDisplay: "Disabled" } },
    { statusInfo: { statusDisplay: "Starting" }, hasValidStatus: false },
  ])("has no readings, and keeps its shape: %j", (why) => {
    const live = read(strings);
    const off = read({ ...strings, ...why });
    expect(off.readings).toMatchObject({ stale: true, hashrate: null, power: null, temperature: null, uptime: null });
    expect(off.readings.boards.map(({ slot, temperature }) => [slot, temperature])).toEqual([
      [0, null],
      [1, null],
      [2, null],
    ]);
    expect(off.controls.map(({ key, value }) => [key, value])).toEqual(live.controls.map(({ key }) => [key, null]));
    const { statusDisplay } = off.statusInfo;
    expect(["Disconnected", "Disabled", "Starting"]).toContain(statusDisplay);
    expect(off.isOffline).toBe(statusDisplay === "Disconnected");
    expect([off.isRunning, off.speedInfo.hashrateValue, off.maxTemperatureValue]).toEqual([false, 0, 0]);
  });
});

describe("why a miner does not hash", () => {
  const dead = { id: 1, name: "p", statusInfo: { statusDisplay: "Dead" } };
  test.each([
    [{}, null],
    [{ statusInfo: { statusDisplay: "Stopped" } }, "user"],
    [{ statusInfo: { statusDisplay: "Disabled" } }, "user"],
    [{ statusInfo: { statusDisplay: "Disconnected" } }, "network"],
    [{ statusInfo: { statusDisplay: "Starting" } }, "warming"],
    [{ statusInfo: { statusDisplay: "Starting" }, hasValidStatus: false }, null],
    [{ statusInfo: { statusDisplay: "Idle" } }, "unknown"],
    [{ statusInfo: { statusDisplay: "Idle" }, poolList: [dead] }, "pools"],
  ])("follows the server's words: %j is %s", (words, code) => {
    expect(read({ ...strings, ...words }).readings.reason?.code ?? null).toBe(code);
  });

  test("stays since when it was first seen", () => {
    const since = (statusDisplay: string) => {
      passed += 60_000;
      return read({ ...strings, statusInfo: { statusDisplay } }).readings.reason?.since;
    };
    const first = since("Disconnected");
    expect(first).toBe(new Date(now + 60_000).toISOString());
    expect(since("Disconnected")).toBe(first);
    expect(since("Mining")).toBeUndefined();
    expect(since("Disconnected")).not.toBe(first);
  });
});

describe("controls", () => {
  test("are the document's actions that the miner has now", () => {
    const keys = (flags: object) => read({ id: 7, ...flags }).controls.map(({ key, value }) => [key, value]);
    expect(keys({})).toEqual([]);
    expect(keys({ canRestart: true, canReboot: true })).toEqual([
      ["reboot", null],
      ["restart", null],
    ]);
    expect(keys({ canStart: true, statusInfo: { statusDisplay: "Stopped" } })).toEqual([["mining", false]]);
    expect(keys({ canStop: true, statusInfo: { statusDisplay: "mining" } })).toEqual([["mining", true]]);
  });
});

test("whatever a server sends becomes a whole miner or is refused", () => {
  const json = fc.object({
    key: fc.constantFrom("id", ...Object.keys(strings), ...Object.keys(strings.speedInfo), "asicList", "deviceInfo"),
    maxDepth: 4,
  });
  fc.assert(
    fc.property(json, (value) => {
      try {
        read(value);
      } catch (error) {
        expect(error).toBeInstanceOf(RigbridgeError);
      }
    }),
    { numRuns: 500 },
  );
});

describe("uids", () => {
  test("are the MAC address, else the server's name and the id; of two with one address the lower id has it", () => {
    uids.assign(
      [
        { id: 9, macAddress: "AA:BB:CC:00:11:22" },
        { id: 8, macAddress: "aabbcc001122" },
        { id: 7, macAddress: "" },
        { id: 6, macAddress: "000000000000" },
      ],
      true,
    );
    expect([9, 8, 7, 6].map((id) => uids.of(id))).toEqual([
      "my-garage-9",
      "aabbcc001122",
      "my-garage-7",
      "my-garage-6",
    ]);
    uids.assign([{ id: 9, macAddress: "aabbcc001122" }], true);
    expect(uids.of(9)).toBe("my-garage-9");
  });

  test("go over to a miner that was removed there and added anew", () => {
    uids.assign([{ id: 8, macAddress: "aabbcc001122" }], true);
    uids.assign([{ id: 12, macAddress: "aabbcc001122" }], false);
    expect(uids.of(12)).toBe("my-garage-12");
    uids.assign([{ id: 13, macAddress: "aabbcc001122" }], true);
    expect(uids.of(13)).toBe("aabbcc001122");
  });

  test("are always of their form and never twice", () => {
    fc.assert(
      fc.property(fc.string(), fc.uniqueArray(fc.nat(), { maxLength: 20 }), (name, ids) => {
        const some = new Uids(name);
        some.assign(
          ids.map((id) => ({ id, macAddress: id % 3 === 0 ? "aabbcc001122" : "" })),
          true,
        );
        const all = ids.map((id) => some.of(id));
        expect(new Set(all).size).toBe(ids.length);
        for (const uid of all) expect(uid).toMatch(/^[a-z0-9-]{1,64}$/);
      }),
    );
  });
});
