import { z } from "zod";
import { closeBrowser } from "../chromium.ts";
import { hasBrowser, openList } from "./dashboard.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, median } from "./statistics.ts";
import { follow } from "./web.ts";

/** s between two reads of a rig. */
const interval = 10;
/** Long enough for nothing else to be read while CPU is measured. */
const rarely = 3600;
/** The stream with the columns of the page's list. */
const events =
  "/api/events?view=list&fields=" +
  "id,uid,name,group,location,tags,status,reason,hashrate,expected,power,temperature,pool,coin,profit,alarms,readAt," +
  "algorithm,model,address,worker";

/**
 * What a list of rigs that nobody touches receives, in a browser, and what such a stream costs the service: each against a
 * stream of every change of every row. The first minutes, in which all figures rest, are not counted.
 */
export async function idleList(quick: boolean, seconds = quick ? 5 : 120): Promise<Measured[]> {
  if (!hasBrowser()) return [];
  const rigs = quick ? 300 : 10_000;
  try {
    const { own, all } = await receivedBy(rigs, seconds, quick ? 1_000 : 300_000);
    const costs = await costsOf(quick ? 300 : 2_000, quick ? 1 : 5);
    const rate = `${rigs} rigs read every ${interval} s; a stream of every change ${Math.round(all)}`;
    const [shown, every] = [median(costs.shown), median(costs.every)].map((us) => us.toFixed(0));
    return [
      measured("web.idle.bytes", [own], rate),
      measured("web.idle.cpu.us", costs.shown, `${shown} µs a read; a stream of every change ${every} µs`),
    ];
  } finally {
    await closeBrowser();
  }
}

/** Bytes a second that the page receives, and that a stream without `shown` does. */
async function receivedBy(rigs: number, seconds: number, restMs: number) {
  const farm = await startFarm(rigs);
  const service = new Service();
  try {
    await service.start(farm.rigs, { interval });
    await service.readAll(rigs);
    const page = await openList(service.url);
    const session = await page.context().newCDPSession(page);
    let own = 0;
    session.on("Network.dataReceived", (event) => {
      own += z.object({ dataLength: z.number() }).parse(event).dataLength;
    });
    await session.send("Network.enable");
    const ending = new AbortController();
    let all = 0;
    const following = follow(`${service.url}${events}`, (text) => (all += text.length), ending.signal);
    await wait(restMs);
    [own, all] = [0, 0];
    const began = performance.now();
    await wait(1000 * seconds);
    const passed = (performance.now() - began) / 1000;
    const received = { own: own / passed, all: all / passed };
    ending.abort();
    await following;
    await page.context().close();
    return received;
  } finally {
    await Promise.all([service.end(), farm.end()]);
  }
}

/** µs of CPU a read that a stream adds, by rounds. */
async function costsOf(rigs: number, rounds: number) {
  const farm = await startFarm(rigs);
  const service = new Service();
  const during = async (query: string | null): Promise<number> => {
    const ending = new AbortController();
    const following =
      query === null ? undefined : follow(`${service.url}${events}${query}`, () => undefined, ending.signal);
    await wait(500);
    const before = await service.child.cpu();
    await service.child.tell("readAgain");
    const cpu = (await service.child.cpu()) - before;
    ending.abort();
    await following;
    return cpu / rigs;
  };
  try {
    await service.start(farm.rigs, { interval: rarely });
    await service.readAll(rigs);
    const ids = Array.from({ length: 100 }, (_, index) => 1_000_000_001 + index).join();
    const costs: { shown: number[]; every: number[] } = { shown: [], every: [] };
    for (let round = 0; round <= rounds; round += 1) {
      const [none, shown, every] = [await during(null), await during(`&shown=${ids}`), await during("")];
      // The first one warms all up.
      if (round === 0) continue;
      costs.shown.push(shown - none);
      costs.every.push(every - none);
    }
    return costs;
  } finally {
    await Promise.all([service.end(), farm.end()]);
  }
}
