/** Time as nodes use it; a test holds its own. */
export interface Clock {
  /** ms, never set back. */
  now(): number;
  /** Does it once, after so many ms. Returns what calls it off. */
  after(ms: number, work: () => void): () => void;
}

/** The longest that a timer of Node.js waits; beyond that it would go off at once. */
const longest = 2 ** 31 - 1;

/** Work that fails later fails where nobody would catch it, and Node-RED would end: `attempt` runs it. */
export const clockFor = (attempt: (work: () => void) => void): Clock => ({
  now: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(() => attempt(work), Math.min(ms, longest));
    return () => clearTimeout(timer);
  },
});
