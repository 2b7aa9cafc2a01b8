import { invalidAll, type Mistake } from "../../contract/problems.ts";
import type { History } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import type { TakeSample } from "../../store/index.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import type { Recorder } from "./recorder.ts";

const day = 86_400;
/** Round steps, s. */
const roundSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000,
  864_000, 2_592_000, 7_776_000, 31_536_000,
];
/** s, ten years: far longer than the history. */
const longestStep = 3_650 * day;
const usualPoints = 500;
export const mostPoints = 10_000;
/** Readings that one reply may read, which takes some 20 ms. */
export const mostReadings = 200_000;

/** A miner's readings over time, raw or as means of steps. `checkMiner` throws for a hidden miner. */
export const historyOperations = (
  checkMiner: (minerId: number, caller: Caller) => void,
  recorderOf: (minerId: number) => Recorder,
  shares: ReadShares,
  now: () => number,
): Pick<MiningService, "getHistory"> => ({
  getHistory: ({ id, ...requested }, caller) =>
    shares.inTurn(async () => {
      checkMiner(id, caller);
      shares.take(caller, costs.look);
      const { from, to, step, mistakes } = rangeOf(requested, now());
      const recorder = recorderOf(id);
      const readings = mistakes.length > 0 ? 0 : await recorder.count(id, from, to - 1);
      if (readings > mostReadings) mistakes.push(tooMany(readings));
      else if (step === 0 && readings > mostPoints) mistakes.push(tooManyPoints(readings));
      if (mistakes.length > 0) throw invalidAll(mistakes);
      return shares.measuredRead(caller, readings * costs.reading, async () => {
        const points = new Points(step);
        await recorder.each(id, from, to, points.take);
        return { step: step / 1000, points: points.all() };
      });
    }),
});

interface Range {
  /** Epoch ms, of whole steps. */
  readonly from: number;
  readonly to: number;
  /** ms, 0: raw readings. */
  readonly step: number;
  readonly mistakes: Mistake[];
}

/** The range of a request, with every mistake in the request; `least`: the smallest default step, s. */
export function rangeOf(
  requested: Pick<Input<"getHistory">, "from" | "to" | "step">,
  now: number,
  least: number = 1,
): Range {
  const to = requested.to ?? now + 1;
  const from = requested.from ?? Math.max(0, to - day * 1000);
  const seconds = requested.step ?? roundStep((to - from) / 1000, least);
  const step = Math.round(Math.min(seconds, longestStep) * 1000);
  const mistakes: Mistake[] = [];
  if (from >= to) mistakes.push({ path: "from", message: "must be before `to`" });
  if (seconds > longestStep)
    mistakes.push({ path: "step", message: `must be at most ${longestStep}, which is ten years` });
  if (step === 0 && (requested.step ?? 0) > 0) mistakes.push({ path: "step", message: "must be 0 or at least 0.001" });
  if (step === 0) return { from, to, step, mistakes };
  const whole = { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step };
  const points = (whole.to - whole.from) / step;
  if (points > mostPoints)
    mistakes.push({ path: "step", message: `gives ${points} points; at most ${mostPoints} are returned` });
  return { ...whole, step, mistakes };
}

/** A step in seconds, at least `least`, that divides a span into about 500 points. */
function roundStep(seconds: number, least: number): number {
  const wanted = Math.max(least, seconds / usualPoints);
  const distance = (step: number): number => Math.abs(Math.log(step / wanted));
  return roundSteps.reduce((best, step) => (distance(step) < distance(best) ? step : best));
}

const tooMany = (readings: number): Mistake => ({
  path: "from",
  message: `starts a range of about ${readings} readings; at most ${mostReadings} are read`,
});

export const tooManyPoints = (readings: number): Mistake => ({
  path: "step",
  message: `gives about ${readings} points, one for each reading; at most ${mostPoints} are returned`,
});

/** Builds points from samples in any order: one for each step (ms) with samples; a step of 0 keeps each sample. */
export class Points {
  readonly #step: number;
  readonly #points = new Map<number, Sums>();

  constructor(step: number) {
    this.#step = step;
  }

  readonly take: TakeSample = (time, hashrate, power, temperature, energy) => {
    const begins = this.#step === 0 ? time : Math.floor(time / this.#step) * this.#step;
    let sums = this.#points.get(begins);
    if (sums === undefined) {
      sums = new Sums();
      this.#points.set(begins, sums);
    }
    sums.hashrate.add(hashrate);
    sums.power.add(power);
    sums.temperature.add(temperature);
    if (!Number.isNaN(energy) && time < sums.firstAt) {
      sums.firstAt = time;
      sums.energy = energy;
    }
  };

  /** Oldest first. */
  all(): History["points"] {
    return [...this.#points]
      .sort(([one], [other]) => one - other)
      .map(([time, { hashrate, power, temperature, energy }]) => [
        time,
        rounded(hashrate.mean),
        rounded(power.mean),
        rounded(temperature.mean),
        energy,
      ]);
  }
}

/** The sums of one point. */
class Sums {
  readonly hashrate = new Mean();
  readonly power = new Mean();
  readonly temperature = new Mean();
  /** The first value of the counter, so that differences stay true, and its time. */
  energy: number | null = null;
  firstAt = Number.POSITIVE_INFINITY;
}

class Mean {
  #total = 0;
  #count = 0;

  /** NaN if unknown. */
  add(figure: number): void {
    if (Number.isNaN(figure)) return;
    this.#total += figure;
    this.#count += 1;
  }

  get mean(): number | null {
    return this.#count === 0 ? null : this.#total / this.#count;
  }
}

/** Rounded to the 7 digits of packed samples, so that a point does not move when its hour is packed. */
export const rounded = (figure: number | null): number | null =>
  figure === null ? null : Number(figure.toPrecision(7));
