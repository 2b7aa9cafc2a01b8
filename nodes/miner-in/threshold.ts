/** When something is beyond a limit, and when it is back. */
export interface Threshold {
  readonly is: "below" | "above";
  readonly limit: number;
  /** How far on the other side of the limit a value has to be until it is over. */
  readonly hysteresis: number;
  /** ms that it has to last until it counts. */
  readonly hold: number;
}

/**
 * What there is to judge at a moment. `stale`: the last reading was missed, and what was read before may still hold.
 * `unknown`: nobody knows.
 */
export type Value = number | "stale" | "unknown";

/** How a miner stands to the threshold, with the ms since when. */
export type Condition =
  | { readonly kind: "clear" }
  | { readonly kind: "holding"; readonly since: number }
  | { readonly kind: "begun"; readonly since: number };

export interface Judgement {
  readonly condition: Condition;
  readonly event: "begun" | "over" | null;
}

export const clear: Condition = { kind: "clear" };

/**
 * It begins once every value that was read in the hold time was beyond the limit, and is over with the first value that
 * is back. What is stale changes nothing. What is unknown neither begins nor ends anything, and the hold time begins
 * anew after it.
 */
export function judge(threshold: Threshold, condition: Condition, value: Value, at: number): Judgement {
  const still = (next: Condition): Judgement => ({ condition: next, event: null });
  if (value === "stale") return still(condition);
  if (value === "unknown") return still(condition.kind === "holding" ? clear : condition);
  if (condition.kind === "begun")
    return isBack(threshold, value) ? { condition: clear, event: "over" } : still(condition);
  if (!isBeyond(threshold, value)) return still(clear);
  const since = condition.kind === "holding" ? condition.since : at;
  return at - since >= threshold.hold
    ? { condition: { kind: "begun", since }, event: "begun" }
    : still({ kind: "holding", since });
}

/** ms at which to judge again though nothing has changed; null where there is no need. */
export const dueAt = ({ hold }: Threshold, condition: Condition): number | null =>
  condition.kind === "holding" ? condition.since + hold : null;

const isBeyond = ({ is, limit }: Threshold, value: number): boolean => (is === "below" ? value < limit : value > limit);

const isBack = ({ is, limit, hysteresis }: Threshold, value: number): boolean =>
  is === "below" ? value >= limit + hysteresis : value <= limit - hysteresis;
