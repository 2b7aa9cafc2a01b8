/**
 * Many rigs are read at once, and a transaction for each would cost more than its rows: `flush` runs once for all that
 * ask for it, at the end of this turn of the event loop unless `plan` says otherwise. What cannot be written then stays for
 * the next flush.
 */
export function writeSoon(flush: () => void, plan: (run: () => void) => unknown = setImmediate): () => void {
  let isPlanned = false;
  const run = (): void => {
    isPlanned = false;
    try {
      flush();
    } catch {
      // The next flush says why.
    }
  };
  return () => {
    if (!isPlanned) plan(run);
    isPlanned = true;
  };
}
