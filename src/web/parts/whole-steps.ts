/** Steps of a history: `step` in s, 0 for single readings; each point begins with its time (epoch ms). */
interface Steps<P> {
  readonly step: number;
  readonly points: readonly P[];
}

/**
 * Drops the last step if it has not ended at `until` (epoch ms): the mean of its first readings, such as those of
 * starting rigs, does not represent the farm.
 */
export function wholeSteps<P extends readonly [time: number, ...rest: unknown[]]>(
  { step, points }: Steps<P>,
  until: number,
): readonly P[] {
  const last = points.at(-1);
  return last === undefined || last[0] + step * 1000 <= until ? points : points.slice(0, -1);
}
