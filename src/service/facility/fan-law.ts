/** What is known of a rig that a fan cools. */
export type CooledRig = "running" | "stopped" | "unknown";

export interface FanMemory {
  /** Epoch ms since when all its rigs are known to be stopped; null while one runs or is unknown. */
  readonly stoppedSince: number | null;
}

export interface FanTurn {
  /** What the fan is to do now; null: stay as it is. */
  readonly wanted: boolean | null;
  readonly memory: FanMemory;
}

/**
 * A fan runs while a rig does, and stops `offDelayMs` after the last one has stopped; null: it stays on. A rig of which
 * nothing is known may be warm, so the fan stays as it is. Pure.
 */
export function fanTurn(
  rigs: readonly CooledRig[],
  isOn: boolean | null,
  offDelayMs: number | null,
  memory: FanMemory,
  now: number,
): FanTurn {
  if (rigs.includes("running")) return { wanted: isOn === false ? true : null, memory: { stoppedSince: null } };
  if (rigs.length === 0 || rigs.includes("unknown")) return { wanted: null, memory: { stoppedSince: null } };
  const stoppedSince = memory.stoppedSince ?? now;
  const isOver = offDelayMs !== null && now - stoppedSince >= offDelayMs;
  return { wanted: isOver && isOn === true ? false : null, memory: { stoppedSince } };
}
