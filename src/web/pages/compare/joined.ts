import type { History } from "../../../contract/resources.ts";
import { curvesOf, type Metric } from "../rig/curves.ts";

/** Combines histories with the same steps: a value or a gap of each rig at every time. */
export function joined(
  histories: readonly History[],
  metric: Metric,
): { readonly times: readonly number[]; readonly values: readonly (readonly (number | null)[])[] } {
  const curves = histories.map(curvesOf);
  const times = [...new Set(curves.flatMap((curve) => curve.times))].sort((one, other) => one - other);
  const values = curves.map((curve) => {
    const known = new Map(curve.times.map((time, index) => [time, curve[metric][index] ?? null]));
    return times.map((time) => known.get(time) ?? null);
  });
  return { times, values };
}

/** Seconds between two points, the same for all rigs: some 300 points, and no finer than the poll interval. */
export const stepOf = (from: number, to: number): number => Math.max(60, Math.ceil((to - from) / 300 / 60_000) * 60);
