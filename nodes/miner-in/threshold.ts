/** When a value is beyond a limit, and when it is back. */
export interface Threshold {
  readonly is: "below" | "above";
  readonly limit: number;
  /** How far past the limit a value must return. */
  readonly hysteresis: number;
  /** ms that values must stay beyond the limit. */
  readonly hold: number;
}

/** A value; `stale` if the last read failed, so the one before may still hold; `unknown` if there is none. */
export type Value = number | "stale" | "unknown";

/** Where a miner stands, and since when in ms. */
export type Condition =
  | { readonly kind: "clear" }
  | { readonly kind: "holding"; readonly since: number }
  | { readonly kind: "begun"; readonly since: number };

export interface Evaluation {
  readonly condition: Condition;
  readonly event: "begun" | "over" | null;
}

export const clear: Condition = { kind: "clear" };

/**
 * A condition begins once every value read during the hold time was beyond the limit, and ends with the first value
 * that is back. A stale value changes nothing. An unknown value neither begins nor ends a condition, and restarts the
 * hold time.
 */
export function evaluate(threshold: Threshold, condition: Condition, value: Value, at: number): Evaluation {
  const still = (next: Condition): Evaluation => ({ condition: next, event: null });
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

/** ms at which to evaluate again even without a change; null if not needed. */
export const dueAt = ({ hold }: Threshold, condition: Condition): number | null =>
  condition.kind === "holding" ? condition.since + hold : null;

const isBeyond = ({ is, limit }: Threshold, value: number): boolean => (is === "below" ? value < limit : value > limit);

const isBack = ({ is, limit, hysteresis }: Threshold, value: number): boolean =>
  is === "below" ? value >= limit + hysteresis : value <= limit - hysteresis;
