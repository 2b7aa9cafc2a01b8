export interface Paced {
  readonly perSecond: number;
  readonly places: number;
  readonly seconds: number;
  /** Work begins in batches, so many ms apart; 0 = evenly. */
  readonly batchMs: number;
}

/**
 * Starts work so many times a second, without waiting for its end; resolves with how often once the time is over and all
 * of it has ended. Work that finds no place waits for one, and is left out once the time is over.
 */
export async function paced(
  work: (turn: number) => Promise<void>,
  { perSecond, places, seconds, batchMs }: Paced,
): Promise<{ done: number; failed: number }> {
  const began = performance.now();
  let started = 0;
  let running = 0;
  let done = 0;
  let failed = 0;
  let over = false;
  const run = (turn: number): void => {
    running += 1;
    work(turn)
      .then(
        () => (done += 1),
        () => (failed += 1),
      )
      .finally(() => (running -= 1));
  };
  await new Promise<void>((resolve) => {
    const turn = (): void => {
      const passed = (performance.now() - began) / 1000;
      const due = Math.min(passed, seconds) * perSecond;
      if (!over) for (; started < due && running < places; started += 1) run(started);
      over = passed >= seconds;
      const next = began + (1000 * started) / perSecond - performance.now();
      if (!over) setTimeout(turn, Math.max(1, Math.min(Math.max(next, batchMs), 1000 * (seconds - passed))));
      else if (running > 0) setTimeout(turn, 10);
      else resolve();
    };
    turn();
  });
  return { done, failed };
}
