import type { StoredCurtailment } from "../../store/index.ts";

/** Wh that rigs have taken since the begin, until `at`, epoch ms, and the ms of that time in which they were read. */
type RigsEnergy = NonNullable<StoredCurtailment["measured"]>["rigs"];

/** The power of a rig, W, and when it had it, epoch ms. */
export interface RigPower {
  readonly id: number;
  readonly at: number;
  readonly watts: number;
  /** Wh that the fleet has counted until then, with each of its readings; null: not known. */
  readonly energy: number | null;
}

const hourMs = 3_600_000;
/** ms between two turns after which what was between them counts as not seen: the machine was asleep. */
const longestTurnMs = 300_000;

/**
 * Adds up what rigs take, each by the times of its own readings: what the fleet has counted between them, or an even change
 * of its power, and the same power after the last one. A time without turns, such as a restart of the service, is not seen.
 */
export class RigEnergy {
  /** As of the last reading of each rig. */
  readonly #last = new Map<number, RigPower>();
  /** Wh until the last reading of each rig. */
  #untilReadings: number;
  #total: RigsEnergy;
  /** Whether it goes on where the last run of the service ended. */
  #isResumed: boolean;

  /** `begin`: epoch ms. `stored`: what an earlier run has added up. */
  constructor(begin: number, stored: RigsEnergy | undefined) {
    this.#total = stored ?? { at: begin, energy: 0, seen: 0 };
    this.#untilReadings = this.#total.energy;
    this.#isResumed = stored !== undefined;
  }

  /** One turn over all rigs, of which none has two entries. Returns the sum until then. */
  turn(now: number, rigs: readonly RigPower[]): RigsEnergy {
    const { at: before, energy, seen } = this.#total;
    const elapsed = now - before;
    const isSeen = !this.#isResumed && elapsed >= 0 && elapsed <= longestTurnMs;
    this.#isResumed = false;
    if (!isSeen) {
      this.#last.clear();
      this.#untilReadings = energy;
    }
    const from = isSeen ? before : now;
    let sinceReadings = 0;
    for (const rig of rigs) {
      const last = this.#last.get(rig.id) ?? heldUntil(from, rig);
      const isNew = rig.at > last.at && rig.at <= now;
      if (isNew) this.#untilReadings += energyBetween(last, rig);
      const current = isNew ? rig : last;
      sinceReadings += current.watts * ((now - current.at) / hourMs);
      if (current !== this.#last.get(rig.id)) this.#last.set(rig.id, current);
    }
    if (this.#last.size > rigs.length) this.#forgetOthers(rigs, from);
    this.#total = { at: now, energy: this.#untilReadings + sinceReadings, seen: seen + (now - from) };
    return this.#total;
  }

  /** Rigs that are gone count until the turn before, `until`. */
  #forgetOthers(rigs: readonly RigPower[], until: number): void {
    const ids = new Set(rigs.map(({ id }) => id));
    for (const { id, at, watts } of this.#last.values()) {
      if (ids.has(id)) continue;
      this.#untilReadings += watts * ((until - at) / hourMs);
      this.#last.delete(id);
    }
  }
}

/** Wh. */
const energyBetween = (last: RigPower, next: RigPower): number =>
  last.energy !== null && next.energy !== null && next.energy >= last.energy
    ? next.energy - last.energy
    : ((last.watts + next.watts) / 2) * ((next.at - last.at) / hourMs);

const heldUntil = (at: number, rig: RigPower): RigPower => ({
  ...rig,
  at,
  energy: rig.energy === null ? null : rig.energy + rig.watts * ((at - rig.at) / hourMs),
});
