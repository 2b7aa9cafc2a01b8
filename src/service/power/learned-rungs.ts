import { settledSeconds } from "../../contract/efficiency.ts";
import type { Brief } from "../../fleet/state.ts";
import type { PowerMemory } from "../../store/index.ts";

type Rungs = PowerMemory["rungs"];

/** Maximum settings remembered per rig. */
const mostRungs = 24;
/**
 * Share by which two settings may differ and still count as one: a ladder follows a measured draw, which fluctuates.
 */
const sameSetting = 0.01;
/** Share by which a figure must change to be stored. */
const moved = 0.03;
/** Weight of the newest read in the mean. */
const newest = 0.1;

/** Mean figures of a rig at its present setting. */
interface Settling {
  readonly watts: number;
  readonly algorithm: string;
  /** Epoch ms. */
  readonly since: number;
  readonly hashrate: number;
  readonly draw: number;
}

/** Learns hash rate and draw of each rig at each of its power settings, once it has settled there. */
export class LearnedRungs {
  readonly #settling = new Map<number, Settling>();

  /** The rungs after a read; the same array if they have not changed. `watts`: the present setting, null if unknown. */
  after(
    minerId: number,
    { readings }: Pick<Brief, "readings">,
    watts: number | null,
    rungs: Rungs,
    now: number,
  ): Rungs {
    const { hashrate, power, algorithm, mining, uptime } = readings;
    const works = watts !== null && watts > 0 && mining !== false && hashrate !== null && hashrate > 0;
    if (!works || power === null || power <= 0 || algorithm === null) {
      this.#settling.delete(minerId);
      return rungs;
    }
    const before = this.#settling.get(minerId);
    const goesOn = before !== undefined && isSameSetting(before.watts, watts) && before.algorithm === algorithm;
    const settling = goesOn
      ? { ...before, hashrate: blend(before.hashrate, hashrate), draw: blend(before.draw, power) }
      : { watts, algorithm, since: now, hashrate, draw: power };
    this.#settling.set(minerId, settling);
    const isSettled = now - settling.since >= settledSeconds * 1000 && (uptime ?? 0) >= settledSeconds;
    return isSettled ? withRung(rungs, settling) : rungs;
  }
}

const blend = (mean: number, value: number): number => mean + newest * (value - mean);

export const isSameSetting = (one: number, other: number): boolean =>
  Math.abs(one - other) <= Math.max(1, sameSetting * Math.max(one, other));

/** The newest last; the oldest is dropped. */
function withRung(rungs: Rungs, { watts, algorithm, hashrate, draw }: Settling): Rungs {
  const known = rungs.find((rung) => rung.algorithm === algorithm && isSameSetting(rung.watts, watts));
  const isClose = (one: number, other: number) => Math.abs(one - other) <= moved * one;
  if (known !== undefined && isClose(known.hashrate, hashrate) && isClose(known.draw, draw)) return rungs;
  const others = rungs.filter((rung) => rung !== known && rung.algorithm === algorithm);
  return [...others, { watts: Math.round(watts), draw: Math.round(draw), hashrate, algorithm }].slice(-mostRungs);
}
