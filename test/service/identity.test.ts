import { afterEach, describe, expect, test } from "@jest/globals";
import type { Control } from "../../src/contract/readings.ts";
import type { Input } from "../../src/contract/service.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { isProgram, type PlugKind, type PoolSpec, type SimulatedRig, startPlug } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { specimens } from "../docs/specimens.ts";
import { openDoor, relayTo } from "../door.ts";
import { problem } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closers.splice(0)) await close();
});

type Specimen = (typeof specimens)[number];

/** Protocols that say neither MAC nor serial (an XMRig does on most hosts). */
const isNameless = ({ rigs, driver, spec }: Specimen): boolean =>
  driver === "cgminer" || rigs === "XMRig" || isProgram(spec.kind);
/** Without a login nothing can be told. */
const steerable = specimens.filter(({ rigs }) => rigs !== "Antminer without its login");
/** Two alike cannot be told apart by what plain cgminer and mining programs say. */
const named = steerable.filter(
  // MSKMiner takes no commands.
  ({ driver, spec }) => driver !== "cgminer" && driver !== "mskminer" && !isProgram(spec.kind),
);
/** Those that keep a session or token from one command to the next, with a switch that is told in it. */
const withSession = [
  ["WhatsMiner with API v2", "mining"],
  ["Braiins OS with REST (25.07 and later)", "mining"],
  ["Braiins OS before REST (22.08)", "locate"],
  ["VNish", "mining"],
] as const;

const specimenOf = (rigs: string): Specimen => {
  const found = specimens.find((each) => each.rigs === rigs);
  if (found === undefined) throw new Error(`the table has no ${rigs}`);
  return found;
};

const switchedOn = (controls: readonly Control[], key: string): boolean =>
  controls.find((each) => each.key === key)?.value === true;

const blankPool: Omit<Input<"savePool">, "url"> = {
  id: 0,
  description: undefined,
  coinClass: undefined,
  coinShortName: undefined,
  coinAlgorithm: undefined,
  workerName: undefined,
  walletAddress: undefined,
  plainWorkerPassword: undefined,
};

/** What its owner says of it. */
const said = ({ driver, credentials: { username, password, token } = {} }: Specimen) => ({
  driver,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(token === undefined ? {} : { token }),
});

/** A miner at an address that can be given to a second rig of the same kind and with the same login. */
async function swappable(specimen: Specimen, other: { readonly pools?: PoolSpec[] } = {}) {
  const { spec } = specimen;
  const rigs = [spec, { ...spec, ...other }].map((each) => ({ ...each, warm: true, restartSeconds: 0 }));
  const bench = await openBench({ rigs });
  const [first, second] = [bench.rig(0), bench.rig(1)];
  const door = await openDoor(first);
  closers.push(door.close);
  const id = await bench.add(door.address, said(specimen));
  const miner = await bench.get(id);
  return { bench, id, first, second, swap: () => door.leadTo(second), miner };
}

/** Something that the rig would do for it: the first of its switches, else what it does at once. */
function settingFor(controls: readonly Control[]): { readonly property: string; readonly value: string } {
  const control = controls.find(({ kind }) => kind === "switch") ?? controls.find(({ kind }) => kind === "trigger");
  if (control === undefined) throw new Error("this rig has no switch and no trigger");
  return { property: control.key, value: String(control.value !== true) };
}

/** An S9 is asked by a POST whether it blinks. */
const writesOf = ({ requests }: SimulatedRig) => requests.writes.filter((write) => !write.includes("onPageLoaded"));

/** Does something when the rig has said who it is, and before a byte of the command leaves. */
function whenSent({ store: { commands } }: Bench, work: () => void): void {
  const move = commands.move.bind(commands);
  commands.move = (id, state, message) => {
    if (state === "sent") work();
    return move(id, state, message);
  };
}

test("the table has rigs of every driver", () => {
  expect(new Set(steerable.map(({ driver }) => driver))).toEqual(new Set(drivers.map(({ id }) => id)));
});

test.each(steerable.map((each) => [each.rigs, each] as const))(
  "%s: says which rig it is, or is known not to",
  async (_, specimen) => {
    const { miner } = await swappable(specimen);
    expect((miner.identity?.mac ?? miner.identity?.serial) === null).toBe(isNameless(specimen));
  },
);

describe.each(named.map((each) => [each.rigs, each] as const))(
  "%s: another rig has the address by now",
  (_, specimen) => {
    test("and gets no command; the row shows why", async () => {
      const { bench, id, first, second, swap, miner } = await swappable(specimen);
      const setting = settingFor(miner.controls);
      swap();
      expect(await problem(bench.act(id, { action: "set", ...setting }))).toMatchObject({ code: "rig.other" });
      expect([writesOf(first), writesOf(second)]).toEqual([[], []]);
      const [row] = await bench.commands(id);
      expect(row).toMatchObject({ state: "failed", message: expect.stringContaining("Another rig answers at") });
    });

    test("when a bulk action reaches it: it gets no command, and the result shows why", async () => {
      const { bench, id, first, second, swap, miner } = await swappable(specimen);
      const parameters = settingFor(miner.controls);
      swap();
      const asked = { action: "set" as const, parameters, miners: [id], parallel: 1, delay: 0, dryRun: false };
      const job = await bench.service.startBulkAction(asked, caller);
      const look = () => bench.service.getBulkAction({ id: job.id }, caller);
      await bench.idle();
      expect((await look()).results).toMatchObject([
        { minerId: id, state: "failed", message: expect.stringContaining("Another rig answers at") },
      ]);
      expect([writesOf(first), writesOf(second)]).toEqual([[], []]);
    });
  },
);

test.each(named.filter(({ driver }) => ["axeos", "xmrig"].includes(driver)).map((each) => [each.rigs, each] as const))(
  "%s: another one that is slow has the address a moment after the last read, and gets no command",
  async (_, specimen) => {
    const { bench, id, first, second, swap } = await swappable(specimen);
    for (const rig of [first, second]) rig.fault = { name: "delay", ms: 600 };
    await bench.poll(id);
    swap();
    expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({ code: "rig.other" });
    expect([writesOf(first), writesOf(second)]).toEqual([[], []]);
    expect((await bench.commands(id)).map(({ state }) => state)).toEqual(["failed"]);
  },
);

describe.each(withSession)("%s: another rig has the address between the read and the write", (rigs, key) => {
  test("and its refusal of the session that was open brings it no new one", async () => {
    const specimen = specimenOf(rigs);
    const { bench, id, second, swap, miner } = await swappable(specimen);
    const before = switchedOn(miner.controls, key);
    const set = (value: boolean) => bench.act(id, { action: "set", property: key, value: String(value) });
    // A session that is kept from one command to the next.
    for (const value of [!before, before]) await set(value);
    whenSent(bench, swap);
    expect(await problem(set(!before))).toMatchObject({ code: "rig.other" });
    const other = await bench.add(second.address, said(specimen));
    expect(switchedOn((await bench.get(other)).controls, key)).toBe(before);
  });
});

test("a session that a rig has lost is opened again for the same rig, and the command is done once", async () => {
  const clock = stoppedClock();
  const bench = await openBench({
    rigs: [{ kind: "whatsminer", generation: "v2", password: "admin", warm: true }],
    clock: clock.now,
  });
  const id = await bench.add(bench.rig(0).address, { driver: "whatsminer", username: "admin", password: "admin" });
  await bench.act(id, { action: "locate", on: true });
  clock.pass(31 * 60);
  await bench.act(id, { action: "locate", on: false });
  expect(bench.rig(0).requests.writes).toHaveLength(2);
  expect((await bench.commands(id)).map(({ state }) => state)).toEqual(["done", "done"]);
});

test("a rig that has the address after the first step of a command does not get the second", async () => {
  // It is asked for its MAC now and then only, and adds a pool and chooses it in two steps.
  const bosminer = specimenOf("Braiins OS before REST (22.08)");
  const third = { url: "stratum+tcp://third.example.com:3333", user: "worker" };
  // At home all rigs mine at the same pools, so the other rig shows what the first one was told.
  const { bench, id, first, second, swap } = await swappable(bosminer, {
    pools: [{ url: "stratum+tcp://home.example.com:3333", user: "worker" }, third],
  });
  const { id: poolId } = await bench.service.savePool({ ...blankPool, url: third.url, workerName: third.user }, caller);
  const { writes } = first.requests;
  writes.push = (...items) => {
    swap();
    return Array.prototype.push.apply(writes, items);
  };
  const changed = bench.act(id, { action: "change_pool", pool_id: poolId, pool_type: "single" });
  expect(await problem(changed)).toMatchObject({ code: "rig.other" });
  expect(writes).toHaveLength(1);
  expect(second.requests.writes).toEqual([]);
});

describe.each<PlugKind>(["shelly1", "shelly2", "tasmota"])(
  "a plug (%s) whose address another one has by now",
  (kind) => {
    test("is not switched, nor is the other one; the row shows why", async () => {
      const bench = await openBench({
        rigs: [
          { kind: "cgminer", warm: true },
          { kind: "cgminer", warm: true },
        ],
      });
      const [own, others] = [bench.rig(0), bench.rig(1)];
      const plug = await startPlug({ kind, rig: own, mac: "025150000011" });
      const other = await startPlug({ kind, rig: others, mac: "025150000012" });
      closers.push(plug.close, other.close);
      const door = await openDoor(relayTo(plug.address));
      closers.push(door.close);
      const id = await bench.add(own.address, {
        supply: {
          type: kind === "tasmota" ? "tasmota" : "shelly",
          address: door.address,
          channel: 0,
          cutPower: true,
          delay: 0,
        },
      });
      door.leadTo(relayTo(other.address));
      expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({ code: "rig.other" });
      expect([plug.switched, other.switched]).toEqual([0, 0]);
      const [row] = await bench.commands(id);
      expect(row).toMatchObject({ state: "failed", message: expect.stringContaining("Another plug answers at") });
    });
  },
);
