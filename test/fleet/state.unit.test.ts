import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type RigReadings, unknownBoard, unknownReadings } from "../../src/contract/readings.ts";
import { addEnergy, startOf } from "../../src/fleet/energy.ts";
import {
  afterMiss,
  afterRead,
  afterRefusal,
  afterSilence,
  beforeFirstRead,
  type RigState,
  sameButTime,
  statusOf,
  uidOf,
  unknownRig,
} from "../../src/fleet/state.ts";
import { toggle } from "../../src/link/controls.ts";
import type { Reading } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";

const hour = 3_600_000;
const gap = 30_000;

describe("energy", () => {
  test("is the mean power of two reads over the time between them", () => {
    expect(addEnergy(100, { at: 0, power: 1_000 }, { at: 18_000, power: 3_000 }, gap)).toBe(110);
  });

  test.each([
    ["the first read", 100, null, { at: 0, power: 500 }, 100],
    ["a rig that was never integrated before", null, null, { at: 0, power: 500 }, 0],
    ["a gap", 100, { at: 0, power: 500 }, { at: gap + 1, power: 500 }, 100],
    ["a clock that went back", 100, { at: 5_000, power: 500 }, { at: 0, power: 500 }, 100],
    ["a clock that jumped ten years", 100, { at: 0, power: 500 }, { at: 87_600 * hour, power: 500 }, 100],
    ["an unknown power now", 100, { at: 0, power: 500 }, { at: 1_000, power: null }, 100],
    ["an unknown power before", 100, { at: 0, power: null }, { at: 1_000, power: 500 }, 100],
    ["a power that was never known", null, { at: 0, power: null }, { at: 1_000, power: null }, null],
  ])("is not guessed for %s", (_, energy, before, now, expected) => {
    expect(addEnergy(energy, before, now, gap)).toBe(expected);
  });

  test("never falls", () => {
    const read = fc.record({
      at: fc.integer({ min: 0, max: hour }),
      power: fc.option(fc.double({ min: -5_000, max: 5_000, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(read, { minLength: 2 }), (reads) => {
        let energy: number | null = null;
        let before: (typeof reads)[number] | null = null;
        for (const now of reads) {
          const next = addEnergy(energy, before, now, gap);
          expect(next ?? 0).toBeGreaterThanOrEqual(energy ?? 0);
          energy = next;
          before = now;
        }
      }),
    );
  });
});

describe("the start of mining", () => {
  const at = 1_800_000_000_000;
  test.each([
    ["is where the uptime says", null, at, 100, at - 100_000],
    ["stays while uptime and clock differ a little", at - 100_000, at + 10_000, 105, at - 100_000],
    [
      "stays although a clock that is one in two hundred off has run for days",
      at - hour * 100,
      at,
      361_800,
      at - hour * 100,
    ],
    ["moves when the rig has restarted", at - hour, at, 5, at - 5_000],
    ["is kept while the rig does not say", at - hour, at, null, at - hour],
    ["is unknown while nobody said", null, at, null, null],
    ["is not before there were rigs", at - hour, at, 9e18, at - hour],
    ["is unknown when only nonsense was said", null, at, 1e14, null],
  ])("%s", (_, known, now, uptime, expected) => expect(startOf(known, now, uptime, null)).toBe(expected));

  const day = 86_400;
  test.each([
    [
      "stays when this machine's clock is set an hour ahead",
      at + hour,
      day + 10,
      { uptime: day, elapsed: 10_000 },
      true,
    ],
    ["stays when it is set back by ten years", at - 87_600 * hour, day, { uptime: day, elapsed: 10_000 }, true],
    ["stays when the rig's own clock is set ten years ahead", at, 315_360_000, { uptime: day, elapsed: 10_000 }, true],
    ["moves when the uptime has fallen", at, 5, { uptime: day, elapsed: 10_000 }, false],
    ["moves after a silence in which it restarted", at, 2 * day, { uptime: day, elapsed: 3 * day * 1000 }, false],
  ])("%s", (_, now, uptime, before, stays) => {
    const known = at - day * 1000;
    expect(startOf(known, now, uptime, before) === known).toBe(stays);
  });
});

const reading = (readings: Partial<RigReadings> = {}, rest: Partial<Reading> = {}): Reading => ({
  identity: unknownIdentity,
  readings: { ...unknownReadings(), ...readings },
  pools: [],
  devices: [],
  controls: [],
  poolActions: [],
  software: null,
  logInterval: null,
  workUtility: null,
  ...rest,
});

const context = { at: 1_800_000_000_000, nameplate: null, longestGap: gap, before: null };
const fresh = beforeFirstRead(unknownRig);
const read = (readings: Partial<RigReadings>, rest: Partial<Reading> = {}): RigState =>
  afterRead(fresh, reading(readings, rest), context);
const missed = (state: RigState, times: number, code = "rig.timeout", expected = false): RigState =>
  Array.from({ length: times }).reduce<RigState>(
    (now) => afterMiss(now, { code, message: "", quoted: "" }, expected),
    state,
  );

const away = (state: RigState, expected = false): RigState =>
  afterMiss(state, { code: "rig.unreachable", message: "", quoted: "" }, expected, true);

const mining = (on: boolean) => toggle("mining", on, { lasting: false, restartsMining: false, seconds: 5 });

describe("the status of a miner", () => {
  const working = read({ hashrate: 1e12, mining: true, uptime: 500 });
  test.each<[string, RigState, string]>([
    ["not asked yet", fresh, "Starting"],
    ["never read, two reads missed", missed(fresh, 2), "Starting"],
    ["never read, three reads missed", missed(fresh, 3), "Disconnected"],
    ["not read for two intervals", afterSilence(working, 2), "Mining"],
    ["not read for three intervals", afterSilence(working, 3), "Disconnected"],
    ["not read for long, restarting", { ...afterSilence(working, 30), restarting: true }, "Starting"],
    ["three reads missed, restarting", { ...missed(working, 3), restarting: true }, "Starting"],
    ["hashing", working, "Mining"],
    ["hashing, one read missed", missed(working, 1), "Mining"],
    ["hashing, two reads missed", missed(working, 2), "Mining"],
    ["three reads missed", missed(working, 3), "Disconnected"],
    ["silent while that is expected", missed(working, 9, "rig.timeout", true), "Mining"],
    ["silent for longer than expected", missed(missed(working, 9, "rig.timeout", true), 2), "Disconnected"],
    ["known to be away", away(working), "Disconnected"],
    ["known to be away, never read", away(fresh), "Disconnected"],
    ["known to be away, restarting", { ...away(working), restarting: true }, "Starting"],
    ["known to be away, and silence expected", away(working, true), "Mining"],
    ["gone, and silence expected", missed(missed(working, 3), 1, "rig.timeout", true), "Disconnected"],
    ["up, hashing 0", read({ hashrate: 0, mining: true, uptime: 500 }), "Idle"],
    ["up, hash rate unknown", read({ uptime: 500 }), "Idle"],
    ["up for a moment, hashing 0", read({ hashrate: 0, uptime: 5 }), "Starting"],
    ["told to stop", read({ hashrate: 0, mining: false }, { controls: [mining(false)] }), "Stopped"],
    ["told to stop, still hashing", read({ hashrate: 1e9, mining: false }, { controls: [mining(false)] }), "Stopped"],
    ["not mining, but nobody could have told it so", read({ hashrate: 0, mining: false, uptime: 500 }), "Idle"],
    ["another rig there", afterRefusal(working, { code: "rig.other", message: "", quoted: "" }), "Error"],
    ["known elsewhere", afterRefusal(fresh, { code: "in.use", message: "", quoted: "" }), "Error"],
    ["nothing there that is known", missed(fresh, 1, "rig.unknown-protocol"), "Error"],
    ["wants other credentials", missed(fresh, 1, "rig.refused"), "Error"],
    ["garbage for the third time", missed(working, 3, "rig.garbled"), "Disconnected"],
  ])("%s", (_, state, status) => {
    expect(statusOf(state, false)).toBe(status);
    expect(statusOf(state, true)).toBe("Disabled");
  });
});

describe("what is known of a rig", () => {
  test("is kept where a later read lacks it", () => {
    const first = read({}, { identity: { ...unknownIdentity, model: "S19", mac: "02:00:00:00:00:01" }, software: "x" });
    const second = afterRead(first, reading({}, { identity: { ...unknownIdentity, firmware: "2" } }), context);
    expect(second.identity).toEqual({ ...unknownIdentity, model: "S19", mac: "02:00:00:00:00:01", firmware: "2" });
    expect(second.software).toBe("x");
  });

  test("is the same object while a read shows nothing new", () => {
    const known = { ...unknownIdentity, model: "S19", mac: "02:00:00:00:00:01" };
    const boards = [unknownBoard(1), unknownBoard(2)];
    const first = read({ boards, fans: [] }, { identity: known });
    const second = afterRead(first, reading({ boards: [...boards] }, { identity: { ...known, mac: null } }), context);
    expect(second.identity).toBe(first.identity);
    expect(second.layout).toBe(first.layout);
    const third = afterRead(second, reading({ boards: [...boards].reverse() }, { identity: known }), context);
    expect(third.layout).toEqual({ boards: [2, 1], fans: 0 });
  });

  test("a nameplate's power is used only for a rig that reports none, and is 0 while it is stopped", () => {
    const plated = { ...context, nameplate: 3_000 };
    const power = (readings: Partial<RigReadings>) => {
      const { reading: now } = afterRead(fresh, reading(readings), plated);
      return [now?.readings.power, now?.readings.powerSource];
    };
    expect(power({})).toEqual([3_000, "nameplate"]);
    expect(power({ mining: false })).toEqual([0, "nameplate"]);
    expect(power({ power: 2_900, powerSource: "measured" })).toEqual([2_900, "measured"]);
  });

  test("missed reads keep the last readings twice and no longer", () => {
    const state = read({ hashrate: 5 });
    expect(missed(state, 2).reading).toBe(state.reading);
    expect(missed(state, 3).reading).toBeNull();
    expect(missed(state, 3).at).toBe(state.at);
  });
});

describe("the time of hashing", () => {
  const at = (seconds: number) => ({ ...context, at: context.at + seconds * 1000 });
  const hashing = { hashrate: 1, mining: true };

  test("begins with mining for a rig that hashes when the service starts", () => {
    expect(read({ ...hashing, uptime: 3600 }).hashingSince).toBe(context.at - hour);
    expect(read(hashing).hashingSince).toBe(context.at);
  });

  test("begins again after a break, though the rig counts its uptime on", () => {
    const stopped = afterRead(read({ ...hashing, uptime: 3600 }), reading({ hashrate: 0, uptime: 3610 }), at(10));
    expect(stopped.hashingSince).toBeNull();
    const again = afterRead(stopped, reading({ ...hashing, uptime: 3620 }), at(20));
    expect(again.hashingSince).toBe(context.at + 20_000);
    expect(afterRead(again, reading({ ...hashing, uptime: 3630 }), at(30)).hashingSince).toBe(again.hashingSince);
  });

  test("begins with the first read after a silence if the rig reports no uptime", () => {
    const silent = missed(read(hashing), 3);
    expect(afterRead(silent, reading(hashing), at(60)).hashingSince).toBe(context.at + 60_000);
  });

  test("begins again with a restart between two reads", () => {
    const again = afterRead(read({ ...hashing, uptime: 3600 }), reading({ ...hashing, uptime: 40 }), at(60));
    expect(again.hashingSince).toBe(context.at + 20_000);
  });
});

describe("silence", () => {
  const state = read({ hashrate: 5 });
  test("ages the last readings like missed reads, with a reason", () => {
    expect(afterSilence(state, 0)).toBe(state);
    expect(afterSilence(state, 1)).toMatchObject({
      missed: 1,
      reading: state.reading,
      trouble: { code: "rig.timeout" },
    });
    expect(afterSilence(state, 9)).toMatchObject({ missed: 3, reading: null });
  });

  test("of a restarting rig counts as three misses at most, so that it is read at its usual interval when it should be back", () => {
    const restarting = { ...state, restarting: true };
    expect([2, 3, 20].map((times) => missed(restarting, times).missed)).toEqual([2, 3, 3]);
    expect(missed(restarting, 9, "rig.timeout", true).missed).toBe(1);
    expect(missed({ ...missed(state, 5), restarting: true }, 1).missed).toBe(5);
  });

  test("adds nothing to reads that were missed already, and keeps their trouble", () => {
    const once = missed(state, 1, "rig.garbled");
    expect(afterSilence(once, 1)).toBe(once);
    expect(afterSilence(once, 2).trouble).toBe(once.trouble);
    const gone = missed(state, 5);
    expect(afterSilence(gone, 9)).toBe(gone);
    expect(afterSilence(fresh, 9)).toBe(fresh);
  });
});

describe("two reads", () => {
  const one = reading({ hashrate: 5, uptime: 1, boards: [], fans: [{ rpm: 100, percent: null }] });
  test("are equal when only time has passed", () => {
    expect(sameButTime(one, reading({ hashrate: 5, uptime: 9, fans: [{ rpm: 100, percent: null }] }))).toBe(true);
  });

  test.each<[string, Reading]>([
    ["a value", reading({ hashrate: 6, uptime: 1, fans: [{ rpm: 100, percent: null }] })],
    ["a nested value", reading({ hashrate: 5, uptime: 1, fans: [{ rpm: 101, percent: null }] })],
    ["the length of a list", reading({ hashrate: 5, uptime: 1 })],
    ["what it can be told", { ...one, controls: [mining(true)] }],
  ])("differ in %s", (_, other) => {
    expect(sameButTime(one, other)).toBe(false);
    expect(sameButTime(other, one)).toBe(false);
  });
});

describe("a uid", () => {
  const rig = { ...unknownIdentity, mac: "02:AB:00:00:00:01", serial: "SN 77/A" };
  test.each([
    ["the MAC", rig, "given", "02ab00000001"],
    ["else the serial", { ...rig, mac: null }, "given", "sn-77-a"],
    ["else what the configuration says", unknownIdentity, "given", "given"],
    ["else the place", unknownIdentity, null, "10-0-0-7-4028"],
    ["not a serial that has no letter or digit", { ...unknownIdentity, serial: "--" }, null, "10-0-0-7-4028"],
  ])("is %s", (_, identity, configured, uid) => expect(uidOf(identity, configured, "10.0.0.7", 4028)).toBe(uid));

  test("always has its form", () => {
    const text = fc.option(fc.string({ unit: "grapheme", maxLength: 100 }));
    fc.assert(
      fc.property(text, fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/), (serial, host) => {
        expect(uidOf({ ...unknownIdentity, serial }, null, host, 4028)).toMatch(/^[a-z0-9-]{1,64}$/);
      }),
    );
  });
});
