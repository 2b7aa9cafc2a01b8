import { z } from "zod";
import { listen, type Published, withMosquitto } from "./broker.ts";
import { Child } from "./child.ts";
import { type Farm, Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, median, quantile, ratios } from "./statistics.ts";

/** Long enough for nothing to be polled while the bridge publishes all that it knows. */
const rarely = 3600;
const ofMiners = "rigbridge/miner/+/+";

export const mqtt = (quick: boolean): Promise<Measured[]> =>
  withMosquitto(async ({ url }) => {
    const since = Date.now() - 1;
    const farm = await startFarm(quick ? 100 : 2000, { stampedSince: since, switching: true });
    const found: Measured[] = [];
    for (const { name, share, workers } of paces) {
      const rigs = farm.rigs.slice(0, farm.rigs.length * share);
      found.push(await latency(name, { url, rigs, since, workers }, quick));
    }
    found.push(await publishing(url, farm, quick));
    await farm.end();
    return found;
  });

/** What part of the 2,000 rigs changes each second, and how many worker threads read them; null: as installed. */
const paces = [
  { name: "mqtt.p99.ms", share: 1, workers: null },
  { name: "mqtt.1000.p99.ms", share: 1 / 2, workers: null },
  { name: "mqtt.workers.p99.ms", share: 1, workers: 2 },
];

/** ms from the rig's reply, and from the bridge's hearing of it, to the subscriber. */
interface Late {
  readonly all: number;
  /** null: it was not told but had to ask, having fallen behind. */
  readonly bridge: number | null;
}

interface Watched {
  readonly url: string;
  readonly rigs: Farm["rigs"];
  /** Epoch ms that the rigs count from. */
  readonly since: number;
  readonly workers: number | null;
}

async function latency(name: string, watched: Watched, quick: boolean): Promise<Measured> {
  const windows = await lates(watched, quick);
  const p99s = windows.map((window) => p(0.99, window, "all"));
  return measured(name, p99s, said(windows, quick));
}

const p = (share: number, lates: readonly Late[], part: keyof Late): number =>
  quantile(
    lates.map((late) => late[part]).filter((ms) => ms !== null),
    share,
  );

function said(windows: readonly Late[][], quick: boolean): string {
  const all = windows.flat();
  const perSecond = Math.round(all.length / windows.length / seconds(quick)).toLocaleString("en-US");
  const both = (part: keyof Late): string => `p50 ${p(0.5, all, part)} ms, p99 ${p(0.99, all, part)} ms`;
  return `${perSecond} changes a second ${both("all")}, of it from the bridge on ${both("bridge")}`;
}

/** Of each window. */
const seconds = (quick: boolean): number => (quick ? 2 : 5);

const State = z.object({ shares_accepted: z.number(), shares_rejected: z.number() });

/**
 * Every rig is read once a second, and each time somebody has switched one of its boards, which the bridge publishes at
 * once. The clock's time of the reply stands in the state as the count of accepted shares, and the time at which the
 * bridge was told as that of rejected ones. All read the same machine's clock, in whole ms.
 */
async function lates({ url, rigs, since, workers }: Watched, quick: boolean): Promise<Late[][]> {
  const service = new Service();
  await service.start(rigs, { interval: 1, mqtt: url, workers });
  await service.readBy(rigs.length, 2);
  let heard: Late[] = [];
  const subscriber = await listen(url, { filter: "rigbridge/miner/+/state", qos: 0 }, ({ payload }) => {
    const now = Date.now();
    // The bridge empties the topics of rigs that only the run before had.
    if (payload === "") return;
    const { shares_accepted: replied, shares_rejected: told } = State.parse(JSON.parse(payload));
    heard.push({ all: now - since - replied, bridge: told === 0 ? null : now - told });
  });
  const windows: Late[][] = [];
  for (let window = 0; window <= (quick ? 1 : 3); window += 1) {
    heard = [];
    await wait(1000 * seconds(quick));
    if (window > 0) windows.push(heard);
  }
  await subscriber.endAsync(true);
  await service.end();
  return windows;
}

/** Resolves when so many messages have come. */
class Tally {
  #left = 0;
  #done: () => void = () => undefined;

  next(count: number): Promise<void> {
    this.#left = count;
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  count(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
}

/**
 * The states of all miners, and whether each is there, as after a reconnect. The bridge is made to by what Home
 * Assistant says when it starts; the bare loop publishes what the bridge did, byte for byte.
 */
async function publishing(url: string, farm: Farm, quick: boolean): Promise<Measured> {
  const service = new Service();
  await service.start(farm.rigs, { interval: rarely, mqtt: url });
  await service.readAll(farm.rigs.length);
  const count = 2 * farm.rigs.length;
  const tally = new Tally();
  const messages: Published[] = [];
  const learner = await listen(url, { filter: ofMiners, qos: 1 }, (message) => {
    messages.push(message);
    tally.count();
  });
  const start = async (): Promise<void> => {
    await learner.publishAsync("homeassistant/status", "online");
  };
  await Promise.all([tally.next(count), start()]);
  await learner.unsubscribeAsync(ofMiners);
  const bare = new Child("bare-publish.ts");
  await bare.tell("connect", url);
  await bare.tell("messages", messages);
  const subscriber = await listen(url, { filter: ofMiners, qos: 0 }, () => tally.count());

  const times = quick ? 1 : 5;
  /** µs of CPU a message, and ms until the subscriber has the last of all. */
  const cost = async (child: Child, publish: () => Promise<void>): Promise<{ cpu: number; ms: number }> => {
    const before = await child.cpu();
    let ms = 0;
    for (let time = 0; time < times; time += 1) {
      const began = performance.now();
      await Promise.all([tally.next(count), publish()]);
      ms += (performance.now() - began) / times;
      // The last acknowledgements.
      await wait(100);
    }
    return { cpu: ((await child.cpu()) - before) / times / count, ms };
  };
  const ours: { cpu: number; ms: number }[] = [];
  const floor: { cpu: number; ms: number }[] = [];
  for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
    const our = await cost(service.child, start);
    const their = await cost(bare, () => bare.tell("publish"));
    if (round === 0) continue;
    ours.push(our);
    floor.push(their);
  }
  await Promise.all([learner.endAsync(true), subscriber.endAsync(true), service.end(), bare.end()]);
  const cpus = (costs: typeof ours): number[] => costs.map(({ cpu }) => cpu);
  const shown = (costs: typeof ours): string =>
    `${median(cpus(costs)).toFixed(1)} µs (${Math.round(median(costs.map(({ ms }) => ms)))} ms)`;
  const note = `${count} messages, CPU for one and time for all: ${shown(ours)}, the bare loop ${shown(floor)}`;
  return measured("mqtt.ratio", ratios(cpus(floor), cpus(ours)), note);
}
