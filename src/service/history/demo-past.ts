import type { Logger } from "pino";
import { briefOf } from "../../fleet/state.ts";
import { allMiners, type FarmMoment, type Sample, type Store } from "../../store/index.ts";
import { isDemo } from "../miners/declared-miner.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";

export interface DemoPastOptions {
  readonly registry: MinerRegistry;
  /** Of demo miners, whose history ends with the process. */
  readonly demoStore: Store;
  readonly rates: { readonly currency: string };
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How far back it goes, and ms between two samples: as fine as the charts show it. */
const ages = [
  { from: 14 * dayMs, to: 2 * dayMs, step: hourMs },
  { from: 2 * dayMs, to: 2 * hourMs, step: 5 * minuteMs },
  { from: 2 * hourMs, to: 0, step: minuteMs },
] as const;

/** How a rig did at a moment, against how it does now. */
interface Doing {
  /** 0 = it stood still. */
  readonly share: number;
  /** °C more than now. */
  readonly warmer: number;
}

/** A demo rig as it mines now. */
interface Now {
  readonly id: number;
  readonly hashrate: number;
  readonly power: number | null;
  readonly temperature: number | null;
  readonly algorithm: string;
}

/**
 * The two weeks before a demo began, made up from how its rigs mine now, so that its charts show what charts are for. It is
 * in memory alone, as all that is recorded of demo miners.
 */
export class DemoPast {
  readonly #options: DemoPastOptions;

  constructor(options: DemoPastOptions) {
    this.#options = options;
  }

  /** Makes it if every demo rig has been read; true once that is done. Never throws. */
  turn(): boolean {
    const { registry, log } = this.#options;
    const entries = [...registry.all()].filter(({ facts }) => isDemo(facts.id));
    const rigs = entries.map((entry) => this.#nowOf(entry));
    if (!rigs.every((rig) => rig !== null)) return false;
    try {
      this.#make(rigs);
    } catch (error) {
      log.error({ err: error }, "the past of the demo could not be made up");
    }
    return true;
  }

  #nowOf({ facts: { id }, rig }: Entry): Now | null {
    const readings = briefOf(rig.state)?.readings;
    const figures = this.#options.registry.display.jsonCache.current(id)?.figures;
    if (readings === undefined || figures === undefined || readings.hashrate === null) return null;
    const { hashrate, power, temperature } = readings;
    return { id, hashrate, power, temperature, algorithm: figures.algorithmKey };
  }

  #make(rigs: readonly Now[]): void {
    const { demoStore, now, rates } = this.#options;
    const samples: Sample[] = [];
    const end = Math.floor(now() / minuteMs) * minuteMs;
    for (const { from, to, step } of ages)
      for (let time = end - from; time < end - to; time += step) {
        const moment = new Map<Now, Doing>(rigs.map((rig) => [rig, doing(rig.id, time)]));
        for (const [rig, how] of moment) samples.push(sampleOf(rig, how, time));
        demoStore.farmSamples.append(farmMoment(moment, time, rates.currency));
      }
    demoStore.samples.append(samples);
  }
}

/** Each rig has its own rhythm: a little up and down, cooler nights, and now and then an hour in which it stood still. */
function doing(id: number, time: number): Doing {
  const hour = Math.floor(time / hourMs);
  const isStill = chance(id, hour) < 0.01;
  const drift = 0.02 * Math.sin(time / (3.1 * hourMs) + id) + 0.03 * (chance(id, time) - 0.5);
  const warmer = 3 * Math.sin((2 * Math.PI * (time - 9 * hourMs)) / dayMs) + chance(time, id) - 0.5;
  return { share: isStill ? 0 : 1 + drift, warmer };
}

/** From 0 to 1, always the same for the same two numbers. */
function chance(one: number, other: number): number {
  const mixed = Math.sin((one % 1_000) * 12.9898 + (other % 1_000_003) * 78.233) * 43_758.5453;
  return mixed - Math.floor(mixed);
}

/** W; a rig that stands still draws a little. */
const powerAt = (now: number | null, share: number): number | null =>
  now === null ? null : now * (share === 0 ? 0.02 : share);

function sampleOf({ id, hashrate, power, temperature }: Now, { share, warmer }: Doing, time: number): Sample {
  return {
    minerId: id,
    time,
    hashrate: hashrate * share,
    power: powerAt(power, share),
    temperature: temperature === null ? null : share === 0 ? 25 : temperature + warmer,
    energy: null,
  };
}

function farmMoment(moment: ReadonlyMap<Now, Doing>, time: number, currency: string): FarmMoment {
  const algorithms = new Map<string, { hashrate: number; miners: number }>();
  let power: number | null = null;
  let mining = 0;
  for (const [rig, { share }] of moment) {
    const drawn = powerAt(rig.power, share);
    power = drawn === null ? power : (power ?? 0) + drawn;
    if (share === 0) continue;
    mining += 1;
    const work = algorithms.get(rig.algorithm) ?? { hashrate: 0, miners: 0 };
    algorithms.set(rig.algorithm, { hashrate: work.hashrate + rig.hashrate * share, miners: work.miners + 1 });
  }
  // All of them, and those in no group, which are the same here.
  const groups = [allMiners, 0];
  const money = { revenue: null, cost: null, profit: null };
  return {
    currency,
    samples: groups.map((groupId) => ({ groupId, time, power, mining, total: moment.size, ...money })),
    hashrates: groups.flatMap((groupId) =>
      [...algorithms].map(([algorithm, work]) => ({ groupId, time, algorithm, ...work })),
    ),
  };
}
