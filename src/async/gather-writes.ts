import type { Writable } from "node:stream";

/**
 * Makes writes to a stream leave together: the returned function is called before each of them, and `later` runs its
 * argument when those of the first and since then are to be sent.
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
