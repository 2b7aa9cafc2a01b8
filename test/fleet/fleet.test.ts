import { afterEach, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { FleetOptions } from "../../src/fleet/fleet.ts";
import type { Poller } from "../../src/fleet/poller.ts";
import { statusOf, unknownRig } from "../../src/fleet/state.ts";
import { type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { declaredRig } from "../declared-rig.ts";
import { ownHost } from "../own-host.ts";
import { openPoller } from "../pollers.ts";
import { until } from "../until.ts";

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function openFleet(options: Partial<FleetOptions> = {}): Poller {
  const fleet = openPoller({
    listener: {
      read: () => undefined,
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
    // Only against hanging: a busy machine may take long for a read.
    timeout: 30_000,
    remember: async () => undefined,
    now: Date.now,
    ...options,
  });
  closers.push(() => fleet.close());
  return fleet;
}

async function openFarm(rigs: readonly RigSpec[]): Promise<readonly SimulatedRig[]> {
  const host = ownHost();
  const farm = await startFarm({ rigs: rigs.map((rig) => ({ host, ...rig })) });
  closers.push(() => farm.close());
  return farm.rigs;
}

const axeos: RigSpec = { kind: "axeos", warm: true };

describe("a fleet", () => {
  test("reads a new rig automatically, and no more once it is removed or closed", async () => {
    const [rig, other] = await openFarm([axeos, axeos]);
    if (rig === undefined || other === undefined) throw new Error("two rigs");
    const told: number[] = [];
    const fleet = openFleet({
      listener: {
        read: ({ id }) => void told.push(id),
        disconnected: () => undefined,
        refused: () => undefined,
        failed: () => undefined,
      },
    });
    const first = fleet.put(declaredRig(rig, 1));
    fleet.put(declaredRig(other, 2));
    await fleet.settled();
    expect(told.toSorted()).toEqual([1, 2]);
    fleet.remove(1);
    await fleet.poll(first);
    expect(told).toHaveLength(2);
    expect(fleet.get(1)).toBeUndefined();
    expect(fleet.size).toBe(1);
  });

  test("does not read rigs that are disabled", async () => {
    const [rig, other] = await openFarm([axeos, axeos]);
    if (rig === undefined || other === undefined) throw new Error("two rigs");
    const fleet = openFleet();
    fleet.put({ ...declaredRig(rig, 1), disabled: true });
    const read = fleet.put(declaredRig(other, 2));
    await fleet.settled();
    expect(read.state.at).not.toBeNull();
    expect(rig.requests.count).toBe(0);
  });

  test("reads a remembered rig at once, without recognising it again", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    const unnamed = { ...declaredRig(rig, 1), driver: null };
    let remembered = unknownRig;
    const earlier = openFleet({
      remember: async (_, patch) => {
        remembered = { ...remembered, ...patch };
      },
    });
    const first = earlier.put(unnamed);
    await earlier.settled();
    earlier.close();
    const before = rig.requests.count;
    const later = openFleet();
    const again = later.put(unnamed, remembered);
    await later.settled();
    // Its figures, and the page about its chip.
    expect(rig.requests.count - before).toBe(2);
    expect(again.state).toMatchObject({ uid: first.state.uid, driver: "axeos", identity: first.state.identity });
  });

  test("asks the second rig of a firmware only which one it is and what it allows", async () => {
    const cgminer: RigSpec = { kind: "cgminer", warm: true };
    const [rig, other] = await openFarm([cgminer, cgminer]);
    if (rig === undefined || other === undefined) throw new Error("two rigs");
    const fleet = openFleet();
    for (const [id, each] of [rig, other].entries()) {
      const put = fleet.put({ ...declaredRig(each, id + 1), driver: null });
      await fleet.settled();
      expect(put.state.controls).toHaveLength(4);
    }
    expect(rig.requests.count).toBeGreaterThan(10);
    // It is recognised, read, and asked whether this address is privileged.
    expect(other.requests.count).toBe(3);
  });

  test("settles when the first read of each rig and all that was asked for are over", async () => {
    const [slow, quick, off] = await openFarm([{ ...axeos, fault: { name: "delay", ms: 300 } }, axeos, axeos]);
    if (slow === undefined || quick === undefined || off === undefined) throw new Error("three rigs");
    off.powerOff();
    const fleet = openFleet();
    const rigs = [slow, quick, off].map((rig, index) => fleet.put(declaredRig(rig, index + 1)));
    await fleet.settled();
    // The one that is off may have been tried again meanwhile.
    expect(rigs.map(({ state }) => [state.at !== null, state.missed > 0])).toEqual([
      [true, false],
      [true, false],
      [false, true],
    ]);
    const isDone: boolean[] = [];
    const [first] = rigs;
    if (first === undefined) throw new Error("three rigs");
    void first.exclusively(async () => {
      await fleet.read(first);
      isDone.push(true);
    });
    await fleet.settled();
    expect(isDone).toEqual([true]);
  });

  test("never has two exchanges with a rig at once", async () => {
    const [rig] = await openFarm([{ ...axeos, fault: { name: "delay", ms: 30 } }]);
    if (rig === undefined) throw new Error("one rig");
    const fleet = openFleet();
    const miner = fleet.put(declaredRig(rig, 1));
    let now = 0;
    let most = 0;
    const turn = () =>
      miner.exclusively(async () => {
        now += 1;
        most = Math.max(most, now);
        await fleet.read(miner);
        now -= 1;
      });
    await Promise.all([turn(), turn(), fleet.poll(miner), turn()]);
    expect(most).toBe(1);
    expect(miner.busy).toBe(false);
  });

  test("continues to read while nothing can be stored, and stores it when that is possible again", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    let full = true;
    const written: string[] = [];
    const fleet = openFleet({
      remember: async (_, remembered) => {
        if (full) throw new RigbridgeError("store.full", "no space left");
        written.push(...Object.keys(remembered));
      },
    });
    const miner = fleet.put(declaredRig(rig, 1));
    await fleet.poll(miner);
    expect(miner.state).toMatchObject({ missed: 0, trouble: null, uid: null });
    expect(statusOf(miner.state, false)).toBe("Mining");
    full = false;
    await fleet.poll(miner);
    expect(miner.state.uid).toMatch(/^[0-9a-f]{12}$/);
    expect(written).toEqual(expect.arrayContaining(["uid", "controls", "layout"]));
    const { length } = written;
    await fleet.poll(miner);
    expect(written).toHaveLength(length);
  });

  test("reads a rig that has not answered yet again soon, however long its interval is", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    rig.powerOff();
    const miner = openFleet().put(declaredRig(rig, 1));
    // The second one may follow at once: these reads are 10 s apart by a grid of their own.
    await until(() => miner.state.missed >= 1, "the first read to be missed");
    expect(statusOf(miner.state, false)).toBe("Starting");
    await until(() => miner.state.missed >= 2, "the second read");
  });

  test.each(["an earlier run", "this run"])(
    "reports that a rig is off, and whether %s has seen it off",
    async (run) => {
      const [rig] = await openFarm([axeos]);
      if (rig === undefined) throw new Error("one rig");
      const known: boolean[] = [];
      const fleet = openFleet({
        listener: {
          read: () => undefined,
          disconnected: (_, isKnown) => void known.push(isKnown),
          refused: () => undefined,
          failed: () => undefined,
        },
      });
      const reason = { code: "network", text: "connection refused", since: 1 } as const;
      rig.powerOff();
      const miner = fleet.put(declaredRig(rig, 1), { ...unknownRig, reason: run === "this run" ? null : reason });
      for (let read = 0; read < 4; read += 1) await fleet.poll(miner);
      expect(known).toEqual([run !== "this run"]);
      await rig.powerOn();
      await fleet.poll(miner);
      rig.powerOff();
      for (let read = 0; read < 4; read += 1) await fleet.poll(miner);
      expect(known).toEqual([run !== "this run", false]);
    },
  );

  test("reports once that a rig is another miner already, and never that it cannot be reached", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    const told: string[] = [];
    const fleet = openFleet({
      listener: {
        read: () => undefined,
        disconnected: () => void told.push("disconnected"),
        refused: (_, message) => void told.push(message),
        failed: () => undefined,
      },
      remember: async () => {
        throw new RigbridgeError("in.use", "known elsewhere");
      },
    });
    const miner = fleet.put(declaredRig(rig, 1));
    for (let read = 0; read < 5; read += 1) await fleet.poll(miner);
    expect(told).toEqual(["known elsewhere"]);
    expect(miner.state).toMatchObject({ reading: null, trouble: { code: "in.use" } });
  });

  test("recognises a rig anew when its answers do not fit, unless its driver was set", async () => {
    const [rig, other] = await openFarm([axeos, { kind: "cgminer", warm: true }]);
    if (rig === undefined || other === undefined) throw new Error("two rigs");
    const fleet = openFleet();
    const first = fleet.put({ ...declaredRig(rig, 1), driver: null });
    await fleet.poll(first);
    const remembered = { ...first.state, uid: null };
    const moved = fleet.put({ ...declaredRig(other, 2), driver: null }, remembered);
    const named = fleet.put(declaredRig(other, 3), { ...remembered, driver: null });
    const misled = fleet.put({ ...declaredRig(other, 4), driver: "axeos" }, remembered);
    for (let read = 0; read < 4; read += 1) await Promise.all([moved, named, misled].map((each) => fleet.poll(each)));
    expect(moved.state).toMatchObject({ driver: "cgminer", missed: 0, trouble: null });
    expect(named.state).toMatchObject({ driver: "cgminer", missed: 0 });
    expect(misled.state.driver).toBe("axeos");
    // On a busy machine the fleet's own first read comes between them.
    expect(misled.state.missed).toBeGreaterThanOrEqual(4);
  });

  test("reports once that another rig answers, though two answer in turn", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    const told: string[] = [];
    const clock = stoppedClock();
    const fleet = openFleet({
      monotonicNow: clock.now,
      listener: {
        read: () => undefined,
        disconnected: () => void told.push("disconnected"),
        refused: (_, message) => void told.push(message),
        failed: () => undefined,
      },
    });
    const miner = fleet.put(declaredRig(rig, 1));
    for (let turn = 0; turn < 3; turn += 1) {
      rig.fault = null;
      await fleet.poll(miner);
      expect(miner.state).toMatchObject({ missed: 0, trouble: null });
      rig.fault = "other-rig";
      await fleet.poll(miner);
      expect(miner.state).toMatchObject({ reading: null, trouble: { code: "rig.other" } });
    }
    expect(told).toEqual([expect.stringContaining("02:51:FF:FF:FF:FF")]);
    rig.fault = null;
    await fleet.poll(miner);
    rig.fault = "other-rig";
    clock.pass(3_600);
    await fleet.poll(miner);
    expect(told).toHaveLength(2);
  });

  test("accepts a reading without an identity, but not for a command", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    const fleet = openFleet();
    const miner = fleet.put(declaredRig(rig, 1));
    await fleet.poll(miner);
    rig.fault = "wrong-types";
    await fleet.poll(miner);
    expect(miner.state.trouble).toBeNull();
    miner.doubt();
    await fleet.poll(miner);
    expect(miner.state.trouble).toMatchObject({ code: "rig.garbled", message: expect.stringContaining("which rig") });
    rig.fault = null;
    await fleet.poll(miner);
    expect(miner.state.trouble).toBeNull();
  });

  test("reports a restarting rig as away only when the time for the restart is over", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    const clock = stoppedClock();
    const told: string[] = [];
    const fleet = openFleet({
      monotonicNow: clock.now,
      listener: {
        read: ({ state }) => void told.push(statusOf(state, false)),
        disconnected: () => void told.push("away"),
        refused: () => undefined,
        failed: () => undefined,
      },
    });
    const miner = fleet.put(declaredRig(rig, 1, 10_000));
    await fleet.poll(miner);
    rig.powerOff();
    miner.restarts(60);
    told.length = 0;
    for (let seconds = 0; seconds < 60; seconds += 10) {
      clock.pass(10);
      await fleet.poll(miner);
    }
    expect(told).toEqual(["Mining", "Mining", "Starting", "Starting", "Starting", "Disconnected", "away"]);
  });

  test("recognises a rig anew when it was silent for long", async () => {
    const [rig] = await openFarm([axeos]);
    if (rig === undefined) throw new Error("one rig");
    const fleet = openFleet();
    rig.powerOff();
    const miner = fleet.put({ ...declaredRig(rig, 1), driver: null }, { ...unknownRig, driver: "cgminer" });
    for (let read = 0; read < 10; read += 1) await fleet.poll(miner);
    expect(miner.state.driver).toBe("cgminer");
    expect(miner.state.missed).toBeGreaterThanOrEqual(10);
    await rig.powerOn();
    await fleet.poll(miner);
    expect(miner.state).toMatchObject({ driver: "axeos", missed: 0, trouble: null });
  });
});
