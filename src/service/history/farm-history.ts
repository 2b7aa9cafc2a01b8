import { invalid, invalidAll } from "../../contract/problems.ts";
import type { SummaryHistory } from "../../contract/resources.ts";
import type { Input, MiningService } from "../../contract/service.ts";
import { allMiners, type FarmStep, farmFigures, farmSpans, type Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { groupIdOf } from "../miners/groups.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { placeIdOf } from "../miners/placement.ts";
import { placesOf } from "../places/place-book.ts";
import type { Sections } from "../settings/live-settings.ts";
import { type Access, type AccessBook, needsAll } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import { mostPoints, mostReadings, rangeOf, rounded, tooManyPoints } from "./history.ts";
import { seriesOfPlace } from "./place-series.ts";

export interface FarmHistoryContext {
  readonly store: Store;
  readonly demoStore: Store;
  readonly registry: Pick<MinerRegistry, "entriesFor">;
  readonly accessBook: AccessBook;
  readonly shares: ReadShares;
  /** The id of an algorithm by any of its names; undefined for an unknown name. */
  readonly algorithmId: (name: string) => string | undefined;
  readonly settings: Sections<"history">;
  readonly rates: { readonly currency: string };
  /** Epoch ms. */
  readonly now: () => number;
}

/** The history of the farm or a group: the records of the miners that are visible to the caller. */
export const farmHistoryOperations = (context: FarmHistoryContext): Pick<MiningService, "getSummaryHistory"> => ({
  getSummaryHistory: (input, caller) =>
    context.shares.inTurn(() => {
      const { accessBook, shares, now } = context;
      const access = accessBook.of(caller);
      const groups = seriesOf(input, access, context);
      shares.take(caller, costs.look);
      const { from, to, step, mistakes } = rangeOf(input, now(), farmSpans.raw);
      const samples = mistakes.length > 0 ? 0 : groups.length * samplesIn(from, to, context);
      if (samples > mostReadings)
        mistakes.push({
          path: "from",
          message: `starts a range of about ${samples} samples; at most ${mostReadings} are read`,
        });
      if (mistakes.length > 0) throw invalidAll(mistakes);
      return shares.measuredRead(caller, samples * costs.reading, () =>
        answerOf({ groups, from, to, step }, input, context),
      );
    }),
});

interface Asked {
  readonly groups: readonly number[];
  /** Epoch ms. */
  readonly from: number;
  readonly to: number;
  /** ms; 0 = every sample. */
  readonly step: number;
}

/** Disjoint groups that together contain all requested miners. */
function seriesOf(
  { group, place }: Input<"getSummaryHistory">,
  access: Access,
  { store, registry }: FarmHistoryContext,
): number[] {
  const { groups } = store;
  if (group !== undefined && place !== undefined) throw invalid("place", "cannot be given together with group");
  if (place !== undefined) {
    needsAll(access);
    const id = placeIdOf(place, store, registry, access);
    if (placesOf(store).get(id)?.row.kind === "rack")
      throw invalid("place", "is a rack, of which only its miners have a history; give a row, a building or a site");
    return [seriesOfPlace(id)];
  }
  if (group !== undefined) return [groupIdOf(group, groups, access)].filter((id) => access.seesGroup(id));
  if (access.all) return [allMiners];
  const seen = enabled(groups).filter(({ id }) => access.seesGroup(id));
  const ids = new Set(seen.map(({ id }) => id));
  const outermost = seen.filter(({ parentId }) => !ids.has(parentId)).map(({ id }) => id);
  return access.seesGroup(0) ? [0, ...outermost] : outermost;
}

/** The approximate number of samples of a group. */
function samplesIn(from: number, to: number, { settings: { history }, now }: FarmHistoryContext): number {
  const seconds = (to - from) / 1000;
  const raw = Math.max(0, (Math.min(to, now()) - Math.max(from, now() - (history.raw + 1) * 86_400_000)) / 1000);
  return Math.ceil(raw / farmSpans.raw + Math.min(seconds, history.hourly * 86_400) / farmSpans.mean);
}

async function answerOf(
  { groups, from, to, step }: Asked,
  input: Input<"getSummaryHistory">,
  context: FarmHistoryContext,
) {
  const { store, demoStore, algorithmId } = context;
  const { currency } = context.rates;
  const parts = [store.farmSamples, demoStore.farmSamples];
  const algorithms = algorithmsIn(await Promise.all(parts.map((part) => part.algorithms({ groups, from, to }))));
  const given = input.algorithm;
  const algorithm = given === undefined ? (algorithms[0] ?? null) : (algorithmId(given) ?? given);
  const asked = { groups, from, to, step, currency, algorithm };
  const [own = [], demo = []] = await Promise.all(parts.map((part) => part.read(asked)));
  const points = pointsOf(together(own, demo, step), step);
  if (points.length > mostPoints) throw invalidAll([tooManyPoints(points.length)]);
  return { step: step / 1000, algorithm, algorithms, currency, points };
}

/** The algorithm with the most miners first; equal ones in the order of the stores. */
function algorithmsIn(parts: readonly ReadonlyMap<string, number>[]): string[] {
  const miners = new Map<string, number>();
  for (const [algorithm, count] of parts.flatMap((part) => [...part]))
    miners.set(algorithm, (miners.get(algorithm) ?? 0) + count);
  return [...miners].sort(([, one], [, other]) => other - one).map(([algorithm]) => algorithm);
}

const beginOf = ({ time }: FarmStep, step: number): number => (step === 0 ? time : Math.floor(time / step) * step);

/** Adds real and demo miners, which are recorded at the same times. */
function together(own: readonly FarmStep[], demo: readonly FarmStep[], step: number): readonly FarmStep[] {
  if (demo.length === 0) return own;
  const steps = new Map(own.map((each) => [beginOf(each, step), each]));
  for (const each of demo) {
    const begins = beginOf(each, step);
    const known = steps.get(begins);
    steps.set(begins, known === undefined ? each : sumOf(known, each));
  }
  return [...steps.values()].sort((one, other) => one.time - other.time);
}

const sumOf = (one: FarmStep, other: FarmStep): FarmStep => ({
  time: Math.min(one.time, other.time),
  ends: Math.max(one.ends, other.ends),
  missing: Math.max(one.missing, other.missing),
  // Unknown only if they mine something unknown.
  hashrate: one.hashrate === null || other.hashrate === null ? null : one.hashrate + other.hashrate,
  power: plus(one.power, other.power),
  mining: plus(one.mining, other.mining),
  total: plus(one.total, other.total),
  revenue: plus(one.revenue, other.revenue),
  cost: plus(one.cost, other.cost),
  profit: plus(one.profit, other.profit),
});

/** The sum; one unknown value is ignored. */
export const plus = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : one + other;

type Point = SummaryHistory["points"][number];

/** A gap in the records becomes a point of nulls, so that a chart shows it. */
function pointsOf(steps: readonly FarmStep[], step: number): Point[] {
  const points: Point[] = [];
  let before: FarmStep | undefined;
  for (const each of steps) {
    const begins = beginOf(each, step);
    const gap = before === undefined ? null : gapBetween(before, each, step, begins);
    if (gap !== null) points.push(pointOf(gap, () => null));
    points.push(pointOf(begins, (figure) => rounded(each[figure])));
    before = each;
  }
  return points;
}

/** The time of the point between two steps; null if they are adjacent, or there is no step between them. */
function gapBetween(before: FarmStep, next: FarmStep, step: number, begins: number): number | null {
  if (next.time <= before.missing) return null;
  const gap = step === 0 ? before.ends : Math.ceil(before.ends / step) * step;
  return gap < begins ? gap : null;
}

function pointOf(time: number, figureOf: (figure: (typeof farmFigures)[number]) => number | null): Point {
  const [hashrate = null, power = null, mining = null, total = null, revenue = null, cost = null, profit = null] =
    farmFigures.map(figureOf);
  return [time, hashrate, power, mining, total, revenue, cost, profit];
}
