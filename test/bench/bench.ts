import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { Config } from "../../src/config/schema.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { startService } from "../../src/service/index.ts";
import { openStore } from "../../src/store/index.ts";

/**
 * `npm run bench`: the paths that the program exists for, as ratios against the bare loop in the same run. The
 * simulator is a process of its own. `-- --json` prints one object. Wall figures move with the machine; ratios hold.
 */
const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
const caller = { actor: "bench" };
const farmPort = 24_028;
const concurrency = 64;
const seconds = 6;

const figures: Record<string, number> = {};
const say = (line: string): void => {
  if (!values.json) console.log(line);
};

/** µs of this process's CPU per call of `work`, which runs `concurrency` at a time. */
async function cpuPerCall(work: () => Promise<void>): Promise<number> {
  let calls = 0;
  const until = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      await work();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** The floor: a socket, the same joined command, the reply up to its NUL, parsed. */
function barePoll(address: string): Promise<void> {
  const [host = "", port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), noDelay: true });
    const chunks: Buffer[] = [];
    socket.on("error", reject);
    socket.on("connect", () => socket.write('{"command":"summary+pools+devs+stats"}'));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (chunk.at(-1) !== 0) return;
      JSON.parse(Buffer.concat(chunks).toString("utf8").slice(0, -1));
      socket.destroy();
      resolve();
    });
  });
}

/** A farm of so many rigs in a process of its own. */
async function farmOf(count: number): Promise<{ addresses: string[]; close: () => void }> {
  const child = fork(new URL("farm.ts", import.meta.url), [String(count), String(farmPort)]);
  const [addresses] = (await once(child, "message")) as [string[]];
  return { addresses, close: () => child.disconnect() };
}

interface Measured {
  readonly service: MiningService;
  /** Reads that were written down. */
  reads: number;
}

/** The whole service over these rigs, when all of them have been read. */
async function serviceOver(addresses: readonly string[], interval: number): Promise<Measured> {
  const store = await openStore({ file: ":memory:", now: Date.now });
  const append = store.samples.append.bind(store.samples);
  store.samples.append = (rows) => {
    measured.reads += rows.length;
    append(rows);
  };
  const config = Config.parse({ poll: { interval }, miners: addresses.map((address) => ({ address })) });
  const service = await startService({ config, store, log: pino({ level: "error" }) });
  const measured: Measured = { service, reads: 0 };
  for (;;) {
    const { totalCount, runningCount } = await service.getSummary({}, caller);
    if (totalCount === addresses.length && runningCount > 0.98 * totalCount) return measured;
    await wait(200);
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** µs of this process's CPU per read, and its share of a core. Samples are written every 5 s, so it is a multiple. */
async function cpuPerRead(measured: Measured, ms: number): Promise<{ perRead: number; share: number }> {
  const reads = measured.reads;
  const before = process.cpuUsage();
  const start = performance.now();
  await wait(ms);
  const { user, system } = process.cpuUsage(before);
  const took = performance.now() - start;
  return { perRead: (user + system) / (measured.reads - reads), share: (user + system) / 1000 / took };
}

/** More rigs than can be read every second: the path runs as fast as it can, as the bare loop does. */
async function polling(): Promise<void> {
  const rigs = 6000;
  const { addresses, close } = await farmOf(rigs);
  let turn = 0;
  const work = (): Promise<void> => {
    turn = (turn + 1) % rigs;
    return barePoll(addresses[turn] ?? "");
  };
  await cpuPerCall(work);
  const bare = await cpuPerCall(work);
  const measured = await serviceOver(addresses, 1);
  await wait(10_000);
  const { perRead } = await cpuPerRead(measured, 15_000);
  figures["poll.ratio"] = bare / perRead;
  say(`polling      ${Math.round(perRead)} µs of CPU a read, the bare socket loop ${Math.round(bare)} µs`);
  await measured.service.close();
  close();
}

async function fleet(): Promise<void> {
  const { addresses, close } = await farmOf(5000);
  const measured = await serviceOver(addresses, 10);
  await wait(10_000);
  const { share } = await cpuPerRead(measured, 30_000);
  figures["fleet.5000at10.cpu"] = share;
  say(`5,000 rigs   ${Math.round(100 * share)} % of a core, each read every 10 s`);
  await measured.service.close();
  close();
}

async function list(): Promise<void> {
  const { addresses, close } = await farmOf(10_000);
  const { service } = await serviceOver(addresses, 3600);
  const whole = await service.listMiners({}, caller);
  const times = (work: () => void): number => {
    const start = performance.now();
    for (let turn = 0; turn < 10; turn += 1) work();
    return (performance.now() - start) / 10;
  };
  const stringify = times(() => void Buffer.from(JSON.stringify(whole)));
  const kept = times(() => void Buffer.concat([...(service.encoded?.("listMiners", {}, caller)?.chunks ?? [])]));
  figures["list.10000.peer"] = stringify / kept;
  say(`10,000 list  ${kept.toFixed(1)} ms from bytes kept ready, JSON.stringify ${stringify.toFixed(1)} ms`);
  await service.close();
  close();
}

for (const part of [polling, fleet, list]) await part();
if (values.json) console.log(JSON.stringify(figures, null, 2));
else for (const [name, figure] of Object.entries(figures)) console.log(`${name.padEnd(20)} ${figure.toFixed(2)}`);
process.exit(0);
