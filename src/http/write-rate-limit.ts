/** How often one client may write. */
export interface WriteLimits {
  /** Requests in a burst. */
  readonly writeBurst: number;
  /** Requests per second after the burst. */
  readonly writesPerSecond: number;
}

export interface WriteRateLimit {
  /** Counts a request of a client; returns 0 if it may pass, else the seconds to wait. */
  wait(client: string): number;
  /**
   * Charges an admitted request with a further cost, in requests, and may go into debt by a fifth of the burst (a body of
   * 1 MB); returns 0 if it may pass, else the seconds to wait.
   */
  charge(client: string, cost: number): number;
}

/** Clients kept; the one that was idle the longest is dropped. */
const remembered = 10_000;

/** Bytes of a body that count as one request. */
export const bytesPerWrite = 5_000;

/** A token bucket for each client. `now` is in ms and never goes back. */
export function writeRateLimit(limits: WriteLimits, now: () => number = () => performance.now()): WriteRateLimit {
  const { writeBurst, writesPerSecond } = limits;
  const buckets = new Map<string, { left: number; at: number }>();

  /** Takes the cost if at least `least` is left afterwards. */
  const take = (client: string, cost: number, least: number): number => {
    const { left, at } = buckets.get(client) ?? { left: writeBurst, at: now() };
    const filled = Math.min(writeBurst, left + ((now() - at) / 1000) * writesPerSecond);
    const passes = filled - cost >= least;
    buckets.delete(client);
    buckets.set(client, { left: passes ? filled - cost : filled, at: now() });
    if (buckets.size > remembered) buckets.delete(buckets.keys().next().value ?? "");
    return passes ? 0 : Math.ceil((least + cost - filled) / writesPerSecond);
  };
  return {
    wait: (client) => take(client, 1, 0),
    charge: (client, cost) => take(client, cost, -writeBurst / 5),
  };
}
