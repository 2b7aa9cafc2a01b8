import { describe, expect, test } from "@jest/globals";
import {
  actorFor,
  curtailmentActor,
  isHeldBy,
  isOfCurtailment,
  isOfMaximum,
  maximumActorFor,
  type PowerRank,
  powerCommandOf,
  powerHold,
  powerRanks,
  rankOf,
  safetyHoldMs,
  stopsBy,
} from "../../src/service/power/precedence.ts";
import type { StoredCommand } from "../../src/store/index.ts";

const at = 1_800_000_000_000;
const minute = 60_000;

/** Whether each rank of the columns may set the power after the one of the row, ten minutes and an hour later. */
const table = `
last      after   tuning loop rule curtailment person emergency safety
tuning    1       yes    yes  yes  yes         yes    yes       yes
loop      1       held   yes  yes  yes         yes    yes       yes
rule      1       held   held yes  yes         yes    yes       yes
person    1       held   held held held        yes    yes       yes
safety    1       held   held held held        held   held      yes
safety    11      held   held held held        yes    held      yes
person    59      held   held held held        yes    yes       yes
loop      61      yes    yes  yes  yes         yes    yes       yes
rule      61      yes    yes  yes  yes         yes    yes       yes
person    61      yes    yes  yes  yes         yes    yes       yes
safety    61      yes    yes  yes  yes         yes    yes       yes
`;

const isRank = (word: string): word is PowerRank => powerRanks.some((rank) => rank === word);

const rows = table
  .trim()
  .split("\n")
  .slice(1)
  .flatMap((line) => {
    const [last = "", after = "", ...cells] = line.split(/\s+/);
    return powerRanks.map((rank, index) => [last, Number(after), rank, cells[index]] as const);
  });

test("there is a cell for each two ranks", () => {
  expect(rows).toHaveLength(11 * powerRanks.length);
});

describe("a setting", () => {
  test.each(rows)("by %s, after %d min, for %s: %s", (by, after, rank, cell) => {
    if (!isRank(by)) throw new Error(`there is no rank ${by}`);
    const last = { at, open: false, by, who: by, stops: false };
    const hold = powerHold(last, { rank, stops: false }, true, at + after * minute);
    expect(hold === null ? "yes" : "held").toBe(cell);
    if (hold !== null) expect(hold).toEqual({ by, until: at + (rank === "person" ? safetyHoldMs : 60 * minute) });
  });
});

describe("a stop", () => {
  const stop = (by: PowerRank) => ({ at, open: false, by, who: by, stops: true });

  test.each([
    ["person", "rule", null],
    ["person", "loop", null],
    ["rule", "loop", null],
    ["safety", "rule", null],
    ["safety", "person", at + safetyHoldMs],
  ] as const)("by %s holds against %s until the rig is started", (by, rank, until) => {
    expect(powerHold(stop(by), { rank, stops: false }, false, at + minute)).toEqual({ by, until });
  });

  test("holds for days against lower ranks, but not against a rig that was started at the rig itself", () => {
    const wish = { rank: "rule", stops: false } as const;
    expect(powerHold(stop("person"), wish, false, at + 10_000 * minute)?.by).toBe("person");
    expect(powerHold(stop("person"), wish, true, at + 61 * minute)).toBeNull();
  });

  test("is never refused to a person or a curtailment for safety, nor anything to a safety rule", () => {
    for (const rank of ["person", "emergency"] as const)
      expect(powerHold(stop("safety"), { rank, stops: true }, true, at + 1)).toBeNull();
    for (const by of powerRanks)
      expect(powerHold(stop(by), { rank: "safety", stops: false }, false, at + 1)).toBeNull();
  });
});

describe("a rig is left alone by a loop", () => {
  const person = { at, open: false, by: "person", who: "anna", stops: false } as const;
  const stop = { ...person, stops: true };
  const loop = { ...person, by: "loop", who: "service for Den" } as const;

  test.each([
    ["without any command", null, false, 0, null],
    ["that a person has stopped", stop, false, 100_000, "person"],
    ["that a person has stopped, and that was started at the rig itself", stop, true, 61, null],
    ["that a person has set", person, true, 59, "person"],
    ["that a person has set an hour ago", person, true, 60, null],
    ["that the loop has stopped", { ...loop, stops: true }, false, 100_000, null],
    ["that the loop has started just now", loop, false, 10, null],
    ["that the loop has started, and that does not mine", loop, false, 11, "rig"],
    ["that a person has started long ago, and that does not mine", person, false, 61, "rig"],
    ["that mines as the loop has set it", loop, true, 100_000, null],
  ] as const)("or not: one %s", (_, word, mining, minutes, by) => {
    const wish = { rank: "loop", stops: false } as const;
    expect(powerHold(word, wish, mining, at + minutes * minute)?.by ?? null).toBe(by);
  });
});

test("a rig that does not mine though it should is left alone by loops alone", () => {
  const started = { at, open: false, by: "loop", who: "service for Den", stops: false } as const;
  const hold = (rank: PowerRank) => powerHold(started, { rank, stops: false }, false, at + 11 * minute)?.by ?? null;
  expect(powerRanks.map(hold)).toEqual(["loop", "rig", null, null, null, null, null]);
});

test("the rank of a command is that of its cause, else that of its actor", () => {
  const cause = (kind: "rule" | "schedule" | "manual" | "template" | "bulk", safety?: boolean) => ({
    kind,
    key: "x",
    run: 1,
    ...(safety === undefined ? {} : { safety }),
  });
  expect(rankOf({ actor: "anna", cause: null })).toBe("person");
  expect(rankOf({ actor: "service for Den", cause: null })).toBe("loop");
  expect(rankOf({ actor: "rule:x", cause: cause("rule") })).toBe("rule");
  expect(rankOf({ actor: "rule:x", cause: cause("rule", true) })).toBe("safety");
  expect(rankOf({ actor: "schedule:x", cause: cause("schedule") })).toBe("rule");
  for (const kind of ["manual", "template", "bulk"] as const)
    expect(rankOf({ actor: "anna", cause: cause(kind) })).toBe("person");
});

describe("what a command says about the power of a rig", () => {
  test.each([
    ["stop", {}, true],
    ["start", {}, false],
    ["set_power_limit", { watts: 0 }, false],
    ["set_mode", { mode: "sleep" }, false],
    ["plug", { plug: "off" }, true],
    ["plug", { plug: "on" }, false],
    ["set", { property: "mining", value: "false" }, true],
    ["set", { property: "mining", value: "true" }, false],
    ["set", { property: "power_target", value: 0 }, true],
    ["set", { property: "power_target", value: 900 }, false],
    // A limit or a throttle of nothing does not stop every rig.
    ["set", { property: "power_limit", value: 0 }, false],
    ["set", { property: "throttle", value: "0" }, false],
    ["set", { property: "mode", value: "off" }, false],
    ["set", { property: "fan", value: 0 }, null],
    ["reboot", {}, null],
    ["set_target_temperature", { temperature: 20 }, null],
    ["pool_switch", { pool: 1 }, null],
  ] as const)("%s %j: %s", (action, parameters, stops) => {
    expect(stopsBy(action, parameters)).toBe(stops);
  });

  test("counts by its cause or actor, while it is open, and not once it has failed", () => {
    const stop: StoredCommand = {
      id: 1,
      minerId: 1,
      minerName: "rig",
      actor: "anna",
      cause: null,
      action: "stop",
      parameters: {},
      state: "done",
      message: "",
      time: at,
      updated: at,
    };
    const saidBy = (more: Partial<StoredCommand>) => powerCommandOf({ ...stop, ...more });
    expect(saidBy({})).toEqual({ at, open: false, by: "person", who: "anna", stops: true });
    expect([saidBy({ state: "sent" })?.open, saidBy({ state: "queued" })?.open]).toEqual([true, true]);
    expect([saidBy({ actor: actorFor("Bath") })?.by, saidBy({ actor: "http for Bath" })?.by]).toEqual([
      "loop",
      "person",
    ]);
    expect(saidBy({ cause: { kind: "schedule", key: "night", run: 1 } })?.by).toBe("rule");
    expect(saidBy({ cause: { kind: "rule", key: "hot", run: 1, safety: true } })?.by).toBe("safety");
    expect([saidBy({ state: "failed" }), saidBy({ action: "locate" })]).toEqual([null, null]);
  });

  test("that only keeps a room within its maximum is known by its actor", () => {
    expect([maximumActorFor("Bath"), actorFor("Bath")].map(isOfMaximum)).toEqual([true, false]);
    expect(rankOf({ actor: maximumActorFor("Bath"), cause: null })).toBe("loop");
  });
});

describe("a curtailment", () => {
  const held = { id: 7, reason: "peak", rank: "curtailment", urgent: false } as const;
  const forSafety = { ...held, rank: "emergency" } as const;
  const ranks = (by: Parameters<typeof isHeldBy>[0], wish: object) =>
    powerRanks.filter((rank) => isHeldBy(by, { rank, stops: false, ...wish }));

  test("keeps rules and loops from giving its rigs more power, and one for safety people, too", () => {
    expect(ranks(held, {})).toEqual(["tuning", "loop", "rule"]);
    expect(ranks(forSafety, {})).toEqual(["tuning", "loop", "rule", "curtailment", "person"]);
  });

  test("keeps nobody from stopping a rig, nor who overrides it", () => {
    expect(ranks(forSafety, { stops: true })).toEqual([]);
    expect(ranks(forSafety, { overrides: true })).toEqual([]);
  });

  test("is known by the actor of its commands, which no loop can be called", () => {
    for (const rank of ["curtailment", "emergency"] as const) {
      const actor = curtailmentActor(12, rank);
      expect(isOfCurtailment(actor)).toBe(true);
      expect(rankOf({ actor, cause: null })).toBe(rank);
    }
    expect(curtailmentActor(12, "person")).toBe("service in curtailment 12");
    expect(rankOf({ actor: actorFor("in curtailment 12"), cause: null })).toBe("loop");
  });
});
