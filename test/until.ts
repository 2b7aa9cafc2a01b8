import { setTimeout as pause } from "node:timers/promises";

/** Far beyond what anything takes, also on a machine that is several times slower. */
const defaultTimeoutMs = 30_000;
const shortestPauseMs = 2;
const longestPauseMs = 250;

export interface UntilOptions {
  readonly timeoutMs?: number;
  /** Added to the error, such as the log of a process. */
  readonly details?: () => unknown;
}

/**
 * Waits for something that other events bring about. `awaited` completes the sentence "Timed out waiting for ...", as
 * in "the bridge to reconnect". Rejects when the condition still does not hold after 30 s.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  awaited: string,
  { timeoutMs = defaultTimeoutMs, details }: UntilOptions = {},
): Promise<void> {
  const start = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - start;
    if (waitedMs > timeoutMs) throw new Error(timedOut(awaited, timeoutMs, details));
    // What comes soon is seen at once; what takes long is not asked for all the time.
    await pause(Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs / 10)));
  }
}

/** The same for a promise that something else settles. */
export async function within<T>(
  promise: Promise<T>,
  awaited: string,
  { timeoutMs = defaultTimeoutMs, details }: UntilOptions = {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  // Made now, so that its stack shows who waits.
  const error = new Error();
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      error.message = timedOut(awaited, timeoutMs, details);
      reject(error);
    }, timeoutMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function timedOut(awaited: string, timeoutMs: number, details: UntilOptions["details"]): string {
  const more = details === undefined ? "" : `\n${String(details())}`;
  return `Timed out after ${timeoutMs / 1000} s waiting for ${awaited}${more}`;
}
