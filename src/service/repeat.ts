/** Calls `work` at an interval in ms until the returned function is called. */
export type Repeat = (work: () => Promise<void>, ms: number) => () => void;

export const byTimer: Repeat = (work, ms) => {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
};
