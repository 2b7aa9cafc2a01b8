import { z } from "zod";
import { closeBrowser } from "../chromium.ts";
import { hasBrowser, openList } from "./dashboard.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured } from "./statistics.ts";
import { follow } from "./web.ts";

/** s between two reads of a rig. */
const interval = 10;
/** The columns of the page's list. */
const fields =
  "id,uid,name,group,location,tags,status,reason,hashrate,expected,power,temperature,pool,coin,profit,alarms,readAt," +
  "algorithm,model,address,worker";

/**
 * What a list of rigs that nobody touches receives, in a browser, and what that costs the service: against a stream of every
 * change of every row. The first minutes, in which all rows begin to rest at the same time, are not counted.
 */
export async function idleList(quick: boolean, seconds = quick ? 5 : 120): Promise<Measured[]> {
  if (!hasBrowser()) return [];
  const rigs = quick ? 300 : 10_000;
  const farm = await startFarm(rigs);
  const service = new Service();
  try {
    await service.start(farm.rigs, { interval });
    await service.readAll(rigs);
    const alone = await service.watched(seconds);
    const page = await openList(service.url);
    const session = await page.context().newCDPSession(page);
    let bytes = 0;
    session.on("Network.dataReceived", (event) => {
      bytes += z.object({ dataLength: z.number() }).parse(event).dataLength;
    });
    await session.send("Network.enable");
    await wait(quick ? 1_000 : 300_000);
    bytes = 0;
    const beside = await service.watched(seconds);
    const received = bytes / beside.seconds;
    await page.context().close();
    const all = await everyChange(service, seconds);
    // ms of CPU a second.
    const cost = ({ cpu, seconds: passed }: { cpu: number; seconds: number }): number => cpu / passed / 1_000;
    const [own, most] = [cost(beside) - cost(alone), cost(all) - cost(alone)];
    const cpu = `${own.toFixed(1)} ms of CPU a second, every change ${most.toFixed(1)} ms`;
    return [
      measured(
        "web.idle.bytes",
        [received],
        `a second, ${rigs} rigs read every ${interval} s; every change of every row ${Math.round(all.bytes)} bytes; ${cpu}`,
      ),
    ];
  } finally {
    await closeBrowser();
    await Promise.all([service.end(), farm.end()]);
  }
}

/** Bytes a second of a stream that names no rigs on its screen, and its CPU. */
async function everyChange(
  service: Service,
  seconds: number,
): Promise<{ bytes: number; cpu: number; seconds: number }> {
  const ending = new AbortController();
  let bytes = 0;
  const url = `${service.url}/api/events?view=list&fields=${fields}`;
  const following = follow(url, (text) => (bytes += text.length), ending.signal);
  await wait(1_000);
  bytes = 0;
  const watched = await service.watched(seconds);
  ending.abort();
  await following;
  return { ...watched, bytes: bytes / watched.seconds };
}
