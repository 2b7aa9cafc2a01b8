import type { Logger } from "pino";
import { briefOf } from "../../fleet/state.ts";
import type { FarmMoment, MoneyKey, MoneySums, Sample, Store } from "../../store/index.ts";
import { FarmSums } from "../history/group-sums.ts";
import { isDemo } from "../miners/declared-miner.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { MinerFigures } from "../miners/present-miner.ts";
import { datesIn, type LocalClock } from "../money/local-time.ts";
import { lineOf } from "../nested-groups.ts";

export interface DemoPastOptions {
  readonly registry: MinerRegistry;
  /** The store of demo miners, whose history ends with the process. */
  readonly demoStore: Store;
  readonly store: Pick<Store, "groups">;
  readonly rates: { readonly currency: string };
  readonly localTime: LocalClock;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Ages of the invented samples, and ms between two of them: as fine as the charts show them. */
const ages = [
  { from: 14 * dayMs, to: 2 * dayMs, step: hourMs },
  { from: 2 * dayMs, to: 2 * hourMs, step: 5 * minuteMs },
  { from: 2 * hourMs, to: 0, step: minuteMs },
] as const;

/** State of a rig at a moment, relative to the present. */
interface Doing {
  /** 0: the rig was stopped. */
  readonly share: number;
  /** °C more than now. */
  readonly warmer: number;
}

/** The present state of a demo rig. */
interface Now {
  readonly id: number;
  /** Its group and those around it, or 0. */
  readonly groups: readonly number[];
  readonly hashrate: number;
  readonly power: number | null;
  readonly temperature: number | null;
  readonly figures: MinerFigures;
}

/**
 * An invented past of two weeks for a demo, derived from the present state of its rigs, so that charts have something
 * to show. Kept in memory, like everything recorded of demo miners.
 */
export class DemoPast {
  readonly #options: DemoPastOptions;

  constructor(options: DemoPastOptions) {
    this.#options = options;
  }

  /** Creates the past once every demo rig has been read; true when done. Never throws. */
  async turn(): Promise<boolean> {
    const { registry, log } = this.#options;
    const entries = [...registry.all()].filter(({ facts }) => isDemo(facts.id));
    const rigs = entries.map((entry) => this.#nowOf(entry));
    if (!rigs.every((rig) => rig !== null)) return false;
    try {
      await this.#make(rigs);
    } catch (error) {
      log.error({ err: error }, "the past of the demo could not be made up");
    }
    return true;
  }

  #nowOf({ facts: { id, groupId }, rig }: Entry): Now | null {
    const readings = briefOf(rig.state)?.readings;
    const figures = this.#options.registry.display.jsonCache.current(id)?.figures;
    if (readings === undefined || figures === undefined || readings.hashrate === null) return null;
    const { hashrate, power, temperature } = readings;
    return { id, groups: lineOf(groupId, this.#options.store.groups), hashrate, power, temperature, figures };
  }

  async #make(rigs: readonly Now[]): Promise<void> {
    const { demoStore, now, rates } = this.#options;
    const samples: Sample[] = [];
    const end = Math.floor(now() / minuteMs) * minuteMs;
    for (const { from, to, step } of ages)
      for (let time = end - from; time < end - to; time += step) {
        const moment = new Map<Now, Doing>(rigs.map((rig) => [rig, doing(rig.id, time)]));
        for (const [rig, how] of moment) samples.push(sampleOf(rig, how, time));
        await demoStore.farmSamples.append(farmMoment(moment, time, rates.currency));
      }
    await demoStore.samples.append(samples);
    await demoStore.moneyDays.add(this.#money(rigs, end));
  }

  /** What each earned and cost on each of the days, by the hours of which it ran. */
  *#money(rigs: readonly Now[], end: number): Iterable<readonly [MoneyKey, MoneySums]> {
    const { rates, localTime } = this.#options;
    const begin = end - (ages[0]?.from ?? 0);
    for (const { date, from, to } of datesIn(localTime, begin, end))
      for (const rig of rigs) {
        const { coinKey, algorithmKey } = rig.figures;
        const groupId = rig.groups[0] ?? 0;
        yield [
          { date, minerId: rig.id, groupId, coin: coinKey, algorithm: algorithmKey, currency: rates.currency },
          moneyOf(rig, to - from, meanShare(rig, from, to)),
        ];
      }
  }
}

const meanShare = ({ id }: Now, from: number, to: number): number => {
  const shares: number[] = [];
  for (let time = from; time < to; time += hourMs) shares.push(doing(id, time).share);
  return shares.length === 0 ? 0 : shares.reduce((sum, share) => sum + share, 0) / shares.length;
};

function moneyOf({ power, figures: { earnings } }: Now, lengthMs: number, share: number): MoneySums {
  const part = (perDay: number | null): number | null => (perDay === null ? null : (perDay * share * lengthMs) / dayMs);
  const seconds = Math.round(lengthMs / 1000);
  const [revenue, cost] = [part(earnings.revenuePerDay), part(earnings.costPerDay)];
  const [revenueBtc, profitBtc] = [part(earnings.revenueBtc), part(earnings.profitBtc)];
  return {
    seconds,
    energy: power === null ? null : (power * share * lengthMs) / hourMs,
    cost,
    costBtc: revenueBtc === null || profitBtc === null ? null : revenueBtc - profitBtc,
    revenue,
    revenueBtc,
    profit: part(earnings.profitPerDay),
    profitBtc,
    compared: earnings.profitPerDay === null ? 0 : seconds,
    uncosted: cost === null ? seconds : 0,
    unearned: revenue === null ? seconds : 0,
  };
}

/** Each rig has its own rhythm: small fluctuations, cooler nights, and an occasional hour of standstill. */
function doing(id: number, time: number): Doing {
  const hour = Math.floor(time / hourMs);
  const isStill = chance(id, hour) < 0.01;
  const drift = 0.02 * Math.sin(time / (3.1 * hourMs) + id) + 0.03 * (chance(id, time) - 0.5);
  const warmer = 3 * Math.sin((2 * Math.PI * (time - 9 * hourMs)) / dayMs) + chance(time, id) - 0.5;
  return { share: isStill ? 0 : 1 + drift, warmer };
}

/** From 0 to 1, deterministic for the two numbers. */
function chance(one: number, other: number): number {
  const mixed = Math.sin((one % 1_009) * 12.9898 + (other % 1_000_003) * 78.233) * 43_758.5453;
  return mixed - Math.floor(mixed);
}

/** W; a stopped rig draws a little. */
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
  const sums = new FarmSums();
  for (const [{ groups, power, hashrate, figures }, { share }] of moment) {
    const { algorithmKey, earnings } = figures;
    const part = (perDay: number | null): number | null => (perDay === null ? null : perDay * share);
    sums.add(groups, powerAt(power, share), {
      running: share > 0,
      works: [{ algorithmKey, hashrate: hashrate * share }],
      earnings: {
        revenuePerDay: part(earnings.revenuePerDay),
        costPerDay: part(earnings.costPerDay),
        profitPerDay: part(earnings.profitPerDay),
      },
    });
  }
  return sums.at(time, currency);
}
