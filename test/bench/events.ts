import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, quantile } from "./statistics.ts";
import { follow } from "./web.ts";

/**
 * Every rig is read once a second and says something else each time: the clock's time of its reply, as its count of
 * accepted shares, which stands in the event. Both ends read the same machine's clock, in whole ms.
 */
export async function events(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 100 : 2000;
  const since = Date.now() - 1;
  const farm = await startFarm(rigs, { stampedSince: since });
  const service = new Service();
  await service.start(farm.rigs, { interval: 1 });
  await service.readBy(rigs, 2);
  const windows: number[][] = [];
  let latencies: number[] = [];
  let text = "";
  const ending = new AbortController();
  const stream = follow(
    `${service.url}/api/events`,
    (portion) => {
      const now = Date.now() - since;
      text += portion;
      const end = text.lastIndexOf("\n\n");
      for (const [, stamp] of text.slice(0, end + 2).matchAll(/"acceptedValue":(\d+)/g))
        latencies.push(now - Number(stamp));
      text = text.slice(end + 2);
    },
    ending.signal,
  );
  const seconds = quick ? 2 : 5;
  for (let window = 0; window <= (quick ? 1 : 3); window += 1) {
    latencies = [];
    await Promise.race([wait(1000 * seconds), stream]);
    if (window > 0) windows.push(latencies);
  }
  ending.abort();
  await stream;
  await Promise.all([service.end(), farm.end()]);
  const all = windows.flat();
  const perSecond = Math.round(all.length / windows.length / seconds);
  const note = `${perSecond.toLocaleString("en-US")} events a second, p50 ${quantile(all, 0.5)} ms, at most ${Math.max(0, ...all)} ms`;
  return [
    measured(
      "events.p99.ms",
      windows.map((window) => quantile(window, 0.99)),
      note,
    ),
  ];
}
