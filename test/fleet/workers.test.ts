import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { momentNow, SendDeadline, sendingBefore } from "../../src/async/send-deadline.ts";
import type { PolledRig } from "../../src/fleet/poller.ts";
import { WorkerPoller, type WorkerPollerOptions } from "../../src/fleet/workers/worker-poller.ts";
import { CommandExecutor } from "../../src/service/commands/command-executor.ts";
import { setControl } from "../../src/service/commands/steps.ts";
import { type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { declaredRig } from "../declared-rig.ts";
import { ownHost } from "../own-host.ts";
import { limits, until } from "../until.ts";
import { failThread, faultyThread, type ThreadFault } from "./faulty-threads.ts";

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Watched {
  readonly poller: WorkerPoller;
  /** Epoch ms of the good reads of each rig. */
  readonly reads: Map<number, number[]>;
  readonly ends: { readonly message: string; readonly rigs: number; readonly restartMs: number }[];
}

function open(options: Partial<WorkerPollerOptions> = {}): Watched {
  const reads = new Map<number, number[]>();
  const ends: Watched["ends"] = [];
  const poller = new WorkerPoller({
    workers: 2,
    // Only against hanging: a busy machine may take long for a read.
    timeout: 10_000,
    remember: async () => undefined,
    now: Date.now,
    poolLogins: () => [],
    ended: ({ message }, { rigs, restartMs }) => void ends.push({ message, rigs, restartMs }),
    recovered: () => undefined,
    file: faultyThread,
    heapMb: 96,
    listener: {
      read: ({ id, state: { missed, at } }) => {
        if (missed === 0 && at !== null) reads.set(id, [...(reads.get(id) ?? []), at]);
      },
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
    ...options,
  });
  closers.push(() => poller.close());
  return { poller, reads, ends };
}

async function openFarm(
  count: number,
  spec: RigSpec = { kind: "axeos", warm: true },
): Promise<readonly SimulatedRig[]> {
  const host = ownHost();
  const farm = await startFarm({ rigs: Array.from({ length: count }, () => ({ host, ...spec })) });
  closers.push(() => farm.close());
  return farm.rigs;
}

function put(poller: WorkerPoller, rigs: readonly SimulatedRig[], interval = 1_000): PolledRig[] {
  return rigs.map((rig, index) => poller.put(declaredRig(rig, index + 1, interval)));
}

const countOf = ({ reads }: Watched, id: number): number => reads.get(id)?.length ?? 0;
/** Until all of so many rigs have been read so often from now on. */
const readAgain = async (watched: Watched, rigs: number, times: number): Promise<void> => {
  const ids = Array.from({ length: rigs }, (_, index) => index + 1);
  const before = new Map(ids.map((id) => [id, countOf(watched, id)]));
  await until(() => ids.every((id) => countOf(watched, id) >= (before.get(id) ?? 0) + times), "every rig to be read");
};

describe("a worker thread that", () => {
  test.each<[ThreadFault, number]>([
    ["throws", 0],
    ["runs out of memory", 0],
    // Beats that do not come, one a second.
    ["hangs", 8],
  ])(
    "%s is replaced, its rigs go on as they were, and those of the others are read all the time",
    async (fault, readsMeanwhile) => {
      const watched = open();
      const rigs = put(watched.poller, await openFarm(6));
      await readAgain(watched, 6, 2);
      const energies = rigs.map(({ state }) => state.energy ?? 0);
      const startedAt = rigs.map(({ state }) => state.startedAt);
      const before = rigs.map(({ id }) => countOf(watched, id));
      await failThread(fault);
      await until(() => watched.ends.length > 0, "the thread to end");
      // Of the six, three were in the thread; the new one begins at once.
      expect(watched.ends).toMatchObject([{ rigs: 3, restartMs: 0 }]);
      const meanwhile = rigs.map(({ id }, index) => countOf(watched, id) - (before[index] ?? 0));
      expect(meanwhile.filter((reads) => reads >= readsMeanwhile).length).toBeGreaterThanOrEqual(3);
      await readAgain(watched, 6, 2);
      for (const [index, { state }] of rigs.entries()) {
        expect(state).toMatchObject({ missed: 0, trouble: null, startedAt: startedAt[index] });
        expect(state.energy).toBeGreaterThanOrEqual(energies[index] ?? 0);
        expect(state.reading?.readings.hashrate).toBeGreaterThan(0);
      }
      expect(watched.ends).toHaveLength(1);
    },
  );

  test("ends again and again is started ever later", async () => {
    const watched = open({ workers: 1 });
    put(watched.poller, await openFarm(1));
    await readAgain(watched, 1, 1);
    for (let time = 1; time <= 3; time += 1) {
      await watched.poller.kill(1);
      await until(() => watched.ends.length >= time, "the thread to end");
      await readAgain(watched, 1, 1);
    }
    expect(watched.ends.map(({ restartMs }) => restartMs)).toEqual([0, 1_000, 2_000]);
  });

  test("ends while a command is under way leaves the rest to the next reads, and the command is not sent again", async () => {
    const watched = open({ workers: 1, timeout: 3_000 });
    const [simulated] = await openFarm(1);
    const [rig] = put(watched.poller, simulated === undefined ? [] : [simulated], 3_600_000);
    if (simulated === undefined || rig === undefined) throw new Error("one rig");
    await watched.poller.poll(rig);
    const store = await openStore({ file: ":memory:", now: Date.now });
    closers.push(() => store.close());
    const executor = new CommandExecutor(watched.poller, store, pino({ level: "silent" }), {
      queueMs: 60_000,
      requestMs: 20_000,
      answerMs: 5_000,
      changeMs: 3_000,
    });
    closers.push(() => executor.close());
    const { writes } = simulated.requests;
    writes.push = (...items) => {
      // The rig gets the command, and its answer nobody.
      simulated.fault = { name: "delay", ms: 60_000 };
      void watched.poller.kill(1);
      return Array.prototype.push.apply(writes, items);
    };
    const spec = { minerId: 1, minerName: "one", action: "set", parameters: {} };
    await executor.run(rig, spec, { actor: "test" }, [setControl("reboot", "true")]).catch(() => undefined);
    await until(async () => (await store.commands.list())[0]?.state === "unknown", "the command to be unknown");
    simulated.fault = null;
    await watched.poller.poll(rig);
    expect(rig.state).toMatchObject({ missed: 0, trouble: null });
    expect(writes).toHaveLength(1);
  });

  test("ends while commands wait for their rig keeps them in turn with the next one", async () => {
    const watched = open({ workers: 1 });
    const [rig] = put(watched.poller, await openFarm(1), 3_600_000);
    if (rig === undefined) throw new Error("one rig");
    await watched.poller.poll(rig);
    const order: string[] = [];
    const first = rig.exclusively(async () => {
      await watched.poller.kill(1);
      await watched.poller.read(rig);
      await watched.poller.read(rig);
      order.push("first");
    });
    const second = rig.exclusively(async () => {
      await watched.poller.read(rig);
      order.push("second");
    });
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
    expect(rig.state).toMatchObject({ missed: 0, trouble: null });
    expect(rig.busy).toBe(false);
  });
});

test("a rig in a worker thread is sent nothing once its service may not act any more, and is read all the same", async () => {
  const { poller } = open({ workers: 1 });
  const [simulated] = await openFarm(1);
  const [rig] = put(poller, simulated === undefined ? [] : [simulated], 3_600_000);
  if (simulated === undefined || rig === undefined) throw new Error("one rig");
  await poller.poll(rig);
  const lease = new SendDeadline();
  const reboot = () => sendingBefore(lease, () => rig.rig().set("reboot", "true", AbortSignal.timeout(limits.waitMs)));
  await expect(reboot()).rejects.toMatchObject({ code: "rig.unconfirmed" });
  expect(simulated.requests.writes).toEqual([]);
  await poller.poll(rig);
  expect(rig.state.trouble).toBeNull();
  lease.moveTo(momentNow(), limits.waitMs);
  await reboot();
  expect(simulated.requests.writes).toHaveLength(1);
});

test("a main thread that is busy gets of each rig the newest read, in no more batches than it has taken", async () => {
  const watched = open({ workers: 1, timeout: 1_000 });
  put(watched.poller, await openFarm(8), 1_000);
  await readAgain(watched, 8, 1);
  const before = new Map([...watched.reads].map(([id, times]) => [id, times.length]));
  const busyUntil = performance.now() + 8_000;
  while (performance.now() < busyUntil);
  const from = Date.now();
  await until(() => [...watched.reads.values()].every((times) => (times.at(-1) ?? 0) >= from - 1_500), "newer reads");
  // Four batches, and what had come together until the first credit.
  for (const [id, times] of watched.reads) expect(times.length - (before.get(id) ?? 0)).toBeLessThan(8);
});

test("a rig that floods delays no other", async () => {
  const watched = open({ workers: 1, timeout: 1_000 });
  const farm = await openFarm(20, { kind: "cgminer", warm: true });
  for (const rig of farm.slice(0, 3)) rig.fault = "endless";
  put(watched.poller, farm);
  await until(() => [...watched.reads.keys()].length >= 17, "the others to be read");
  const before = new Map(watched.reads);
  await until(() => countOf(watched, 20) >= (before.get(20)?.length ?? 0) + 10, "ten reads");
  for (let id = 4; id <= 20; id += 1)
    expect(countOf(watched, id) - (before.get(id)?.length ?? 0)).toBeGreaterThanOrEqual(8);
});
