/**
 * Many rigs are read at once, and a transaction for each would cost more than its rows: `flush` runs once for all
 * requests, at the end of this turn of the event loop unless `plan` schedules it otherwise. Failed writes stay for the
 * next flush.
 */
export function writeSoon(flush: () => void, plan: (run: () => void) => unknown = setImmediate): () => void {
  let isPlanned = false;
  const run = (): void => {
    isPlanned = false;
    try {
      flush();
    } catch {
      // The next flush reports the reason.
    }
  };
  return () => {
    if (!isPlanned) plan(run);
    isPlanned = true;
  };
}
