/** Time as nodes use it; tests bring their own. */
export interface Clock {
  /** Monotonic ms. */
  now(): number;
  /** Runs the work once after `ms`. Returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
}

/** The longest delay of a Node.js timer; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

/** Nothing catches an error thrown in a timer, so it would end Node-RED: `attempt` runs the work. */
export const clockFor = (attempt: (work: () => void) => void): Clock => ({
  now: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(() => attempt(work), Math.min(ms, longestMs));
    return () => clearTimeout(timer);
  },
});
