import { z } from "zod";
import { Child } from "./child.ts";
import { wait } from "./rigs.ts";
import { type Measured, measured, median, quantile } from "./statistics.ts";
import { follow } from "./web.ts";

const seconds = 5;
const everySeconds = 10;

/** A centre over so many generated sites. */
async function centreOver(sites: number, rigs: number) {
  const generated = new Child("generated-sites.ts");
  const centre = new Child("centre-process.ts", ["--expose-gc"]);
  const urls = await generated.ask(z.array(z.string()), "start", { sites, rigs, everySeconds });
  const began = performance.now();
  const url = await centre.ask(z.string(), "start", urls);
  while ((await centre.ask(z.number(), "connected")) < sites) await wait(10);
  const connectedMs = performance.now() - began;
  const end = () => Promise.all([centre.end(), generated.end()]);
  return { centre, url, connectedMs, end };
}

async function timed(url: string): Promise<{ readonly ms: number; readonly firstMs: number; readonly bytes: number }> {
  const began = performance.now();
  const answer = await fetch(url);
  let bytes = 0;
  let firstMs = 0;
  for await (const chunk of answer.body ?? []) {
    if (firstMs === 0) firstMs = performance.now() - began;
    bytes += chunk.length;
  }
  return { ms: performance.now() - began, firstMs, bytes };
}

/** The share of a core that the centre needs. */
async function coresOf(centre: Child): Promise<number> {
  const before = await centre.cpu();
  const began = performance.now();
  await wait(1000 * seconds);
  return ((await centre.cpu()) - before) / 1000 / (performance.now() - began);
}

/** The same with a watcher of every change, and the latency of each event that it gets, in windows. */
async function streamed(url: string, centre: Child) {
  let latencies: number[] = [];
  let text = "";
  const ending = new AbortController();
  const stream = follow(
    `${url}/api/events/rows`,
    (portion) => {
      const now = Date.now();
      text += portion;
      const end = text.lastIndexOf("\n\n");
      for (const [, stamp] of text.slice(0, end + 2).matchAll(/"hashrate":(\d+)/g))
        latencies.push((((now - Math.round((Number(stamp) - 95e12) / 1e9)) % 1000) + 1000) % 1000);
      text = text.slice(end + 2);
    },
    ending.signal,
  );
  await wait(1000);
  const windows: { readonly latencies: readonly number[]; readonly cores: number }[] = [];
  for (let window = 0; window < 3; window += 1) {
    latencies = [];
    windows.push({ cores: await coresOf(centre), latencies });
  }
  ending.abort();
  await stream;
  return windows;
}

/** CPU of the centre for each change of a row, µs: one site of so many rigs, or the same rigs at many. */
async function changeCost(sites: number, rigs: number): Promise<number> {
  const { centre, end } = await centreOver(sites, rigs);
  await wait(1000);
  const cores = await coresOf(centre);
  await end();
  return (cores * 1e6) / ((sites * rigs) / everySeconds);
}

/** 20 sites of 5,000 rigs behind one centre, each rig read every 10 s. */
export async function sites(quick: boolean): Promise<Measured[]> {
  const [count, rigs] = quick ? [2, 50] : [20, 5_000];
  const { centre, url, connectedMs, end } = await centreOver(count, rigs);
  await timed(`${url}/api/miners/rows`);
  const lists = [];
  const summaries: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    lists.push(await timed(`${url}/api/miners/rows`));
    summaries.push((await timed(`${url}/api/summary`)).ms);
  }
  const cores = await coresOf(centre);
  const windows = await streamed(url, centre);
  const memory = await centre.ask(z.number(), "memory");
  await end();
  const [one, many] = quick ? [1, 2] : [1, 50];
  const all = quick ? 100 : 50_000;
  const [costOfOne, costOfMany] = [await changeCost(one, all / one), await changeCost(many, all / many)];
  const [first] = lists;
  const latencies = windows.flatMap((window) => window.latencies);
  const perSecond = Math.round(latencies.length / windows.length / seconds);
  return [
    measured(
      "sites.100000.list.ms",
      lists.map(({ firstMs }) => firstMs),
      `until the first rows; the whole list of ${((first?.bytes ?? 0) / 1e6).toFixed(1)} MB in ${Math.round(first?.ms ?? 0)} ms; ${(connectedMs / 1000).toFixed(1)} s after the start all sites are connected`,
    ),
    measured("sites.100000.summary.ms", summaries, "an answer over HTTP"),
    measured(
      "sites.100000.event.p99.ms",
      windows.map((window) => quantile(window.latencies, 0.99)),
      `${perSecond.toLocaleString("en-US")} events a second, p50 ${quantile(latencies, 0.5)} ms`,
    ),
    measured(
      "sites.100000.cores",
      [cores],
      `${median(windows.map((window) => window.cores)).toFixed(2)} with one watcher of every change`,
    ),
    measured("sites.100000.memory.gb", [memory / 1e9], "of the process of the centre"),
    measured(
      "sites.growth",
      [costOfMany / costOfOne],
      `${costOfMany.toFixed(1)} µs a change at ${many} sites, ${costOfOne.toFixed(1)} µs at one`,
    ),
  ];
}
