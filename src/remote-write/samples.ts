import { setImmediate as turn } from "node:timers/promises";
import type { Miner } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { curtailmentFamilies } from "../metrics/curtailment-metrics.ts";
import type { Labels } from "../metrics/exposition.ts";
import { facilityFamilies } from "../metrics/facility-metrics.ts";
import { farmFamilies, minerLabels, minersOf, StatusCounts } from "../metrics/farm-metrics.ts";
import { minerMetrics, minerParts } from "../metrics/miner-metrics.ts";
import { type Label, metricLabel, type SeriesSample } from "./write-request.ts";

/** What a miner had in the last round: almost all rigs of a model have the same series, and share the list of them. */
interface Had {
  readonly own: readonly Label[];
  readonly series: SeriesList;
}

/** The series of a miner, without the labels of the miner. */
interface SeriesList {
  readonly key: string;
  readonly labels: readonly (readonly Label[])[];
}

const caller = { actor: "remote write" } as const;
/** Miners read before yielding to other work. */
const minersAtOnce = 100;

/** The samples of /metrics, round by round. A series that a round lacks is ended, so that no value outlives its rig. */
export class Samples {
  readonly #service: MiningService;
  /** Labels of every sample. */
  readonly #common: readonly Label[];
  #had = new Map<number, Had>();
  #lists = new Map<string, SeriesList>();

  constructor(service: MiningService, labels: Labels) {
    this.#service = service;
    this.#common = Object.entries(labels);
  }

  /** The samples of now. A round that is not read to its end changes nothing for the next. */
  async *round(): AsyncIterable<SeriesSample> {
    const had = new Map<number, Had>();
    const lists = new Map<string, SeriesList>();
    const counts = new StatusCounts();
    let seen = 0;
    for (const [miner, group] of await minersOf(this.#service, caller)) {
      counts.add(miner);
      const own = [...this.#common, ...Object.entries(minerLabels(miner, group))];
      const { values, labels } = partsOf(miner);
      for (const [index, value] of values.entries()) yield { labels: ordered(own, labels[index] ?? []), value };
      const key = JSON.stringify(labels);
      const series = lists.get(key) ?? this.#lists.get(key) ?? { key, labels };
      lists.set(key, series);
      yield* ended(this.#had.get(miner.id), { own, series });
      had.set(miner.id, { own, series });
      seen += 1;
      if (seen % minersAtOnce === 0) await turn();
    }
    for (const [id, before] of this.#had) if (!had.has(id)) yield* ended(before, null);
    const ofFarm = farmFamilies(counts, await this.#service.getSummary({}, caller));
    const others = [
      ...(await facilityFamilies(this.#service, caller)),
      ...(await curtailmentFamilies(this.#service, caller)),
    ];
    for (const { metric, samples } of [...ofFarm, ...others])
      for (const [labels, value] of samples)
        if (value !== null)
          yield {
            labels: ordered(this.#common, [[metricLabel, metric.name], ...Object.entries(labels)]),
            value: Number(value),
          };
    this.#had = had;
    this.#lists = lists;
  }
}

function partsOf(miner: Miner) {
  const values: number[] = [];
  const labels: (readonly Label[])[] = [];
  for (const metric of minerMetrics)
    for (const part of minerParts(metric, miner)) {
      if (part.value === null) continue;
      values.push(Number(part.value));
      labels.push([[metricLabel, metric.name], ...Object.entries(part.labels)]);
    }
  return { values, labels };
}

/** The ends of series that a miner had and has no longer. */
function* ended(before: Had | undefined, now: Had | null): Iterable<SeriesSample> {
  if (before === undefined) return;
  const isSame = now !== null && JSON.stringify(before.own) === JSON.stringify(now.own);
  if (isSame && before.series === now.series) return;
  const left = new Set(isSame ? now.series.labels.map((labels) => JSON.stringify(labels)) : []);
  for (const labels of before.series.labels)
    if (!left.has(JSON.stringify(labels))) yield { labels: ordered(before.own, labels), value: null };
}

/** As the protocol wants labels: by name, without empty ones. */
const ordered = (own: readonly Label[], part: readonly Label[]): readonly Label[] =>
  [...own, ...part].filter(([, text]) => text !== "").sort(([a], [b]) => (a < b ? -1 : 1));
