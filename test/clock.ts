/** A clock that moves only with `pass`; epoch milliseconds. */
export function stoppedClock(at = 1_800_000_000_000): { now: () => number; pass: (seconds: number) => void } {
  let now = at;
  return {
    now: () => now,
    pass: (seconds) => {
      now += seconds * 1000;
    },
  };
}
