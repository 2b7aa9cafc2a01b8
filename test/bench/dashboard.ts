import { existsSync, readFileSync } from "node:fs";
import type { CDPSession, Page } from "playwright-core";
import { z } from "zod";
import { chromiumProgram, closeBrowser, newPage } from "../chromium.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, median } from "./statistics.ts";
import { follow } from "./web.ts";

const built = new URL("../../dist/web/index.html", import.meta.url);

/**
 * What the dashboard's list of rigs does in a browser, by the browser's own clock, beside a service at work. `seconds`:
 * for which events come.
 */
export async function dashboard(quick: boolean, seconds = quick ? 5 : 600): Promise<Measured[]> {
  const missing = chromiumProgram === undefined ? "Chromium" : existsSync(built) ? null : "dist/web (npm run build)";
  if (missing !== null) {
    process.stderr.write(`The dashboard in a browser is left out: ${missing} is missing\n`);
    return [];
  }
  const rigs = quick ? 200 : 10_000;
  // Each read changes a row, and there are 200 a second.
  const farm = await startFarm(rigs, { switching: true });
  const service = new Service();
  try {
    await service.start(farm.rigs, { interval: rigs / 200 });
    await service.readAll(rigs);
    const paints = await firstPaints(service.url, quick ? 2 : 5);
    const page = await openList(service.url);
    const { letters, slowest } = await lettersOf(page, quick ? 1 : 3);
    const { longest, frames } = await scrolled(page, quick ? 1_000 : 5_000);
    const kept = await keptFor(page, service.url, seconds);
    return [
      measured("web.paint.ms", paints, `from the request of the page to the first row of ${rigs}, nothing cached`),
      measured("web.letter.ms", letters, `slowest ${slowest} ms; the browser counts in steps of 8 ms`),
      measured("web.scroll.frame.ms", [longest], `longest of ${frames} frames`),
      measured("web.events.frame.ms", [kept.longest], `median ${kept.frame} ms, in ${kept.seconds} s`),
      measured("web.memory.mb", [kept.memory], `of the page's process; ${kept.heap.toFixed(1)} MB of it objects`),
      measured(
        "web.growth.mb",
        [kept.growth],
        `of the objects in ${kept.seconds} s with ${kept.events} events a second`,
      ),
    ];
  } finally {
    await closeBrowser();
    await Promise.all([service.end(), farm.end()]);
  }
}

const firstRow = "[role=grid] tbody tr[data-id]";

/** Notes when the first row has been painted: two frames after it came into being. */
const noteFirstRow = `window.firstRow = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(firstRow)}) === null) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
  }).observe(document, { childList: true, subtree: true });
})`;

async function openList(url: string): Promise<Page> {
  const page = await newPage(1440, 900);
  await page.addInitScript(noteFirstRow);
  await page.goto(`${url}/rigs`);
  await page.evaluate("window.firstRow");
  return page;
}

/** ms from the start of the navigation to the first rows on the screen. */
async function firstPaints(url: string, times: number): Promise<number[]> {
  const paints: number[] = [];
  // The first start of the browser fills caches of the system.
  for (let turn = 0; turn <= times; turn += 1) {
    const page = await openList(url);
    const ms = z.number().parse(await page.evaluate("window.firstRow"));
    if (turn > 0) paints.push(ms);
    await page.context().close();
  }
  return paints;
}

const Durations = z.array(z.number());
/** ms; entries of less than 16 ms are not reported. */
const shortestEvent = 16;

/** ms from each letter in the search to the paint after it. */
async function lettersOf(page: Page, rounds: number): Promise<{ letters: number[]; slowest: number }> {
  await page.evaluate(`window.typed = []; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "keydown") window.typed.push(entry.duration);
  }).observe({ type: "event", durationThreshold: ${shortestEvent} })`);
  const words = ["127.1.2", "rig 99", "pool"];
  const search = page.getByRole("searchbox").first();
  let count = 0;
  for (let round = 0; round < rounds; round += 1)
    for (const word of words) {
      await search.fill("");
      await search.pressSequentially(word, { delay: 150 });
      count += word.length;
    }
  await wait(500);
  const typed = Durations.parse(await page.evaluate("window.typed"));
  await search.fill("");
  await page.waitForSelector(firstRow);
  const quick = Array<number>(Math.max(0, count - typed.length)).fill(shortestEvent);
  return { letters: [...typed, ...quick], slowest: Math.max(shortestEvent, ...typed) };
}

const watchFrames = `window.frames = []; window.watching = true; (() => {
  let last;
  const next = (time) => {
    if (last !== undefined) window.frames.push(time - last);
    last = time;
    if (window.watching) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})()`;

async function framesSince(page: Page): Promise<number[]> {
  await page.evaluate("window.watching = false");
  return Durations.parse(await page.evaluate("window.frames"));
}

/** ms between frames while the wheel turns. */
async function scrolled(page: Page, ms: number): Promise<{ longest: number; frames: number }> {
  await page.hover(firstRow);
  await page.evaluate(watchFrames);
  const until = performance.now() + ms;
  for (let turn = 0; performance.now() < until; turn += 1) {
    // Slowly, and now and then by thousands of rows.
    await page.mouse.wheel(0, turn % 20 === 19 ? 40_000 : 240);
    await wait(16);
  }
  const frames = await framesSince(page);
  return { longest: Math.max(...frames), frames: frames.length };
}

interface Kept {
  /** MB of the page's process, and of its objects. */
  readonly memory: number;
  readonly heap: number;
  readonly growth: number;
  readonly seconds: number;
  readonly events: number;
  /** ms */
  readonly frame: number;
  readonly longest: number;
}

/** What the page keeps while events come. */
async function keptFor(page: Page, url: string, seconds: number): Promise<Kept> {
  const session = await page.context().newCDPSession(page);
  // What is cached at first is no growth.
  await wait(Math.min(30_000, 100 * seconds));
  const before = await heapOf(session);
  await page.evaluate(watchFrames);
  let events = 0;
  const ending = new AbortController();
  const following = follow(
    `${url}/api/events?view=list&types=miner`,
    (text) => (events += text.split("event: miner\n").length - 1),
    ending.signal,
  );
  await wait(1000 * seconds);
  ending.abort();
  await following;
  const frames = await framesSince(page);
  const heap = await heapOf(session);
  return {
    ...{ heap, growth: heap - before, seconds, memory: await residentOf(page) },
    ...{ events: Math.round(events / seconds), frame: Math.round(median(frames)), longest: Math.max(...frames) },
  };
}

const megabyte = 1e6;

/** MB of objects that are still reachable. */
async function heapOf(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / megabyte;
}

const Processes = z.object({ processInfo: z.array(z.object({ type: z.string(), id: z.int() })) });

/** MB that the largest renderer has for itself: that of the only open page. */
async function residentOf(page: Page): Promise<number> {
  const browser = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo } = Processes.parse(await browser?.send("SystemInfo.getProcessInfo"));
  const sizes = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0));
  return (Math.max(...sizes) * 1024) / megabyte;
}
