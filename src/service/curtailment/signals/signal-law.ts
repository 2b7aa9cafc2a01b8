import { isDeepStrictEqual } from "node:util";
import type { CurtailmentTarget } from "../../../contract/curtailment.ts";
import type { StaleAction } from "../../../contract/signal-settings.ts";
import type { SignalReading, Wish } from "./signal.ts";

/** When a signal is stale, and what it does then; null where nothing can become stale. */
export interface Freshness {
  readonly maxAgeMs: number;
  readonly onStale: StaleAction;
}

/** `unknown`: nothing was heard since the start, but not for long enough to be stale. */
export type SignalState = "run" | "curtail" | "stale" | "unknown";

/** The state of a signal that is observed since `openedAt`; all times are ms of the monotonic clock. */
export function stateOf(
  { wish, heard }: SignalReading,
  freshness: Freshness | null,
  times: { readonly now: number; readonly openedAt: number },
): SignalState {
  if (freshness !== null && times.now - (heard ?? times.openedAt) > freshness.maxAgeMs) return "stale";
  return wish?.kind ?? "unknown";
}

/** The curtailment of a signal that has not ended. */
export interface RunningBySignal {
  readonly target: CurtailmentTarget;
  readonly until: number | null;
  readonly urgent: boolean;
}

export type SignalAct =
  | { readonly kind: "none" | "end" }
  | { readonly kind: "begin"; readonly wish: Extract<Wish, { kind: "curtail" }> }
  | {
      readonly kind: "change";
      readonly target: CurtailmentTarget;
      readonly until: number | null;
      readonly urgent: boolean;
    };

export interface SignalDecision {
  readonly act: SignalAct;
  /** The wish that was acted on last, for the next decision. */
  readonly acted: string | null;
}

const ran = "run";
const staleWish = {
  kind: "curtail",
  id: "stale",
  target: null,
  until: null,
  urgent: false,
  text: "no signal received",
} as const;

/**
 * What is done about a signal. Each wish is acted on once: what people change or end afterwards stays theirs until the
 * signal itself changes.
 *
 * @param acted the wish that was acted on last; null = none is known
 * @param planTarget what a wish without a target means
 */
export function decide(
  state: SignalState,
  wish: Wish | null,
  onStale: StaleAction,
  running: RunningBySignal | null,
  acted: string | null,
  planTarget: CurtailmentTarget,
): SignalDecision {
  const nothing: SignalDecision = { act: { kind: "none" }, acted };
  if (state === "unknown" || (state === "stale" && onStale === "hold")) return nothing;
  if (state === "run" || (state === "stale" && onStale === "run")) {
    if (running !== null) return { act: { kind: "end" }, acted: ran };
    // A wish that a person has ended is the same wish when it is heard again.
    return state === "run" ? { act: { kind: "none" }, acted: ran } : nothing;
  }
  if (state === "stale") {
    if (running !== null || acted === staleWish.id) return nothing;
    return { act: { kind: "begin", wish: staleWish }, acted: staleWish.id };
  }
  if (wish?.kind !== "curtail" || acted === wish.id) return nothing;
  if (running === null) return { act: { kind: "begin", wish }, acted: wish.id };
  const { until, urgent } = wish;
  const target = wish.target ?? planTarget;
  const isSame = isDeepStrictEqual(target, running.target) && until === running.until && (!urgent || running.urgent);
  return { act: isSame ? { kind: "none" } : { kind: "change", target, until, urgent }, acted: wish.id };
}
