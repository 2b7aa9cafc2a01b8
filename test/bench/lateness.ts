import { phaseOf } from "../../src/fleet/schedule.ts";

export interface DueWindow {
  /** The rigs looked at. */
  readonly places: readonly number[];
  readonly idOf: (place: number) => number;
  /** ms between two polls of a rig. */
  readonly interval: number;
  /** Epoch ms at which the service's monotonic clock was 0. */
  readonly clock: number;
  /** Epoch ms; polls due from here until there are looked at. */
  readonly from: number;
  readonly to: number;
}

/**
 * For each poll that was due, on the rig's own grid: ms until a state read since then was there. That is the lateness
 * of its start and the time that the read took. Infinity where none came.
 */
export function latenessOf(reads: readonly { place: number; time: number }[], window: DueWindow): number[] {
  const { places, idOf, interval, clock, from, to } = window;
  const times = Map.groupBy(reads, ({ place }) => place);
  const late: number[] = [];
  for (const place of places) {
    const done = (times.get(place) ?? []).map(({ time }) => time).sort((a, b) => a - b);
    const offset = clock + phaseOf(idOf(place)) * interval;
    for (let due = Math.ceil((from - offset) / interval) * interval + offset; due < to; due += interval) {
      // Reads are dated in whole ms.
      const next = done.find((time) => time >= Math.floor(due));
      late.push(next === undefined ? Number.POSITIVE_INFINITY : next - due);
    }
  }
  return late;
}
