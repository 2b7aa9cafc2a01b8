import { Fleet, type FleetOptions } from "../../src/fleet/fleet.ts";
import type { Poller } from "../../src/fleet/poller.ts";
import { statusOf } from "../../src/fleet/state.ts";
import { WorkerPoller } from "../../src/fleet/workers/worker-poller.ts";
import { type FaultName, faults } from "../../src/simulator/index.ts";
import { declaredRig } from "../declared-rig.ts";
import { until } from "../until.ts";
import { type FarmProcess, startFarmProcess } from "./farm-process.ts";
import { megabytes, openFilesOf, Verdict, wait, watchProcess } from "./measure.ts";
import { say } from "./say.ts";

/**
 * 2,000 rigs, 30 % of them with all the faults there are, mixed, each with another one every half minute, for as many
 * minutes as are named (three): what that costs the others, and whether every rig is well again after it. First read in
 * the main thread, then in two worker threads.
 */
const ports = { cgminer: 24_728, axeos: 24_780, xmrig: 24_880 };
const minutes = Number(process.argv[2] ?? 3);
const interval = 10_000;
const count = 2_000;
/** It builds 12 MB for every answer, in the process of the farm, which has all the others to play. */
const left: readonly string[] = ["many-devices"];
const names = Object.keys(faults).filter((name): name is FaultName => name in faults && !left.includes(name));
const verdict = new Verdict();
const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** Faults one after the other, to those of the rigs whose turn it is; as many as fit into a line at once. */
async function spread(farm: FarmProcess, ill: readonly string[], turn: number): Promise<void> {
  for (const [index, name] of names.entries()) {
    const mine = ill.filter((_, at) => (at + turn) % names.length === index);
    if (mine.length > 0) await farm.type(`fault ${mine.join(",")} ${name}`);
  }
}

function openPoller(workers: number, options: FleetOptions): Poller {
  if (workers === 0) return new Fleet(options);
  const ended = (error: Error): void => void unhandled.push(error);
  return new WorkerPoller({ ...options, workers, poolLogins: () => [], ended, recovered: () => undefined });
}

async function round(workers: number): Promise<void> {
  const farm = await startFarmProcess(count, { cgminer: 3, axeos: 1, xmrig: 1 }, ports);
  const reads = new Map<number, number>();
  const codes = new Map<string, number>();
  const fleet = openPoller(workers, {
    timeout: 5_000,
    now: Date.now,
    remember: async () => undefined,
    listener: {
      read: ({ id, state: { missed, trouble } }) => {
        if (missed === 0) reads.set(id, (reads.get(id) ?? 0) + 1);
        const code = trouble?.code ?? "well";
        codes.set(code, (codes.get(code) ?? 0) + 1);
      },
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
  });

  try {
    const rigs = farm.rigs.map((rig, index) => fleet.put(declaredRig(rig, index + 1, interval)));
    await until(() => reads.size >= count, "every rig to be read", {
      timeoutMs: 180_000,
      details: () => `${reads.size} of ${count} were`,
    });
    await wait(interval);
    // The farm's own share: the same three of ten.
    const ill = farm.rigs.filter((_, index) => index % 10 < 3).map(({ name }) => name);
    const live = rigs.filter((_, index) => index % 10 >= 3);
    const before = new Map(reads);
    codes.clear();
    const memory = process.memoryUsage.rss();
    const watched = watchProcess();
    const start = performance.now();
    for (let turn = 0; performance.now() - start < minutes * 60_000; turn += 1) {
      await spread(farm, ill, turn);
      await wait(30_000);
    }
    const { peak, delayP99, delayMax } = watched.end();
    const due = (performance.now() - start) / interval;
    const got = live.map(({ id }) => (reads.get(id) ?? 0) - (before.get(id) ?? 0));
    const part = got.reduce((sum, each) => sum + each, 0) / (live.length * due);
    const said = [...codes].map(([code, times]) => `${times} ${code}`).join(", ");
    say(
      `${ill.length} of ${count} rigs with ${names.length} faults in turn, ${minutes} min (without ${left.join(", ")})`,
    );
    say(`  reads: ${said}`);
    say(
      `  the others: ${(100 * part).toFixed(2)} % of their due reads, the least ${Math.min(...got)} of ${due.toFixed(0)}`,
    );
    say(`  event loop p99 ${delayP99.toFixed(1)} ms, at most ${delayMax.toFixed(1)} ms`);
    say(`  memory ${megabytes(memory)} before, at most ${megabytes(peak)}; ${openFilesOf("self") ?? "?"} open files`);
    verdict.check("the others keep 99 % of their due reads", part >= 0.99);
    verdict.check("nothing that broke was left unhandled", unhandled.length === 0);
    verdict.check("every read ended as one of the documented troubles", !codes.has("internal"));
    verdict.check("the event loop is late by less than 50 ms (p99)", delayP99 < 50);

    await farm.type("on all");
    const well = (): number => rigs.filter(({ state }) => statusOf(state, false) === "Mining").length;
    const from = performance.now();
    // Those that are late are told below.
    await until(() => well() >= count, "every rig to mine again", { timeoutMs: 120_000 }).catch(() => undefined);
    say(`  all well again: ${well()} mine after ${((performance.now() - from) / 1000).toFixed(0)} s`);
    verdict.check("every rig mines again two minutes after it was mended", well() === count);
  } finally {
    await fleet.close();
    await farm.close();
  }
}

for (const workers of [0, 2]) {
  say(workers === 0 ? "in the main thread" : `in ${workers} worker threads`);
  await round(workers);
}
verdict.end();
