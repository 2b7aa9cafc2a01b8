import { setTimeout as pause } from "node:timers/promises";

/**
 * Only against hanging, and the same for all helpers: far more than anything takes, even on a machine that is many times
 * slower. A test about a time limit of the product names that limit instead.
 */
export const limits = {
  /** For one thing to happen. */
  waitMs: 300_000,
  /** For a test or hook, which may wait for several. */
  testMs: 900_000,
};

/** Of commands, against hanging alone. */
export const commandLimits = {
  queueMs: limits.waitMs,
  requestMs: limits.waitMs,
  answerMs: limits.waitMs,
  changeMs: limits.testMs,
};

const shortestPauseMs = 2;
const longestPauseMs = 250;

export interface UntilOptions {
  readonly timeoutMs?: number;
  /** Added to the error, such as the log of a process. */
  readonly details?: () => unknown;
}

/**
 * Waits for a condition. `awaited` completes the sentence "Timed out waiting for ...", as
 * in "the bridge to reconnect". Rejects when the condition still does not hold after five minutes.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  awaited: string,
  { timeoutMs = limits.waitMs, details }: UntilOptions = {},
): Promise<void> {
  const start = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - start;
    if (waitedMs > timeoutMs) throw new Error(timedOut(awaited, timeoutMs, details));
    // Often at first, so that short waits stay short.
    await pause(Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs / 10)));
  }
}

/** The same for a promise. */
export async function within<T>(
  promise: Promise<T>,
  awaited: string,
  { timeoutMs = limits.waitMs, details }: UntilOptions = {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  // Created now, so that its stack shows the waiting test.
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
