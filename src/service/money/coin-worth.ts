/** A source's data about the work for a coin; null is unknown. */
export interface CoinWork {
  readonly difficulty: number | null;
  /** H/s of the whole network. */
  readonly networkHashrate: number | null;
  /** s between two blocks. */
  readonly blockTime: number | null;
  /** Coins per block. */
  readonly reward: number | null;
  /** Coins per H/s and day, if the source computes that itself. */
  readonly earning: number | null;
}

const daySeconds = 86_400;

/**
 * Coins that 1 H/s earns in a day: from the difficulty where the algorithm allows it, otherwise from the network's hash
 * rate, otherwise the source's own figure; null if none is known.
 */
export function earningOf(work: CoinWork, hashesPerDifficulty: number | null): number | null {
  const { difficulty, networkHashrate, blockTime, reward, earning } = work;
  if (difficulty !== null && difficulty > 0 && reward !== null && hashesPerDifficulty !== null)
    return (daySeconds * reward) / (difficulty * hashesPerDifficulty);
  if (networkHashrate !== null && networkHashrate > 0 && blockTime !== null && blockTime > 0 && reward !== null)
    return ((daySeconds / blockTime) * reward) / networkHashrate;
  return earning;
}

/** Share by which a network's hash rate may differ from its difficulty. */
const consistentWithin = 0.2;

/** Why difficulty, hash rate and block time contradict each other; null if they do not. */
export function contradiction(work: CoinWork, hashesPerDifficulty: number | null): string | null {
  const { difficulty, networkHashrate, blockTime } = work;
  if (hashesPerDifficulty === null || difficulty === null || networkHashrate === null || blockTime === null)
    return null;
  if (difficulty <= 0 || networkHashrate <= 0 || blockTime <= 0) return "its figures are not all above 0";
  const ratio = (networkHashrate * blockTime) / (difficulty * hashesPerDifficulty);
  return Math.abs(ratio - 1) < consistentWithin
    ? null
    : `its difficulty and the network's hash rate differ by a factor of ${ratio.toPrecision(3)}`;
}

/** Factor between two values of one figure above which the newer is not accepted at once. */
export const mostChange = 2.5;

export const isFar = (one: number, other: number): boolean =>
  one > 0 && other > 0 && Math.max(one / other, other / one) > mostChange;
