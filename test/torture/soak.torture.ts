import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { chosenRigs } from "../../src/cli/fault-choice.ts";
import { longestBackOff } from "../../src/fleet/schedule.ts";
import type { FaultName } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { sampleSize } from "../../src/store/packed-samples.ts";
import { quantile } from "../bench/statistics.ts";
import { miner } from "../store/rows.ts";
import { until } from "../until.ts";
import { Changes } from "./changes.ts";
import { type FarmProcess, type FarmRig, startFarmProcess } from "./farm-process.ts";
import { checkGrowth, type Figures, figuresOf, inMs, lineOf } from "./figures.ts";
import { Follower, type Miners, minersIn, visitors } from "./followed.ts";
import { megabytes, Verdict, wait } from "./measure.ts";
import { type ServiceProcess, startProcess } from "./process.ts";
import { say } from "./say.ts";

/**
 * The service under load for so many minutes, with so many rigs that are read once a second: rigs fall ill and get
 * well, listeners come and go, things are changed. Nothing grows, and what is shown is right.
 */
const minutes = Number(process.argv[2] ?? 10);
/** As many reads a second as 5,000 rigs make that are read every 10 s. */
const rigCount = Number(process.argv[3] ?? 500);
/** Worker threads that read them. */
const workers = Number(process.argv[4] ?? 0);

const ports = { cgminer: 24_428, axeos: 24_480, xmrig: 24_580 };
const key = "a-key-for-the-soak";
const firstId = 1_000_000_001;
/** Bytes that a sample may take in the store, with all that is around it. */
const bytesPerSample = 100;

interface Illness {
  readonly fault: FaultName;
  /** Of the rigs. */
  readonly share: string;
  /** Nobody can take it for a rig that is well. */
  readonly fatal?: true;
}

/** One after the other; what is dear to play only a few have. */
const illnesses: readonly Illness[] = [
  { fault: "reset", share: "10%", fatal: true },
  { fault: "silent", share: "10%" },
  { fault: "truncated", share: "10%" },
  { fault: "endless", share: "0.5%" },
  { fault: "flapping", share: "20%" },
  { fault: "slow", share: "10%" },
  { fault: "wrong-types", share: "10%" },
  { fault: "many-devices", share: "0.2%" },
  { fault: "off", share: "30%", fatal: true },
  { fault: "huge", share: "0.2%" },
  { fault: "garbage", share: "10%", fatal: true },
  { fault: "counters-reset", share: "10%" },
  { fault: "clock-jumps", share: "10%" },
  { fault: "names", share: "10%" },
  { fault: "deep", share: "0.2%" },
  { fault: "reset-midway", share: "10%" },
];
/** s of an illness, and of health after it. */
const illFor = 15;
const wellFor = 5;

/** ms after which a rig that has been away is read again at the latest: its back-off, and a read that is under way. */
const foundAfter = longestBackOff + 10_000;
/** When a rig was made well, by the monotonic clock. */
const wellSince = new Map<number, number>();

const verdict = new Verdict();
const folder = mkdtempSync(join(tmpdir(), "rigbridge-soak-"));
const store = join(folder, "rigbridge.db");
const inside = join(folder, "inside");

async function main(): Promise<void> {
  const farm = await startFarmProcess(rigCount, { cgminer: 3, axeos: 1, xmrig: 1 }, ports);
  try {
    await storeOf(farm.rigs);
    const service = await startProcess({
      config: { http: { key }, poll: { interval: 1, workers }, store: { url: store } },
      env: { INSIDE: inside },
      node: ["--import", new URL("inside.ts", import.meta.url).href],
    });
    try {
      await Promise.race([soak(farm, service), interrupted()]);
    } finally {
      await service.close();
    }
  } finally {
    await farm.close();
  }
}

/** Rejects when this is told to stop, so that what it started is stopped too. */
const interrupted = (): Promise<never> =>
  new Promise((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(signal)));
  });

/** As if all of them had been added over the API. */
async function storeOf(rigs: readonly FarmRig[]): Promise<void> {
  const opened = await openStore({ file: store, now: Date.now });
  const rows = rigs.map(({ address, token }, index) => [`${index}`, miner(address, { token: token ?? null })] as const);
  await opened.miners.declare(new Map(rows));
  await opened.close();
  const database = new DatabaseSync(store);
  database.exec("update resource set owner = 'store', key = null where collection = 'miner'");
  database.close();
}

async function soak(farm: FarmProcess, service: ServiceProcess): Promise<void> {
  await inTime("every rig to be read", 180, async () => ill(await listOf(service)).length === 0);
  const start = performance.now();
  say(`${rigCount} rigs, each read once a second, for ${minutes} minutes`);
  const ending = new AbortController();
  const place = { port: service.port, key, signal: ending.signal };
  const follower = new Follower(place, () => listOf(service));
  follower.readAnew();
  const changes = new Changes(service);
  const changed = changeable(farm.rigs);
  const figures: Figures[] = [];
  const visiting = Promise.all(Array.from({ length: 6 }, () => visitors(place)));
  const around = Promise.all([
    follower.ended,
    visiting,
    changes.make([...changed], 20, ending.signal),
    watch(service, figures, start, ending.signal),
  ]);
  await Promise.race([around, illnessesOf(farm, service, changed, start)]);
  const seconds = (performance.now() - start) / 1_000;

  say(
    `a listener took ${follower.events} events, and read the list anew when it was told to, ${follower.resets} times`,
  );
  await inTime(
    "the events to tell what the list says",
    15,
    async () => differing(follower.miners, await listOf(service)) === 0,
  );
  ending.abort();
  await around;
  const visits = (await visiting).reduce((sum, count) => sum + count, 0);
  await inTime("the rigs that were restarted to be well", 90, async () => ill(await listOf(service)).length === 0);
  await changes.check();
  const shown = await listOf(service);
  for (const [id, name] of changes.names)
    if (shown.get(id)?.name !== name) changes.wrong.push(`miner ${id} is called ${shown.get(id)?.name}, not ${name}`);
  verdict.check(
    `${changes.made} changes, each as it was acknowledged; ${visits} listeners came and went`,
    none(changes.wrong),
  );

  checkGrowth(figures, verdict);
  const late = figures.flatMap((each) => each.late ?? []);
  const latest = Math.max(...figures.map((each) => each.latest ?? 0));
  say(`event loop: p99 ${inMs(quantile(late, 0.5))} by the median window, at most ${inMs(latest)}`);
  await ended(service, seconds);
}

/** Rigs whose names and doings are changed: none of those that fall ill most often. */
const changeable = (rigs: readonly FarmRig[]): ReadonlySet<number> => {
  const sick = new Set(chosen("30%", rigs));
  return new Set(rigs.flatMap((rig, index) => (sick.has(rig) ? [] : [firstId + index])).slice(-50));
};

const chosen = (share: string, rigs: readonly FarmRig[]): readonly FarmRig[] => {
  const picked = chosenRigs(share, rigs);
  return "chosen" in picked ? picked.chosen : [];
};

async function illnessesOf(
  farm: FarmProcess,
  service: ServiceProcess,
  changed: ReadonlySet<number>,
  start: number,
): Promise<void> {
  for (let turn = 0; (performance.now() - start) / 60_000 < minutes; turn += 1)
    await oneIllness(farm, service, illnesses[turn % illnesses.length], changed);
  // Of those that are told to restart one is always away.
  const lost = async () => ill(await listOf(service)).filter((id) => !changed.has(id));
  await inTime("every rig to be well again", 90, async () => (await lost()).length === 0);
}

async function oneIllness(
  farm: FarmProcess,
  service: ServiceProcess,
  illness: Illness | undefined,
  changed: ReadonlySet<number>,
): Promise<void> {
  if (illness === undefined) return;
  const { fault, share, fatal } = illness;
  const sick = new Set(chosen(share, farm.rigs).map((rig) => firstId + farm.rigs.indexOf(rig)));
  await farm.type(`fault ${share} ${fault}`);
  await wait(1_000 * illFor);
  const lost = new Set(ill(await listOf(service)));
  const longWell = (id: number): boolean => performance.now() - (wellSince.get(id) ?? 0) > foundAfter;
  await checkNone(
    `are lost while others are ${fault}`,
    [...lost].filter((id) => !sick.has(id) && !changed.has(id) && longWell(id)),
    service,
  );
  if (fatal)
    await checkNone(
      `are ${fault} and not shown as lost`,
      [...sick].filter((id) => !lost.has(id)),
      service,
    );
  await farm.type("on all");
  for (const id of sick) wellSince.set(id, performance.now());
  await wait(1_000 * wellFor);
}

/** Says of some of them what is known. */
async function checkNone(what: string, ids: readonly number[], service: ServiceProcess): Promise<void> {
  if (ids.length === 0) return;
  verdict.check(`${ids.length} rigs ${what}`, false);
  for (const id of ids.slice(0, 5)) say(`  ${(await service.ask("GET", `/api/miners/${id}`)).text}`);
}

/** A look every 5 s, and a line every half a minute. */
async function watch(service: ServiceProcess, figures: Figures[], start: number, signal: AbortSignal): Promise<void> {
  // The first looks at the event loop since its own beginning.
  let before = await figuresOf(service, inside, store, (performance.now() - start) / 1_000);
  for (let turn = 0; !signal.aborted; turn += 1) {
    await wait(5_000);
    const now = await figuresOf(service, inside, store, (performance.now() - start) / 1_000);
    figures.push(now);
    if (turn % 6 === 0) say(`  ${Math.round(now.at)} s: ${lineOf(now, before)}`);
    before = now;
  }
}

async function ended(service: ServiceProcess, seconds: number): Promise<void> {
  const began = performance.now();
  const code = await service.stop();
  verdict.check(`it ended with ${code} after ${Math.round(performance.now() - began)} ms`, code === 0);
  verdict.check("it said nothing on stderr", service.stderr() === "");
  for (const line of service
    .stdout()
    .split("\n")
    .filter((each) => /"level":[56]0/.test(each))
    .slice(0, 5))
    verdict.check(`it said no error, as ${line.slice(0, 300)}`, false);
  const database = new DatabaseSync(store);
  const sound = database.prepare("pragma integrity_check").get()?.integrity_check;
  const rows = database
    .prepare(
      `select (select count(*) from sample) + coalesce((select sum((length(samples) - 1) / ${sampleSize}) from sample_hour), 0)
        as samples, (select page_count * page_size from pragma_page_count, pragma_page_size) as bytes`,
    )
    .get();
  database.close();
  const [samples, bytes] = [Number(rows?.samples), Number(rows?.bytes)];
  verdict.check("the store is sound", sound === "ok");
  say(`${samples} good reads, ${Math.round(samples / seconds)} a second`);
  const each = bytes / samples;
  verdict.check(
    `store: ${megabytes(bytes)}, ${each.toFixed(0)} bytes a read, at most ${bytesPerSample}`,
    each <= bytesPerSample,
  );
}

async function listOf(service: ServiceProcess): Promise<Miners> {
  return minersIn((await service.ask("GET", "/api/miners")).text);
}

const illStatuses = ["Disconnected", "Starting", "Error"];

const ill = (miners: Miners): number[] =>
  [...miners].filter(([, { status }]) => illStatuses.includes(status)).map(([id]) => id);

function differing(one: Miners, other: Miners): number {
  const ids = new Set([...one.keys(), ...other.keys()]);
  return [...ids].filter((id) => JSON.stringify(one.get(id)) !== JSON.stringify(other.get(id))).length;
}

function none(sentences: readonly string[]): boolean {
  for (const sentence of sentences.slice(0, 10)) say(`  ${sentence}`);
  return sentences.length === 0;
}

/** Checks that it comes about within so many seconds. */
async function inTime(awaited: string, seconds: number, condition: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  const isSo = async (): Promise<boolean> => {
    if (await condition()) return true;
    // The list of all rigs is dear.
    await wait(500);
    return false;
  };
  const problem = await until(isSo, awaited, { timeoutMs: 1_000 * seconds }).then(
    () => null,
    (error: unknown) => String(error),
  );
  const took = ((performance.now() - start) / 1_000).toFixed(1);
  verdict.check(problem ?? `waited ${took} s of at most ${seconds} for ${awaited}`, problem === null);
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
verdict.end();
