/** Whether the conditions of a rule hold; null if unknown. */
export type Truth = boolean | null;
export const phases = ["idle", "pending", "firing", "clearing"] as const;
export type Phase = (typeof phases)[number];

/** State of a rule for one miner. Changed in place, because 20,000 are stepped within milliseconds. */
export interface MachineState {
  phase: Phase;
  /** Epoch ms when this phase began, for display. */
  since: number;
  /** ms that the conditions have held (pending) or not held (clearing), up to `at`. */
  elapsed: number;
  /** Since when the time counts, by the monotonic clock; null while it is unknown whether the conditions hold. */
  at: number | null;
}

export interface Delays {
  /** ms that the conditions must hold before the rule fires. */
  readonly forMs: number;
  /** ms that they must not hold before it clears. */
  readonly clearForMs: number;
}

export interface Instant {
  /** Monotonic clock, ms. */
  readonly monotonic: number;
  /** Epoch ms. */
  readonly wall: number;
}

/**
 * Steps the state once. A rule fires once until it has cleared. While it is unknown whether the conditions hold, the
 * phase stays and no time counts.
 */
export function advance(state: MachineState, truth: Truth, now: Instant, delays: Delays): "fire" | "clear" | null {
  const enter = <T extends "fire" | "clear" | null>(phase: Phase, turn: T): T => {
    state.phase = phase;
    state.since = now.wall;
    state.elapsed = 0;
    state.at = now.monotonic;
    return turn;
  };
  if (state.at !== null) state.elapsed += Math.max(0, now.monotonic - state.at);
  state.at = truth === null ? null : now.monotonic;
  if (truth === null) return null;
  switch (state.phase) {
    case "idle":
      if (!truth) return null;
      return delays.forMs > 0 ? enter("pending", null) : enter("firing", "fire");
    case "pending":
      if (!truth) return enter("idle", null);
      return state.elapsed >= delays.forMs ? enter("firing", "fire") : null;
    case "firing":
      if (truth) return null;
      return delays.clearForMs > 0 ? enter("clearing", null) : enter("idle", "clear");
    case "clearing":
      if (truth) return enter("firing", null);
      return state.elapsed >= delays.clearForMs ? enter("idle", "clear") : null;
  }
}

/** When the state must be stepped even without changes, by the monotonic clock; Infinity if never. */
export function dueAt({ phase, elapsed, at }: MachineState, { forMs, clearForMs }: Delays): number {
  if (at === null || phase === "idle" || phase === "firing") return Number.POSITIVE_INFINITY;
  return at + Math.max(0, (phase === "pending" ? forMs : clearForMs) - elapsed);
}
