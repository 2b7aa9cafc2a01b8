import type { Writable } from "node:stream";

/**
 * Joins writes to a stream: call the returned function before each write; `later` runs its argument when the writes
 * gathered since then are to be sent.
 */
export function gatherWrites(stream: Writable, later: (send: () => void) => unknown): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    stream.cork();
    later(() => {
      isGathering = false;
      stream.uncork();
    });
  };
}
