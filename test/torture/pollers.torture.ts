import { pino } from "pino";
import { WorkerPoller } from "../../src/fleet/workers/worker-poller.ts";
import { CommandExecutor } from "../../src/service/commands/command-executor.ts";
import { setControl } from "../../src/service/commands/steps.ts";
import { type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { declaredRig } from "../declared-rig.ts";
import { failThread, faultyThread, type ThreadFault } from "../fleet/faulty-threads.ts";
import { until } from "../until.ts";
import { startFarmProcess } from "./farm-process.ts";
import { megabytes, Verdict, wait, watchProcess } from "./measure.ts";
import { say } from "./say.ts";

/**
 * 1,000 rigs that are read every 2 s in two worker threads, which are killed, throw, run out of memory and hang in turn for
 * as many minutes as are named (three), while rigs flood and others get commands: what that costs the reads of the other
 * thread, and whether a rig gets any command twice.
 */
const minutes = Number(process.argv[2] ?? 3);
const interval = 2_000;
const count = 1_000;
const flooding = 20;
/** For a new thread to load its modules and get its rigs, beside all else on two cores. */
const loadMs = 5_000;
const commanded = 40;
const ports = { cgminer: 24_628, axeos: 24_680, xmrig: 24_780 };
const faults: readonly ("is killed" | ThreadFault)[] = ["is killed", "throws", "runs out of memory", "hangs"];
const verdict = new Verdict();
const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

const farm = await startFarmProcess(count, { cgminer: 3, axeos: 1, xmrig: 1 }, ports);
/** In this process, where what they were told can be looked up. */
const steered = await startFarm({
  rigs: Array.from({ length: commanded }, (): RigSpec => ({ kind: "axeos", warm: true, host: "127.106.1.1" })),
});
const store = await openStore({ file: ":memory:", now: Date.now });
/** Epoch ms of the good reads of each rig. */
const reads = new Map<number, number[]>();
/** The threads that ended, what for, and after how many ms they are started again. */
const ends: { readonly message: string; readonly worker: number; readonly restartMs: number }[] = [];
const poller = new WorkerPoller({
  workers: 2,
  file: faultyThread,
  heapMb: 160,
  timeout: 1_500,
  now: Date.now,
  remember: async () => undefined,
  poolLogins: () => [],
  ended: ({ message }, { worker, restartMs }) => void ends.push({ message, worker, restartMs }),
  recovered: () => undefined,
  listener: {
    read: ({ id, state: { missed, at } }) => {
      if (missed > 0 || at === null) return;
      const times = reads.get(id);
      if (times === undefined) reads.set(id, [at]);
      else times.push(at);
    },
    disconnected: () => undefined,
    refused: () => undefined,
    failed: () => undefined,
  },
});
const executor = new CommandExecutor(poller, store, pino({ level: "silent" }), {
  queueMs: 60_000,
  requestMs: 90_000,
  answerMs: 5_000,
  changeMs: 10_000,
});

let commands = 0;
/** The last state of each command. */
const states = new Map<number, string>();
executor.watch(({ id, state }) => void states.set(id, state));
/** What each steered rig was told, in order. */
const told = steered.rigs.map(({ requests: { writes } }) => {
  const all: string[] = [];
  writes.push = (...items) => {
    all.push(...items);
    return Array.prototype.push.apply(writes, items);
  };
  return all;
});

/** Gives each of these rigs one command after the other: never a similar frequency twice in a row. */
async function command(closing: AbortSignal): Promise<void> {
  const give = async (index: number): Promise<void> => {
    const id = count + index + 1;
    for (let turn = 0; !closing.aborted; turn += 1) {
      const rig = poller.get(id);
      if (rig === undefined) return;
      commands += 1;
      const spec = { minerId: id, minerName: "steered", action: "set", parameters: {} };
      await executor
        .run(rig, spec, { actor: "torture" }, [setControl("frequency", String(400 + ((turn * 13) % 20) * 10))])
        .catch(() => undefined);
      await wait(200);
    }
  };
  await Promise.all(steered.rigs.map((_, index) => give(index)));
}

try {
  for (const [index, { address, kind, token }] of farm.rigs.entries())
    poller.put(declaredRig({ address, kind, token }, index + 1, interval));
  for (const [index, { address, kind }] of steered.rigs.entries())
    poller.put(declaredRig({ address, kind }, count + index + 1, interval));
  await until(() => reads.size >= count + commanded, "every rig to be read", { timeoutMs: 120_000 });
  await farm.type(
    `fault ${farm.rigs
      .slice(0, flooding)
      .map(({ name }) => name)
      .join(",")} endless`,
  );
  await wait(2 * interval);
  // They went to the workers in turn.
  const workerOf = (id: number): number => (id % 2 === 1 ? 1 : 2);
  const watched = watchProcess();
  const memory = process.memoryUsage.rss();
  const closing = new AbortController();
  const commanding = command(closing.signal);
  const from = Date.now();
  const cut: { readonly at: number; readonly until: number; readonly worker: number }[] = [];
  for (let turn = 0; Date.now() - from < minutes * 60_000; turn += 1) {
    const fault = faults[turn % faults.length] ?? "throws";
    const before = ends.length;
    const at = Date.now();
    if (fault === "is killed") await poller.kill((turn % 2) + 1);
    else await failThread(fault);
    await until(() => ends.length > before, `a thread that ${fault} to end`, { timeoutMs: 60_000 });
    const { worker = 0, restartMs = 0 } = ends.at(-1) ?? {};
    // A thread that ends again and again is started after a longer and longer while.
    cut.push({ at, until: Date.now() + restartMs + loadMs, worker });
    await wait(15_000);
  }
  closing.abort();
  await commanding;
  const to = Date.now();
  const { peak, delayP99, delayMax } = watched.end();
  let [due, met] = [0, 0];
  for (let id = flooding + 1; id <= count; id += 1) {
    const times = reads.get(id) ?? [];
    const away = cut.filter(({ worker }) => worker === workerOf(id));
    for (let start = from; start + 2 * interval < to; start += interval) {
      if (away.some((each) => start + interval > each.at && start < each.until + 2 * interval)) continue;
      due += 1;
      // A read of this interval may come at its end, and take a moment.
      if (times.some((time) => time >= start && time < start + 1.5 * interval)) met += 1;
    }
  }
  const writes = told.reduce((sum, { length }) => sum + length, 0);
  const twice = told.reduce((sum, all) => sum + all.filter((write, at) => write === all[at - 1]).length, 0);
  const ended = Map.groupBy(states.values(), (state) => state);
  say(`${cut.length} threads ended: ${[...new Set(ends.map(({ message }) => message))].join("; ")}`);
  say(`  reads of the thread that goes on: ${met} of ${due} due (${((100 * met) / due).toFixed(2)} %)`);
  say(
    `  ${commands} commands, ${writes} writes: ${[...ended].map(([state, { length }]) => `${length} ${state}`).join(", ")}`,
  );
  say(`  event loop p99 ${delayP99.toFixed(1)} ms, at most ${delayMax.toFixed(1)} ms`);
  say(`  memory ${megabytes(memory)} before, at most ${megabytes(peak)}`);
  verdict.check("the rigs of the other thread keep 100.0 % of their due reads", met / due >= 0.9995);
  verdict.check("no rig got a command twice", twice === 0 && writes > 0 && writes <= commands);
  verdict.check("every command has ended", states.size === commands && !ended.has("queued") && !ended.has("sent"));
  verdict.check("nothing was left unhandled", unhandled.length === 0);
  await until(
    () =>
      [...poller.all()].filter(({ state }) => state.missed === 0 && state.reading !== null).length >=
      count + commanded - flooding,
    "every rig to be read again",
    { timeoutMs: 120_000 },
  );
  say("  all others are read again");
} finally {
  await executor.close();
  await poller.close();
  await store.close();
  await steered.close();
  await farm.close();
}
verdict.end();
