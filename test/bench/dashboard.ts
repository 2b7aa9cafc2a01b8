import { existsSync, readFileSync } from "node:fs";
import type { CDPSession, Page } from "playwright-core";
import { z } from "zod";
import { chromiumProgram, closeBrowser, newPage } from "../chromium.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured } from "./statistics.ts";
import { follow } from "./web.ts";

const eventsPerSecond = 200;
const built = new URL("../../dist/web/index.html", import.meta.url);

/** Whether the dashboard can be opened; says on stderr what is missing. */
export function hasBrowser(): boolean {
  const missing = chromiumProgram === undefined ? "Chromium" : existsSync(built) ? null : "dist/web (npm run build)";
  if (missing !== null) process.stderr.write(`The dashboard in a browser is left out: ${missing} is missing\n`);
  return missing === null;
}

/**
 * What the dashboard's list of rigs does in a browser, by the browser's own clock, beside a service at work. `seconds`:
 * for which events come.
 */
export async function dashboard(quick: boolean, seconds = quick ? 5 : 600): Promise<Measured[]> {
  if (!hasBrowser()) return [];
  const rigs = quick ? 200 : 10_000;
  // Each read changes a row.
  const farm = await startFarm(rigs, { switching: true });
  const service = new Service();
  try {
    await service.start(farm.rigs, { interval: rigs / eventsPerSecond });
    await service.readAll(rigs);
    const paints = await firstPaints(service.url, quick ? 2 : 5);
    const page = await openList(service.url);
    const { letters, slowest } = await lettersOf(page, quick ? 1 : 3);
    const { longest, frames } = await scrolled(page, quick ? 1_000 : 5_000);
    const { before, after, ...kept } = await keptFor(page, service.url, rigs, seconds);
    const counts = `DOM nodes ${before.nodes} and ${after.nodes}, listeners ${before.listeners} and ${after.listeners}`;
    return [
      measured("web.paint.ms", paints, `from the request of the page to the first row of ${rigs}, nothing cached`),
      measured("web.letter.ms", letters, `slowest ${slowest} ms; the browser counts in steps of 8 ms`),
      measured("web.scroll.frame.ms", [longest], `longest of ${frames} frames`),
      measured("web.events.frame.ms", [kept.longest], `median ${kept.frame} ms, in ${kept.seconds} s`),
      measured("web.memory.mb", [after.memory], `of the page's process; ${after.heap.toFixed(1)} MB of it objects`),
      measured(
        "web.growth.mb",
        [after.heap - before.heap],
        `of the objects in ${kept.seconds} s in which ${kept.events} rigs a second are read; ${counts}`,
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

export async function openList(url: string): Promise<Page> {
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

/** ms; longer frames count as this long in the middle. */
const longestFrame = 1_000;

const Durations = z.array(z.number());
/** ms; entries of less than 16 ms are not reported. */
const shortestEvent = 16;

/** Without a key, which would count as a letter. */
const emptied = (search: HTMLElement | SVGElement): void => {
  if (search instanceof HTMLInputElement) search.value = "";
  search.dispatchEvent(new Event("input", { bubbles: true }));
};

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
      await search.evaluate(emptied);
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

/** Counted by their length, which takes the same memory however long it goes on. */
const watchFrames = `window.frames = { longest: 0, counts: Array(${longestFrame}).fill(0) }; window.watching = true; (() => {
  let last;
  const next = (time) => {
    if (last !== undefined) {
      const ms = time - last;
      window.frames.longest = Math.max(window.frames.longest, ms);
      window.frames.counts[Math.min(${longestFrame - 1}, Math.round(ms))] += 1;
    }
    last = time;
    if (window.watching) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})()`;

const Frames = z.object({ longest: z.number(), counts: z.array(z.int()) });

/** ms of the longest frame and of the middle one, and how many there were. */
async function framesSince(page: Page): Promise<{ longest: number; middle: number; count: number }> {
  await page.evaluate("window.watching = false");
  const { longest, counts } = Frames.parse(await page.evaluate("window.frames"));
  const count = counts.reduce((sum, each) => sum + each, 0);
  let upTo = 0;
  const middle = counts.findIndex((each) => {
    upTo += each;
    return upTo * 2 >= count;
  });
  return { longest, middle, count };
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
  const { longest, count } = await framesSince(page);
  return { longest, frames: count };
}

interface Kept {
  readonly before: Held;
  readonly after: Held;
  readonly seconds: number;
  readonly events: number;
  /** ms */
  readonly frame: number;
  readonly longest: number;
}

/** What the page holds at a moment. */
export interface Held {
  /** MB of the page's process, and of its reachable objects. */
  readonly memory: number;
  readonly heap: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What the page keeps while events come. */
async function keptFor(page: Page, url: string, rigs: number, seconds: number): Promise<Kept> {
  const session = await page.context().newCDPSession(page);
  let events = 0;
  const replaced = new Set<string>();
  const ending = new AbortController();
  const following = follow(
    `${url}/api/events?view=list&types=miner`,
    (text) => {
      events += text.split("event: miner\n").length - 1;
      for (const [, id = ""] of text.matchAll(/^data: \{"id":(\d+),/gm)) replaced.add(id);
    },
    ending.signal,
  );
  try {
    // Until then the page replaces rows of the list by those of events, which are made otherwise.
    await allReplaced(replaced, rigs);
    const before = await heldBy(page, session);
    events = 0;
    await page.evaluate(watchFrames);
    await wait(1000 * seconds);
    const counted = Math.round(events / seconds);
    const { longest, middle } = await framesSince(page);
    return { before, after: await heldBy(page, session), seconds, events: counted, frame: middle, longest };
  } finally {
    ending.abort();
    await following;
  }
}

/** s in which each row has changed at least once, however slow the machine is. */
const longestRound = 300;

async function allReplaced(replaced: ReadonlySet<string>, rigs: number): Promise<void> {
  const until = performance.now() + 1000 * longestRound;
  while (replaced.size < rigs) {
    if (performance.now() > until)
      throw new Error(`${rigs - replaced.size} of ${rigs} rows did not change in ${longestRound} s`);
    await wait(1_000);
  }
  // What the page shows follows its events within half a second.
  await wait(1_000);
}

const megabyte = 1e6;

/** After garbage collection: twice, since the first makes finalizers run. */
export async function heldBy(page: Page, session: CDPSession): Promise<Held> {
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  return { memory: await residentOf(page), heap: usedSize / megabyte, nodes, listeners: jsEventListeners };
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
