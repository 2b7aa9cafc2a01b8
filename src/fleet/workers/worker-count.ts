import { availableParallelism } from "node:os";

/** Reads per second that justify a thread, and those up to which the main thread alone is better. */
const readsOfOne = 1_000;
const readsOfNone = 1_500;

/**
 * The number of worker threads for these reads per second: as set, or by the machine, with a core left for the main
 * thread.
 */
export function workerCount(
  setting: number | "auto",
  readsPerSecond: number,
  cores: number = availableParallelism(),
): number {
  if (setting !== "auto") return setting;
  if (readsPerSecond < readsOfNone || cores < 2) return 0;
  return Math.min(Math.floor(readsPerSecond / readsOfOne), Math.max(2, cores - 1));
}
