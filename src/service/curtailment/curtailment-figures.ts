import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { PowerRank } from "../power/precedence.ts";

/** W by which rigs that took so much may miss their target: sums of measured powers are not exact. */
export const toleranceOf = (baseline: number): number => Math.max(2, 0.005 * baseline);

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
