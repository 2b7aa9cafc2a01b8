import { pause } from "./pause.ts";

export interface BackOff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The wait after this many failures (1 is the first): doubles each time. */
export const backOffMs = (failures: number, { firstMs, longestMs }: BackOff): number =>
  Math.min(longestMs, firstMs * 2 ** (failures - 1));

/** Between half of a time and all of it, so that clients that failed together do not return together. */
export const jittered = (ms: number): number => ms * (0.5 + Math.random() / 2);

/** Waits after this many failures; ends at once, without an error, when the signal is aborted. */
export async function backOff(failures: number, limits: BackOff, signal: AbortSignal): Promise<void> {
  await pause(jittered(backOffMs(failures, limits)), signal);
}

/**
 * Retries until it succeeds; `failed` is called for each failure. Resolves with null if the signal is aborted first.
 */
export async function retry<T>(
  work: () => Promise<T>,
  failed: (error: unknown) => void,
  limits: BackOff,
  signal: AbortSignal,
): Promise<T | null> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return null;
      failed(error);
    }
    await backOff(failures, limits, signal);
  }
  return null;
}
