import type { CurtailmentTarget } from "./curtailment-target.ts";

/** W that rigs may take that took `baseline` W; null: they all stop. */
export function targetWatts({ all, limit, share, reduce = 0 }: CurtailmentTarget, baseline: number): number | null {
  if (all === true) return null;
  if (limit !== undefined) return limit;
  if (share !== undefined) return baseline * (1 - share / 100);
  return Math.max(0, baseline - reduce);
}
