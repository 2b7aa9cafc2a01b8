import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { PowerRank } from "../power/precedence.ts";

/** W by which rigs that took so much may miss their target: sums of measured powers are not exact. */
export const toleranceOf = (baseline: number): number => Math.max(2, 0.005 * baseline);

/** W that the rigs of a curtailment may take; null: they all stop. */
export function targetWatts({ target, baseline }: Pick<StoredCurtailment, "target" | "baseline">): number | null {
  if (target.all === true) return null;
  if (target.limit !== undefined) return target.limit;
  if (target.share !== undefined) return baseline * (1 - target.share / 100);
  return Math.max(0, baseline - (target.reduce ?? 0));
}

/** `moved` of a curtailment whose target was just changed. */
export const raisedTarget = 0;

/** How many rigs are in each state. */
export function countsOf(rigs: ReadonlyMap<number, StoredCurtailedRig>) {
  const counts = { due: 0, sent: 0, reached: 0, failed: 0, away: 0, taken: 0, restoring: 0, restored: 0, released: 0 };
  for (const { state } of rigs.values()) counts[state] += 1;
  return counts;
}

/** A curtailment that a person began is a person's wish. */
export const rankOfCurtailment = ({ safety, cause }: Pick<StoredCurtailment, "safety" | "cause">): PowerRank =>
  safety ? "emergency" : cause === "person" ? "person" : "curtailment";
