import type { MeasuredEnergy, StoredMeter } from "../../store/index.ts";
import type { MeterReading } from "../facility/device.ts";

/** Two readings whose powers differ by less than this share show how well the counter agrees with them. */
const steadyShare = 0.01;
const hourMs = 3_600_000;

/** A reading, or one that is taken to have lasted. */
type HeldReading = StoredMeter["last"];

interface MeterFacts {
  readonly settings: { readonly key: string };
  readonly longestGapMs: number;
}

/**
 * A meter from the begin of a curtailment on, by its readings until then, oldest first. Its last power is taken to last until
 * the begin: no command left before. `longestGapMs`: a meter that was silent for longer has not measured. Null if it was
 * silent at the begin. Pure.
 */
export function meterFrom(
  begin: number,
  readings: readonly MeterReading[],
  { settings: { key }, longestGapMs }: MeterFacts,
): StoredMeter | null {
  const before = readings.filter(({ at }) => at <= begin);
  const last = before.at(-1);
  if (last === undefined || begin - last.at > longestGapMs) return null;
  let grain: number | null = null;
  for (const [index, reading] of before.entries()) {
    const earlier = before[index - 1];
    if (earlier !== undefined) grain = grainAfter(grain, earlier, reading, longestGapMs);
  }
  return {
    key,
    before: last.power,
    last: heldUntil(begin, last),
    byPower: nothing,
    byCounter: nothing,
    grain,
  };
}

/** Adds what a meter's next reading shows; one that is not newer adds nothing. Pure. */
export function withReading(meter: StoredMeter, reading: HeldReading, longestGapMs: number): StoredMeter {
  const { last } = meter;
  const elapsed = reading.at - last.at;
  if (elapsed <= 0) return meter;
  const hours = elapsed / hourMs;
  const isSeen = elapsed <= longestGapMs;
  const counted = countedBetween(last, reading);
  const unseen = Math.max(Math.abs(last.power), Math.abs(reading.power), Math.abs(meter.before)) * hours;
  return {
    ...meter,
    last: reading,
    byPower: isSeen
      ? plus(
          meter.byPower,
          meanPower(last, reading) * hours,
          elapsed,
          (Math.abs(reading.power - last.power) / 2) * hours,
        )
      : plus(meter.byPower, 0, 0, unseen),
    byCounter: counted === null ? plus(meter.byCounter, 0, 0, unseen) : plus(meter.byCounter, counted, elapsed, 0),
    grain: grainAfter(meter.grain, last, reading, longestGapMs),
  };
}

/**
 * A meter until the end of a curtailment, or until now. Its last power is taken to last until then, since no rig is given back
 * its power before; if it has been silent for longer, that time is not seen. Pure.
 */
export const meterUntil = (end: number, meter: StoredMeter, longestGapMs: number): StoredMeter => {
  const elapsed = end - meter.last.at;
  return elapsed <= 0 || elapsed > longestGapMs ? meter : withReading(meter, heldUntil(end, meter.last), longestGapMs);
};

/** What meters saw: the energy less than their power before would have been, and how that was measured. */
interface MeteredShed {
  /** kWh of the time that was seen. */
  readonly energy: number;
  /** Share of the time that was seen, 0 to 1; of several meters, that of the one that saw least. */
  readonly seen: number;
  readonly by: "counter" | "power";
}

/** The sum of some meters over this many ms, by what is more exact: their counters, or their powers. Null without any. Pure. */
export function meteredShed(meters: readonly StoredMeter[], ms: number): MeteredShed | null {
  if (meters.length === 0 || ms <= 0) return null;
  const errorOf = (by: "counter" | "power"): number =>
    meters.reduce((sum, { byPower, byCounter, grain }) => {
      if (by === "power") return sum + byPower.error;
      return sum + (grain === null || byCounter.seen === 0 ? Number.POSITIVE_INFINITY : byCounter.error + grain);
    }, 0);
  const by = errorOf("counter") < errorOf("power") ? "counter" : "power";
  let [energy, seen] = [0, 1];
  for (const { before, byPower, byCounter } of meters) {
    const measured = by === "counter" ? byCounter : byPower;
    energy += before * (measured.seen / hourMs) - measured.energy;
    seen = Math.min(seen, measured.seen / ms);
  }
  return seen === 0 ? null : { energy: energy / 1000, seen, by };
}

const nothing: MeasuredEnergy = { energy: 0, seen: 0, error: 0 };

const plus = (sum: MeasuredEnergy, energy: number, seen: number, error: number): MeasuredEnergy => ({
  energy: sum.energy + energy,
  seen: sum.seen + seen,
  error: sum.error + error,
});

const meanPower = (one: MeterReading, other: MeterReading): number => (one.power + other.power) / 2;

/** Wh by the counter; null without one, or if it was reset. */
function countedBetween(from: HeldReading, to: HeldReading): number | null {
  if (from.energy === null || to.energy === null || to.energy < from.energy) return null;
  return (to.energy - from.energy) * 1000 + (to.ahead ?? 0) - (from.ahead ?? 0);
}

/** The counter stays as it was read: one that counts in steps would seem reset by its next reading otherwise. */
const heldUntil = (at: number, { at: from, power, energy, ahead = 0 }: HeldReading): HeldReading => ({
  at,
  power,
  energy,
  ahead: ahead + power * ((at - from) / hourMs),
});

/**
 * Wh by which a counter may be wrong: the most by which it differed from a power that stayed the same, such as the step in
 * which it counts. Null: not known yet.
 */
function grainAfter(grain: number | null, from: HeldReading, to: HeldReading, longestGapMs: number): number | null {
  const elapsed = to.at - from.at;
  const counted = countedBetween(from, to);
  const isSteady = Math.abs(to.power - from.power) <= steadyShare * Math.abs(from.power);
  if (counted === null || !isSteady || elapsed <= 0 || elapsed > longestGapMs) return grain;
  return Math.max(grain ?? 0, Math.abs(counted - meanPower(from, to) * (elapsed / hourMs)));
}
