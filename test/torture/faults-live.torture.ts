import { chosenRigs } from "../../src/cli/fault-choice.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { unknownRig } from "../../src/fleet/state.ts";
import { declaredRig } from "../declared-rig.ts";
import { until } from "../until.ts";
import { type FarmProcess, type FarmRig, startFarmProcess } from "./farm-process.ts";
import { openFilesOf, Verdict, wait, watchProcess } from "./measure.ts";
import { say } from "./say.ts";

/**
 * What silent rigs cost the others. Of 5,000 rigs that nobody has read before 30 % are silent: how long until all
 * others are read. Then 2,000 of them for a minute: how many of their due reads the live ones get.
 */
const ports = { cgminer: 24_128, axeos: 24_180, xmrig: 24_280 };
const interval = 10_000;

interface Counted {
  readonly fleet: Fleet;
  readonly reads: Map<number, number>;
  /** ms after the start at which each was read first. */
  readonly first: Map<number, number>;
}

function open(rigs: readonly FarmRig[]): Counted {
  const start = performance.now();
  const counted = { reads: new Map<number, number>(), first: new Map<number, number>() };
  const fleet = new Fleet({
    timeout: 5_000,
    now: Date.now,
    remember: async () => undefined,
    listener: {
      read: ({ id, state }) => {
        if (state.missed > 0) return;
        counted.reads.set(id, (counted.reads.get(id) ?? 0) + 1);
        if (!counted.first.has(id)) counted.first.set(id, performance.now() - start);
      },
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
  });
  for (const [index, rig] of rigs.entries()) fleet.put(declaredRig(rig, index + 1, interval), unknownRig);
  return { fleet, ...counted };
}

/** The ids of those that are silent when the farm is told so of 30 %. */
function silentOf(rigs: readonly FarmRig[]): ReadonlySet<number> {
  const picked = chosenRigs("30%", rigs);
  return new Set("chosen" in picked ? picked.chosen.map((rig) => rigs.indexOf(rig) + 1) : []);
}

async function firstReads(farm: FarmProcess, verdict: Verdict): Promise<void> {
  await farm.type("fault 30% silent");
  const live = farm.rigs.length - silentOf(farm.rigs).size;
  const watched = watchProcess();
  const { fleet, first } = open(farm.rigs);
  // Those that are late are told below.
  await until(() => first.size >= live, "every live rig to be read", { timeoutMs: 180_000 }).catch(() => undefined);
  const { delayP99 } = watched.end();
  const times = [...first.values()].sort((a, b) => a - b);
  const at = (share: number): string => ((times[Math.ceil(times.length * share) - 1] ?? 0) / 1000).toFixed(1);
  const files = openFilesOf("self");
  fleet.close();
  say(`first reads: ${times.length} of ${live} live rigs of ${farm.rigs.length}, none known before`);
  say(`  half after ${at(0.5)} s, 99 % after ${at(0.99)} s, all after ${at(1)} s`);
  say(`  event loop p99 ${delayP99.toFixed(1)} ms, ${files ?? "?"} open files`);
  verdict.check(
    "every live rig is read within 30 s of the start",
    times.length === live && (times.at(-1) ?? 0) < 30_000,
  );
}

async function share(farm: FarmProcess, verdict: Verdict): Promise<void> {
  await farm.type("on all");
  const rigs = farm.rigs.slice(0, 2_000);
  const { fleet, reads, first } = open(rigs);
  await until(() => first.size >= rigs.length, "every rig to be read", {
    timeoutMs: 180_000,
    details: () => `${first.size} of ${rigs.length} were`,
  });
  // The same share of all rigs as before, so of these too.
  await farm.type("fault 30% silent");
  await wait(interval);
  const before = new Map(reads);
  const watched = watchProcess();
  const start = performance.now();
  await wait(60_000);
  const { delayP99 } = watched.end();
  const due = (performance.now() - start) / interval;
  fleet.close();
  const silent = silentOf(farm.rigs);
  const ids = rigs.map((_, index) => index + 1).filter((id) => !silent.has(id));
  const live = ids.map((id) => (reads.get(id) ?? 0) - (before.get(id) ?? 0));
  const part = live.reduce((sum, count) => sum + count, 0) / (live.length * due);
  say(`due reads: ${live.length} live rigs of ${rigs.length} for a minute, the others silent`);
  say(`  ${(100 * part).toFixed(2)} % of the due reads, the least of a rig ${Math.min(...live)} of ${due.toFixed(0)}`);
  say(`  event loop p99 ${delayP99.toFixed(1)} ms`);
  verdict.check("live rigs keep 99 % of their due reads", part >= 0.99);
}

const verdict = new Verdict();
const count = 5_000;
const farm = await startFarmProcess(count, { cgminer: 3, axeos: 1, xmrig: 1 }, ports);
try {
  await firstReads(farm, verdict);
  await share(farm, verdict);
} finally {
  await farm.close();
}
verdict.end();
