/** What is known of a rig that a fan cools. */
export type CooledRig = "running" | "stopped" | "unknown";

export interface FanMemory {
  /** Epoch ms since when all its rigs are known to be stopped; null while one runs or is unknown. */
  readonly stoppedSince: number | null;
  /** Epoch ms until which a rig that was started may still not say that it runs. */
  readonly keepOnUntil: number;
}

export const noFanMemory: FanMemory = { stoppedSince: null, keepOnUntil: Number.NEGATIVE_INFINITY };

export interface FanTurn {
  /** What the fan is to do now; null: stay as it is. */
  readonly wanted: boolean | null;
  readonly memory: FanMemory;
}

/**
 * A fan runs while a rig does, and stops `offDelayMs` after the last one has stopped; null: it stays on. A rig of which
 * nothing is known may be warm, and one that was just started may be about to run, so the fan stays as it is. Pure.
 */
export function fanTurn(
  rigs: readonly CooledRig[],
  isOn: boolean | null,
  offDelayMs: number | null,
  memory: FanMemory,
  now: number,
): FanTurn {
  const notStopped = { ...memory, stoppedSince: null };
  if (rigs.includes("running")) return { wanted: isOn === false ? true : null, memory: notStopped };
  if (rigs.length === 0 || rigs.includes("unknown")) return { wanted: null, memory: notStopped };
  const stoppedSince = memory.stoppedSince ?? now;
  const isOver = offDelayMs !== null && now - stoppedSince >= offDelayMs && now >= memory.keepOnUntil;
  return { wanted: isOver && isOn === true ? false : null, memory: { ...memory, stoppedSince } };
}
