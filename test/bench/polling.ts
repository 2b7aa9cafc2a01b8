import { join } from "node:path";
import { z } from "zod";
import { Child } from "./child.ts";
import type { FarmSettings } from "./farm.ts";
import { inFolder } from "./folder.ts";
import { type Farm, Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, median, ratios } from "./statistics.ts";

interface Pace {
  /** Rigs, each read once a second: so many that about half a core is used. */
  readonly rigs: number;
  readonly rounds: number;
  /** Of one measurement; a multiple of the 5 s between two writes of samples. */
  readonly seconds: number;
}

const Run = z.object({ done: z.int(), failed: z.int() });

/** µs of CPU a request of a bare process that polls at this pace. */
export async function bareCost(child: Child, perSecond: number, seconds: number, batchMs = 0): Promise<number> {
  const before = await child.cpu();
  const { done, failed } = await child.ask(Run, "run", { perSecond, seconds, batchMs });
  if (failed > done / 1000) throw new Error(`${failed} of ${done + failed} bare polls failed`);
  return ((await child.cpu()) - before) / done;
}

/** µs of CPU a request of the whole service over that farm. Each round it starts anew in the same, warm process. */
const serviceCost = (service: Service, farm: Farm, { rigs, seconds }: Pace): Promise<number> =>
  inFolder(async (folder) => {
    await service.start(farm.rigs, { interval: 1, file: join(folder, "rigbridge.db") });
    await service.readBy(rigs, 2);
    const requests = await farm.requests();
    const { cpu } = await service.watched(seconds);
    const cost = cpu / ((await farm.requests()) - requests);
    await service.stop();
    await wait(300);
    return cost;
  });

interface Costs {
  readonly ours: number[];
  readonly bare: number[];
  /** The bare loop in batches. */
  readonly batched: number[];
  readonly peer: number[];
}

/** ms between two batches of the bare loop. */
const batchMs = 50;

/** Rigs a second: the peer takes four connections for each, and should stay below a core as the others do. */
const peerPace = 100;

/** In turns, so that what the machine does otherwise meets both. */
async function compared(
  pace: Pace,
  settings: Partial<FarmSettings>,
  files: { bare: string; peer?: string },
): Promise<Costs> {
  const farm = await startFarm(pace.rigs, settings);
  const service = new Service();
  const bare = new Child(files.bare);
  const peer = files.peer === undefined ? null : new Child(files.peer);
  await bare.tell("rigs", farm.rigs);
  await peer?.tell("rigs", farm.rigs);
  const costs: Costs = { ours: [], bare: [], batched: [], peer: [] };
  // One round more at the start, to be warm.
  for (let round = 0; round <= pace.rounds; round += 1) {
    const isWarm = round > 0;
    const seconds = isWarm ? pace.seconds : 2;
    const ours = await serviceCost(service, farm, { ...pace, seconds });
    const floor = await bareCost(bare, pace.rigs, seconds);
    const batched = await bareCost(bare, pace.rigs, seconds, batchMs);
    const theirs = peer === null ? null : await bareCost(peer, Math.min(pace.rigs, peerPace), seconds);
    if (!isWarm) continue;
    costs.ours.push(ours);
    costs.bare.push(floor);
    costs.batched.push(batched);
    if (theirs !== null) costs.peer.push(theirs);
  }
  await Promise.all([service.end(), bare.end(), peer?.end(), farm.end()]);
  return costs;
}

const micros = (costs: readonly number[]): string => `${Math.round(median(costs))} µs`;

export async function poll(quick: boolean): Promise<Measured[]> {
  const pace = quick ? { rigs: 200, rounds: 1, seconds: 5 } : { rigs: 1000, rounds: 3, seconds: 5 };
  const { ours, bare, batched, peer } = await compared(pace, {}, { bare: "bare-poll.ts", peer: "peer-poll.ts" });
  return [
    measured("poll.ratio", ratios(bare, ours), `${micros(ours)} of CPU a read, the bare loop ${micros(bare)}`),
    measured("poll.ratio.batched", ratios(batched, ours), `the bare loop in batches ${micros(batched)}`),
    measured("poll.peer", ratios(peer, ours), `cgminer-api ${micros(peer)} for the same four reports`),
  ];
}

export async function httpPoll(quick: boolean): Promise<Measured[]> {
  const pace = quick ? { rigs: 100, rounds: 1, seconds: 5 } : { rigs: 800, rounds: 3, seconds: 5 };
  const { ours, bare, batched } = await compared(pace, { kinds: ["axeos", "xmrig"] }, { bare: "bare-http-poll.ts" });
  return [
    measured("poll.http.ratio", ratios(bare, ours), `${micros(ours)} of CPU a request, the bare loop ${micros(bare)}`),
    measured("poll.http.ratio.batched", ratios(batched, ours), `the bare loop in batches ${micros(batched)}`),
  ];
}
