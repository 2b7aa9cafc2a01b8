import { describe, expect, test } from "@jest/globals";
import { type Crossing, LimitWatcher, type Tally } from "../../nodes/miner-in/limit-watcher.ts";
import { IntervalReporter, StatusReporter } from "../../nodes/miner-in/reporters.ts";
import {
  bases,
  measure,
  thresholdProperties,
  thresholdPropertyNamed,
} from "../../nodes/miner-in/threshold-properties.ts";
import { selectMiners, WatchedMiners } from "../../nodes/miner-in/watched-miners.ts";
import type { Farm } from "../../nodes/shared/farm-connection.ts";
import type { Fault } from "../../nodes/shared/faults.ts";
import { minerMessage, minerState } from "../../nodes/shared/miner-state.ts";
import { RigFaults } from "../../src/farm/index.ts";
import type { Miner, MinerStatus } from "../../src/index.ts";
import { miner, notAsked, off, readings } from "../homebridge/miners.ts";
import { labelled } from "./english.ts";
import { HeldClock } from "./held-clock.ts";

const hashing = (id: number, hashrate: number | null, changes: Partial<Miner["readings"]> = {}): Miner =>
  miner({ id, readings: readings({ hashrate, hashrateExpected: 1e12, ...changes }) });
const inStatus = (id: number, statusDisplay: MinerStatus, changes: Partial<Miner> = {}): Miner =>
  miner({ id, statusInfo: { statusDisplay, statusLine3: null, secondsSinceStart: 0 }, ...changes });
const gone = (id: number): Miner => off({ id, readings: readings({ stale: true }) });
/** A rig that was not read yet. */
const unread = (id: number): Miner => notAsked({ id });

describe("the state of a miner", () => {
  test("is flat, in SI units, with null for unknown values", () => {
    const group = { id: 3, name: "Hall", parentId: 0 };
    const state = minerState({ ...hashing(1, 9e11), groupId: 3 }, [group]);
    expect(state).toMatchObject({
      id: 1,
      uid: "025100000001",
      name: "Rig 1",
      group: "Hall",
      online: true,
      stale: false,
      status: "mining",
      hashrate: 9e11,
      hashrate_expected: 1e12,
      power: null,
      mining: true,
    });
    expect(Object.values(state).every((value) => value === null || typeof value !== "object")).toBe(true);
  });
});

describe("the value compared with a limit", () => {
  const share = { key: "hashrate", basis: "expected", unit: "%" } as const;

  test("is in the unit of the limit", () => {
    expect(measure(hashing(1, 9e11), { key: "hashrate", basis: "value", unit: "TH/s" }, "below")).toBe(0.9);
    const hot = miner({ readings: readings({ temperature: 71 }) });
    expect(measure(hot, { key: "temperature", basis: "value", unit: "°C" }, "above")).toBe(71);
  });

  test("is a percentage of the expected or the average hash rate", () => {
    expect(measure(hashing(1, 7.9e11), share, "below")).toBe(79);
    const falling = hashing(1, 5e11, { hashrateAverage: 2e12 });
    expect(measure(falling, { ...share, basis: "average" }, "below")).toBe(25);
  });

  test.each([
    ["a rig that reports no expected hash rate", hashing(1, 1e12, { hashrateExpected: null })],
    ["a rig with an expected hash rate of 0", hashing(1, 0, { hashrateExpected: 0 })],
    ["a rig that reports no hash rate", hashing(1, null)],
    ["an unreachable rig", gone(1)],
    ["a stopped rig", { ...hashing(1, 0), ...pick(inStatus(1, "Stopped")) }],
    ["a disabled rig", { ...hashing(1, 0), ...pick(inStatus(1, "Disabled")) }],
  ])("is unknown for %s", (_, each) => {
    expect(measure(each, share, "below")).toBe("unknown");
  });

  test("is the temperature of a stopped rig too", () => {
    const stopped = { ...inStatus(1, "Stopped"), readings: readings({ temperature: 90 }) };
    expect(measure(stopped, { key: "temperature", basis: "value", unit: "°C" }, "above")).toBe(90);
  });

  test("is stale after a failed read", () => {
    expect(measure(hashing(1, 1e12, { stale: true }), share, "below")).toBe("stale");
  });

  test("is the worst of several boards or fans", () => {
    const fans = [
      { rpm: 3000, percent: null },
      { rpm: 400, percent: null },
      { rpm: null, percent: null },
    ];
    const each = miner({ readings: readings({ fans }) });
    const rpm = { key: "fan_rpm", basis: "value", unit: "rpm" } as const;
    expect([measure(each, rpm, "below"), measure(each, rpm, "above")]).toEqual([400, 3000]);
  });

  test("has a label for each property and basis, and none to spare", () => {
    expect(labelled("property")).toEqual(thresholdProperties.map(({ key }) => key).toSorted());
    expect(labelled("basis")).toEqual(bases.slice(1).toSorted());
    expect(thresholdPropertyNamed("hashrate")).toMatchObject({ bases: ["value", "expected", "average"] });
    expect(thresholdPropertyNamed("power")).toMatchObject({ units: ["W", "kW"], bases: ["value"] });
    expect([thresholdPropertyNamed("status"), thresholdPropertyNamed("toString"), thresholdPropertyNamed("")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

function pick({ statusInfo }: Miner): Pick<Miner, "statusInfo"> {
  return { statusInfo };
}

describe("a limit", () => {
  function open(hold = 600) {
    const clock = new HeldClock();
    const crossings: Crossing[] = [];
    const tallies: Tally[] = [];
    const limits = new LimitWatcher({
      threshold: { is: "below", limit: 80, hysteresis: 5, hold: hold * 1000 },
      clock,
      measure: (each) => measure(each, { key: "hashrate", basis: "expected", unit: "%" }, "below"),
      crossed: (crossing) => crossings.push(crossing),
      counted: (tally) => tallies.push(tally),
    });
    const reported = () => crossings.map(({ miner: { id }, event, value, seconds }) => [id, event, value, seconds]);
    return { clock, limits, reported, tally: () => tallies.at(-1) };
  }

  test("is reported once after the hold time, even if the value stays the same, and once when it is over", () => {
    const { clock, limits, reported } = open();
    limits.miner(hashing(1, 5e11));
    clock.pass(599);
    expect(reported()).toEqual([]);
    clock.pass(1);
    expect(reported()).toEqual([[1, "begun", 50, 600]]);
    clock.pass(6000);
    limits.miner(hashing(1, 4e11));
    limits.miner(hashing(1, 8.2e11));
    expect(reported()).toHaveLength(1);
    limits.miner(hashing(1, 9e11));
    expect(reported().slice(1)).toEqual([[1, "over", 90, 6600]]);
  });

  test("is not reported if the rig recovers in between, and each rig counts separately", () => {
    const { clock, limits, reported, tally } = open();
    limits.miner(hashing(1, 5e11));
    limits.miner(hashing(2, 5e11));
    clock.pass(300);
    limits.miner(hashing(1, 8e11));
    limits.miner(hashing(1, 5e11));
    clock.pass(300);
    expect(reported()).toEqual([[2, "begun", 50, 600]]);
    expect(tally()).toEqual({ total: 2, begun: 1, unknown: 0 });
  });

  test("restarts its hold time after an unknown value, and stays begun", () => {
    const { clock, limits, reported, tally } = open();
    limits.miner(hashing(1, 5e11));
    limits.miner(hashing(2, 5e11));
    clock.pass(300);
    limits.miner(gone(1));
    clock.pass(300);
    expect(reported()).toEqual([[2, "begun", 50, 600]]);
    limits.lost();
    clock.pass(6000);
    expect(reported()).toHaveLength(1);
    expect(tally()).toEqual({ total: 2, begun: 1, unknown: 2 });
    limits.miner(hashing(1, 5e11));
    limits.miner(hashing(2, 5e11));
    clock.pass(599);
    expect(reported()).toHaveLength(1);
    clock.pass(1);
    expect(reported().slice(1)).toEqual([[1, "begun", 50, 600]]);
  });

  test("waits for the next successful read after a failed one", () => {
    const { clock, limits, reported } = open();
    limits.miner(hashing(1, 5e11));
    clock.pass(590);
    limits.miner(hashing(1, 5e11, { stale: true }));
    clock.pass(20);
    expect(reported()).toEqual([]);
    limits.miner(hashing(1, 5e11));
    expect(reported()).toEqual([[1, "begun", 50, 610]]);
  });

  test("leaves no timers when a miner is removed, or the node closes", () => {
    const { clock, limits, tally } = open();
    limits.miner(hashing(1, 5e11));
    limits.miner(hashing(2, 5e11));
    limits.forget(1);
    expect([clock.waiting, tally()?.total]).toEqual([1, 1]);
    limits.close();
    expect(clock.waiting).toBe(0);
  });
});

describe("an interval", () => {
  function open(changes: { readonly repeat?: boolean; readonly together?: boolean } = {}) {
    const clock = new HeldClock();
    const sent: [number, number | null][][] = [];
    const every = new IntervalReporter({
      intervalMs: 30_000,
      repeat: false,
      together: false,
      clock,
      ...changes,
      message: (each) => minerMessage(each, []),
      send: (messages) => sent.push(messages.map(({ miner: { id, readings } }) => [id, readings.hashrate])),
    });
    return { clock, every, sent };
  }

  test("sends the first state immediately, and then only changes", () => {
    const { clock, every, sent } = open();
    every.miner(unread(1));
    expect(sent).toEqual([]);
    every.miner(hashing(1, 5));
    every.miner(hashing(2, 7));
    expect(sent).toEqual([[[1, 5]], [[2, 7]]]);
    clock.pass(30);
    every.miner(hashing(2, 8));
    every.miner(hashing(1, 5, { at: "2026-02-02T00:00:00.000Z" }));
    expect(sent).toHaveLength(2);
    clock.pass(30);
    expect(sent.slice(2)).toEqual([[[2, 8]]]);
    clock.pass(300);
    expect(sent).toHaveLength(3);
  });

  test("sends unchanged miners too, if configured", () => {
    const { clock, every, sent } = open({ repeat: true });
    every.miner(hashing(1, 5));
    clock.pass(90);
    expect(sent).toEqual(Array.from({ length: 4 }, () => [[1, 5]]));
  });

  test("sends all miners together when one has changed", () => {
    const { clock, every, sent } = open({ together: true });
    every.miner(hashing(1, 5));
    every.miner(hashing(2, 7));
    clock.pass(29);
    expect(sent).toEqual([
      [
        [1, 5],
        [2, 7],
      ],
    ]);
    every.miner(hashing(2, 8));
    clock.pass(120);
    expect(sent.slice(1)).toEqual([
      [
        [1, 5],
        [2, 8],
      ],
    ]);
  });

  test("sends nothing while the service is lost, and nothing about a removed miner", () => {
    const { clock, every, sent } = open({ repeat: true });
    every.miner(hashing(1, 5));
    every.lost();
    clock.pass(60);
    expect(sent).toHaveLength(1);
    every.miner(hashing(1, 6));
    every.miner(hashing(2, 7));
    every.forget(1);
    clock.pass(30);
    expect(sent.slice(1)).toEqual([[[2, 7]], [[2, 7]]]);
    every.close();
    expect(clock.waiting).toBe(0);
  });
});

describe("a status change", () => {
  test("is reported with the status before, except the first known one", () => {
    const reported: unknown[] = [];
    const statuses = new StatusReporter(({ id, statusInfo }, before) =>
      reported.push([id, before, statusInfo.statusDisplay]),
    );
    statuses.miner(unread(1));
    statuses.miner(inStatus(1, "Mining"));
    statuses.miner(inStatus(1, "Mining"));
    statuses.lost();
    statuses.miner(gone(1));
    statuses.miner(inStatus(1, "Mining"));
    statuses.forget(1);
    statuses.miner(inStatus(1, "Stopped"));
    expect(reported).toEqual([
      [1, "Mining", "Disconnected"],
      [1, "Disconnected", "Mining"],
    ]);
  });
});

describe("the watched miners", () => {
  const farmOf = (...miners: readonly Miner[]): Farm & { readonly miners: Map<number, Miner> } => ({
    miners: new Map(miners.map((each) => [each.id, each])),
    groups: [{ id: 3, name: "Hall", parentId: 0 }],
    summary: {
      runningCount: 0,
      totalCount: 0,
      gpuCount: 0,
      pgaCount: 0,
      asicCount: 0,
      exchangeRate: "",
      revenuePerDay: "",
      revenuePerMonth: "",
      coinList: [],
      algorithmList: [],
      metaData: { updated: "", edition: "", version: "", infoList: [], warningList: [] },
    },
    features: new Set(),
  });

  function open(choice: ConstructorParameters<typeof WatchedMiners>[0]) {
    const reported: string[] = [];
    const faults: (Fault | null)[] = [];
    const errors: string[] = [];
    const watcher = {
      miner: ({ id, name }: Miner) => {
        if (name === "Failing") throw new TypeError("an invented fault");
        reported.push(`${id}`);
      },
      forget: (id: number) => reported.push(`-${id}`),
      lost: () => reported.push("lost"),
      close: () => undefined,
    };
    const farm = farmOf();
    const present = () => farm;
    const watched = new WatchedMiners(choice, watcher, {
      present,
      onFault: (fault) => faults.push(fault),
      faults: new RigFaults({ error: (_, text) => errors.push(text) }),
    });
    return { watched: watched.member, reported, faults, errors, farm };
  }

  test("change as miners move into and out of a group", () => {
    const { watched, reported } = open({ scope: "group", group: "hall" });
    const farm = farmOf(miner({ id: 1, groupId: 3 }), miner({ id: 2 }));
    watched.read?.(farm);
    const moved = miner({ id: 2, groupId: 3 });
    farm.miners.set(2, moved);
    watched.miner?.(moved);
    const out = miner({ id: 1 });
    farm.miners.set(1, out);
    watched.miner?.(out);
    watched.miner?.(moved);
    farm.miners.delete(2);
    watched.removed?.(2);
    expect(reported).toEqual(["1", "2", "-1", "2", "-2"]);
  });

  test("are watched on if one causes an internal error; that one is forgotten and logged once until it works again", () => {
    const { watched, reported, errors } = open({ scope: "all" });
    const failing = miner({ id: 1, name: "Failing" });
    watched.read?.(farmOf(failing, miner({ id: 2 })));
    watched.miner?.(failing);
    watched.miner?.(miner({ id: 2 }));
    expect([reported, errors]).toEqual([["-1", "2", "-1", "2"], ["miner 1 cannot be shown"]]);
    watched.read?.(farmOf(miner({ id: 1 })));
    watched.miner?.(failing);
    expect(errors).toHaveLength(2);
  });

  test("are those that exist, and the unknown name is reported", () => {
    const farm = farmOf(miner({ id: 1 }));
    const { miners, fault } = selectMiners(farm, { scope: "miners", miners: "Rig 1, Rig 2" });
    expect([miners.map(({ id }) => id), fault?.placeholders.name]).toEqual([[1], "Rig 2"]);
    const { watched, reported, faults } = open({ scope: "miners", miners: ["Rig 1", "Rig 2"] });
    watched.read?.(farm);
    const found = miner({ id: 2 });
    farm.miners.set(2, found);
    watched.miner?.(found);
    expect(reported).toEqual(["1", "2"]);
    expect(faults.map((each) => each?.code ?? null)).toEqual(["not.found", null]);
  });

  test("are reported once more after the service was lost, without the guesses in between", () => {
    const { watched, reported, farm } = open({ scope: "all" });
    watched.phase?.({ kind: "connecting" });
    farm.miners.set(1, miner({ id: 1 }));
    watched.phase?.({ kind: "connected" });
    watched.read?.(farm);
    watched.phase?.({ kind: "connecting" });
    watched.phase?.({ kind: "idle" });
    watched.miner?.(gone(1));
    watched.removed?.(1);
    expect(reported).toEqual(["1", "lost"]);
    watched.phase?.({ kind: "connected" });
    watched.miner?.(miner({ id: 1 }));
    expect(reported).toEqual(["1", "lost", "1", "1"]);
  });
});
