import type { CDPSession, Page } from "playwright-core";
import { z } from "zod";
import { hasBrowser, heldBy } from "../bench/dashboard.ts";
import { Service, startFarm } from "../bench/rigs.ts";
import { closeBrowser, newPage } from "../chromium.ts";
import { Verdict, wait } from "./measure.ts";
import { say } from "./say.ts";

/**
 * The wall view of 3,000 rigs that are read every 10 s, for so many minutes, with a tile for each rig, which is its most
 * expensive form: what it costs in the browser, and that its memory does not grow.
 */
const minutes = Number(process.argv[2] ?? 3);
const rigCount = Number(process.argv[3] ?? 3_000);
/** s between two reads of a rig, each of which changes its row. */
const interval = 10;
/** Of a core, for all processes of the browser together. */
const mostCpu = 0.05;
/** MB of reachable objects, after a garbage collection. */
const mostGrowth = 1;
/** DOM nodes between the last screen, which may have a single tile, and a full one. */
const mostNodes = 1_500;
/** A wall with one screen has no buttons of the others. */
const mostListeners = 10;
/** ms until each row has been replaced by one of an event, and the code is optimized. */
const warmUpMs = 60_000;

const Notifications = z.object({ notificationList: z.array(z.unknown()) });
const Processes = z.object({ processInfo: z.array(z.object({ type: z.string(), cpuTime: z.number() })) });

/** The least of a minute: while the page reads all rigs again, after its stream was cut, it holds them twice. */
async function leastHeldBy(page: Page, session: CDPSession) {
  const all = [await heldBy(page, session)];
  for (let more = 0; more < 3; more += 1) {
    await wait(20_000);
    all.push(await heldBy(page, session));
  }
  return all.reduce((least, each) => (each.heap < least.heap ? each : least));
}

/** s of CPU of all processes of the browser, by their kind. */
async function cpuOf(browser: CDPSession): Promise<Map<string, number>> {
  const { processInfo } = Processes.parse(await browser.send("SystemInfo.getProcessInfo"));
  const times = new Map<string, number>();
  for (const { type, cpuTime } of processInfo) times.set(type, (times.get(type) ?? 0) + cpuTime);
  return times;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Notifications that the service keeps. */
async function notifications(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/notifications`);
  return Notifications.parse(await answer.json()).notificationList.length;
}

async function watch(page: Page, url: string): Promise<Verdict> {
  const session = await page.context().newCDPSession(page);
  const browser = await page.context().browser()?.newBrowserCDPSession();
  if (browser === undefined) throw new Error("The browser has ended");
  await wait(warmUpMs);
  const before = await leastHeldBy(page, session);
  const cpuBefore = await cpuOf(browser);
  const began = performance.now();
  await wait(60_000 * minutes);
  const cpuAfter = await cpuOf(browser);
  const seconds = (performance.now() - began) / 1000;
  const raised = { ...(await heldBy(page, session)), notes: await notifications(url) };
  // Each is an open alarm that the page shows in its counts: content, and no leak.
  await fetch(`${url}/api/notifications?action=clear_all`, { method: "POST" });
  const after = await leastHeldBy(page, session);
  const shares = [...cpuAfter].map(([type, cpu]) => ({ type, share: (cpu - (cpuBefore.get(type) ?? 0)) / seconds }));
  const cpu = shares.reduce((sum, { share }) => sum + share, 0);
  const parts = shares.map(({ type, share }) => `${type} ${percent(share)}`).join(", ");
  const verdict = new Verdict();
  verdict.check(`${percent(cpu)} of a core (at most ${percent(mostCpu)}; ${parts})`, cpu <= mostCpu);
  verdict.check(
    `objects of ${before.heap.toFixed(2)} and ${after.heap.toFixed(2)} MB (at most ${mostGrowth} more), DOM nodes ` +
      `${before.nodes} and ${after.nodes}, listeners ${before.listeners} and ${after.listeners}, process ` +
      `${before.memory.toFixed(0)} and ${after.memory.toFixed(0)} MB; with ${raised.notes} alarms, which were then cleared, ` +
      `${raised.heap.toFixed(2)} MB`,
    after.heap - before.heap <= mostGrowth &&
      after.nodes - before.nodes <= mostNodes &&
      after.listeners - before.listeners <= mostListeners,
  );
  return verdict;
}

async function main(): Promise<Verdict> {
  const farm = await startFarm(rigCount, { switching: true });
  const service = new Service();
  try {
    await service.start(farm.rigs, { interval });
    await service.readAll(rigCount);
    const page = await newPage(1920, 1080);
    await page.goto(`${service.url}/wall?by=rig`);
    const tiles = page.locator(".wall-tile");
    await tiles.first().waitFor();
    say(`The wall of ${rigCount} rigs, ${await tiles.count()} of them on a screen, for ${minutes} minutes`);
    return await watch(page, service.url);
  } finally {
    await closeBrowser();
    await Promise.all([service.end(), farm.end()]);
  }
}

if (hasBrowser()) (await main()).end();
