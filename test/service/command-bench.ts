import { pino } from "pino";
import { statusOf } from "../../src/fleet/state.ts";
import { CommandExecutor, type CommandTimeouts } from "../../src/service/commands/command-executor.ts";
import { type Step, setControl } from "../../src/service/commands/steps.ts";
import { isForSafety } from "../../src/service/power/precedence.ts";
import { type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { declaredRig } from "../declared-rig.ts";
import { openPoller, workers } from "../pollers.ts";
import { type Bench, type BenchOptions, caller, closeBenches, openBench } from "./bench.ts";

/** What still has to be closed, besides benches. */
export const closers: (() => Promise<void>)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0)) await close();
  await closeBenches();
}

export const token = "token-of-the-rig";
export const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
export const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
export const xmrig: RigSpec = { kind: "xmrig", warm: true, token, restricted: false };

/** A service with one rig. */
export async function withOne(
  spec: RigSpec,
  options: BenchOptions = {},
): Promise<{ bench: Bench; id: number; rig: SimulatedRig }> {
  const bench = await openBench({ ...options, rigs: [spec] });
  const rig = bench.rig(0);
  return { bench, rig, id: await bench.add(rig.address, { token, driver: spec.kind }) };
}

export const states = async (bench: Bench, id: number): Promise<string[]> =>
  (await bench.commands(id)).map(({ action, state }) => `${action} ${state}`);

/** A rig and its executor, with timeouts that suit a test. */
export async function steered(
  timeouts: Omit<CommandTimeouts, "queueMs"> & { readonly queueMs?: number },
  interval = 3_600_000,
  spec: RigSpec = axeos,
  timeout = 1_000,
  over?: Store,
) {
  const farm = await startFarm({ rigs: [spec] });
  const store = over ?? (await openStore({ file: ":memory:", now: Date.now }));
  let answered = 0;
  const fleet = openPoller({
    listener: {
      read: () => {
        answered += 1;
      },
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
    timeout,
    remember: async () => undefined,
    now: Date.now,
  });
  const all = { queueMs: 60_000, ...timeouts };
  const executor = new CommandExecutor(fleet, store, pino({ level: "silent" }), all, isForSafety);
  closers.push(async () => {
    const closed = executor.close();
    await fleet.close();
    await closed;
    await store.close();
    await farm.close();
  });
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("the farm has one rig");
  const miner = fleet.put(declaredRig(rig, 1, interval));
  // A worker thread takes a moment to start.
  if (workers > 0) await fleet.poll(miner);
  const order = { minerId: 1, minerName: "one", action: "set", parameters: {} };
  const run = (...steps: Step[]) => executor.run(miner, order, caller, steps);
  const set = (key: string, value: string) => run(setControl(key, value));
  const status = () => statusOf(miner.state, false);
  const switchOff = () => set("mining", "false");
  const row = async () => (await store.commands.list())[0];
  const poll = () => fleet.poll(miner);
  return { rig, miner, store, executor, run, set, status, switchOff, row, poll, reads: () => answered };
}

/** Breaks the rig from its first write on. */
export function breakAtWrite(rig: SimulatedRig, fault: SimulatedRig["fault"]): void {
  const { writes } = rig.requests;
  writes.push = (...items) => {
    if (writes.length === 0) rig.fault = fault;
    return Array.prototype.push.apply(writes, items);
  };
}

/** What something was when the rig was told the first thing from now on. */
export function atWrite<T>(rig: SimulatedRig, look: () => T): () => T | undefined {
  const { writes } = rig.requests;
  let seen: T | undefined;
  writes.push = (...items) => {
    seen ??= look();
    return Array.prototype.push.apply(writes, items);
  };
  return () => seen;
}
