import type { Config } from "../../config/schema.ts";
import { invalidAll } from "../../contract/problems.ts";
import type { SummaryHistory } from "../../contract/resources.ts";
import type { Input, MiningService } from "../../contract/service.ts";
import { allMiners, type FarmHashrate, type FarmSample, farmSpans, type Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { groupIdOf } from "../miners/groups.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import { Mean, mostPoints, mostReadings, rangeOf, rounded, tooManyPoints } from "./history.ts";

export interface FarmHistoryContext {
  readonly store: Store;
  readonly demoStore: Store;
  readonly accessBook: AccessBook;
  readonly shares: ReadShares;
  readonly history: Config["history"];
  readonly currency: string;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The farm, or a group of it, over time: what was recorded of the miners that the caller sees. */
export const farmHistoryOperations = (context: FarmHistoryContext): Pick<MiningService, "getSummaryHistory"> => ({
  getSummaryHistory: async (input, caller) => {
    const { store, accessBook, shares, now } = context;
    const access = accessBook.of(caller);
    const groups = seriesOf(input, access, store);
    shares.take(caller, costs.look);
    const { from, to, step, mistakes } = rangeOf(input, now(), farmSpans.raw);
    const samples = mistakes.length > 0 ? 0 : groups.length * samplesIn(from, to, context);
    if (samples > mostReadings)
      mistakes.push({
        path: "from",
        message: `starts a range of about ${samples} samples; at most ${mostReadings} are read`,
      });
    if (mistakes.length > 0) throw invalidAll(mistakes);
    return shares.measured(caller, samples * costs.reading, () => answerOf({ groups, from, to, step }, input, context));
  },
});

interface Asked {
  readonly groups: readonly number[];
  /** Epoch ms. */
  readonly from: number;
  readonly to: number;
  /** ms; 0 = every sample. */
  readonly step: number;
}

/** Groups that no two of share a miner, and that together have all that are asked for. */
function seriesOf({ group }: Input<"getSummaryHistory">, access: Access, { groups }: Store): number[] {
  if (group !== undefined) return [groupIdOf(group, groups, access)].filter((id) => access.seesGroup(id));
  if (access.all) return [allMiners];
  const seen = enabled(groups).filter(({ id }) => access.seesGroup(id));
  const ids = new Set(seen.map(({ id }) => id));
  const outermost = seen.filter(({ parentId }) => !ids.has(parentId)).map(({ id }) => id);
  return access.seesGroup(0) ? [0, ...outermost] : outermost;
}

/** About how many samples of a group there can be. */
function samplesIn(from: number, to: number, { history, now }: FarmHistoryContext): number {
  const seconds = (to - from) / 1000;
  const raw = Math.max(0, (Math.min(to, now()) - Math.max(from, now() - (history.raw + 1) * 86_400_000)) / 1000);
  return Math.ceil(raw / farmSpans.raw + Math.min(seconds, history.hourly * 86_400) / farmSpans.mean);
}

function answerOf({ groups, from, to, step }: Asked, input: Input<"getSummaryHistory">, context: FarmHistoryContext) {
  const { store, demoStore, currency } = context;
  const parts = [store, demoStore].flatMap(({ farmSamples }) =>
    groups.map((id) => ({
      samples: farmSamples.read(id, from, to, currency),
      hashrates: farmSamples.readHashrates(id, from, to),
    })),
  );
  const algorithms = algorithmsIn(parts.flatMap(({ hashrates }) => hashrates));
  const algorithm = input.algorithm ?? algorithms[0] ?? null;
  const moments = new Map<number, Moment>();
  for (const { samples, hashrates } of parts) {
    for (const sample of samples) addSample(moments, sample);
    for (const { time, hashrate, algorithm: of } of hashrates) {
      const moment = of === algorithm ? moments.get(time) : undefined;
      if (moment !== undefined) moment.hashrate = (moment.hashrate ?? 0) + hashrate;
    }
  }
  const points = pointsOf(
    [...moments.values()].sort((one, other) => one.time - other.time),
    step,
    algorithm,
  );
  if (points.length > mostPoints) throw invalidAll([tooManyPoints(points.length)]);
  return { step: step / 1000, algorithm, algorithms, currency, points };
}

/** The one of the most miners first. */
function algorithmsIn(rows: readonly FarmHashrate[]): string[] {
  const miners = new Map<string, number>();
  for (const row of rows) miners.set(row.algorithm, (miners.get(row.algorithm) ?? 0) + row.miners);
  return [...miners].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([algorithm]) => algorithm);
}

/** The sums of all parts at one time. */
interface Moment extends Record<(typeof figures)[number], number | null> {
  readonly time: number;
  /** s that it stands for. */
  readonly span: number;
}

/** In the order of a point. */
const figures = ["hashrate", "power", "mining", "total", "revenue", "cost", "profit"] as const;

function addSample(moments: Map<number, Moment>, { groupId: _, ...sample }: FarmSample & { readonly span: number }) {
  const known = moments.get(sample.time);
  if (known === undefined) moments.set(sample.time, { ...sample, hashrate: null });
  else
    for (const figure of figures)
      if (figure !== "hashrate") known[figure] = plus(known[figure], sample[figure] ?? null);
}

const plus = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : one + other;

type Point = SummaryHistory["points"][number];

/** Means of each step; a point of nulls stands where nothing was recorded, so that a chart shows the gap. */
function pointsOf(moments: readonly Moment[], step: number, algorithm: string | null): Point[] {
  const points: Point[] = [];
  let sums: { readonly begins: number; readonly means: readonly Mean[] } | undefined;
  let before: Moment | undefined;
  const end = (): void => {
    if (sums !== undefined) points.push(pointOf(sums.begins, ({ mean }) => rounded(mean), sums.means));
    sums = undefined;
  };
  for (const moment of moments) {
    const begins = step === 0 ? moment.time : Math.floor(moment.time / step) * step;
    if (sums !== undefined && sums.begins !== begins) end();
    const gap = before === undefined ? null : gapBetween(before, moment, step, begins);
    if (gap !== null) points.push(pointOf(gap, () => null));
    sums ??= { begins, means: figures.map(() => new Mean()) };
    const { hashrate, mining } = moment;
    // A farm that mines something else, or nothing, has a hash rate of 0; one that mines something unknown has none.
    const known = { ...moment, hashrate: hashrate ?? (algorithm === null && (mining ?? 0) > 0 ? null : 0) };
    for (const [index, figure] of figures.entries()) sums.means[index]?.add(known[figure] ?? Number.NaN);
    before = moment;
  }
  end();
  return points;
}

/** The time of the point between two moments; null if they follow each other, or there is no step between them. */
function gapBetween(before: Moment, next: Moment, step: number, begins: number): number | null {
  const ends = before.time + before.span * 1000;
  if (next.time <= ends + 1.5 * before.span * 1000) return null;
  const gap = step === 0 ? ends : Math.ceil(ends / step) * step;
  return gap < begins ? gap : null;
}

const none = new Mean();

function pointOf(
  time: number,
  value: (mean: Mean) => number | null,
  [
    hashrate = none,
    power = none,
    mining = none,
    total = none,
    revenue = none,
    cost = none,
    profit = none,
  ]: readonly Mean[] = [],
): Point {
  return [time, value(hashrate), value(power), value(mining), value(total), value(revenue), value(cost), value(profit)];
}
