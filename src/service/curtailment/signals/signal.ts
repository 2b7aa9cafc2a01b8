import type { CurtailmentTarget } from "../../../contract/curtailment.ts";
import type { Messages } from "../../../contract/messages.ts";

/** What a signal asks for. */
export type Wish =
  | { readonly kind: "run" }
  | {
      readonly kind: "curtail";
      /** Differs whenever the signal has changed. */
      readonly id: string;
      /** Null: that of the plan. */
      readonly target: CurtailmentTarget | null;
      /** Epoch ms at which it ends in any case; null: when the signal ends it. */
      readonly until: number | null;
      /** Rigs do not wait for the least time that they mine. */
      readonly urgent: boolean;
      /** What the signal reports about it; "" = nothing. */
      readonly text: string;
    };

/** What is known of a signal. */
export interface SignalReading {
  /** Null: nothing was heard yet. */
  readonly wish: Wish | null;
  /** ms of the monotonic clock to which the wish belongs, so that a changed clock makes nothing stale; null = none. */
  readonly heard: number | null;
  /** For people: the number, or the event; null = none. */
  readonly value: number | string | null;
  /** Why it could not be read; null = nothing is wrong. */
  readonly problem: string | null;
  /** What of it was understood and not done, which people must know at once; null = nothing. */
  readonly refused: string | null;
}

export const unheard: SignalReading = { wish: null, heard: null, value: null, problem: null, refused: null };

/** One signal of the settings, listened to or read again and again. */
export interface SignalSource {
  readonly reading: SignalReading;
  /** Once per second; never rejects. */
  turn(): Promise<void>;
  /** Takes what its web hook has received. Throws `input.invalid`. */
  receive?(payload: unknown): void;
  close(): void;
}

export interface SourceContext {
  readonly messages: Messages;
  /** Epoch ms. */
  readonly now: () => number;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
  /** The reading is another; it is acted on at once. */
  readonly changed: () => void;
}

/** What a number asks for, in the unit of the settings. */
export function wishOf(
  number: number,
  { quantity, runFrom }: { readonly quantity: "percent" | "watts"; readonly runFrom?: number | undefined },
): Wish {
  if (number >= (runFrom ?? 100)) return { kind: "run" };
  const target: CurtailmentTarget =
    number <= 0 ? { all: true } : quantity === "watts" ? { limit: number } : sharing(number / 100);
  return { kind: "curtail", id: `number ${number}`, target, until: null, urgent: false, text: "" };
}

/** The target of rigs that may take this share of what they took, 0 to below 1. */
export function sharing(kept: number): CurtailmentTarget {
  // Without the error of binary fractions.
  const share = Number((100 * (1 - kept)).toFixed(6));
  // The least share of a target; less is no curtailment that rigs could show.
  return share >= 100 ? { all: true } : { share: Math.max(1, share) };
}
