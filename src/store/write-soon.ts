/**
 * Many rigs are read at once, and a transaction for each would cost more than its rows: `flush` runs once for all
 * requests, at the end of this turn of the event loop unless `plan` schedules it otherwise. Failed writes stay for the
 * next flush.
 */
export function writeSoon(flush: () => Promise<void>, plan: (run: () => void) => unknown = setImmediate): () => void {
  let isPlanned = false;
  const run = (): void => {
    isPlanned = false;
    // The next flush reports the reason of a failure.
    flush().catch(() => undefined);
  };
  return () => {
    if (!isPlanned) plan(run);
    isPlanned = true;
  };
}
