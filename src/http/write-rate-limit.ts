/** How often one client may change something. */
export interface WriteLimits {
  /** Requests at once. */
  readonly writeBurst: number;
  /** Requests a second from then on. */
  readonly writesPerSecond: number;
}

export interface WriteRateLimit {
  /** Takes a request of a client into account; seconds that it has to wait for the next one, 0 when this one may pass. */
  wait(client: string): number;
  /**
   * Takes what a request that has passed costs beside, in requests, and goes into debt for it, as far as a fifth of what
   * may pass at once (a body of 1 MB); seconds to wait, 0 when it may pass.
   */
  charge(client: string, cost: number): number;
}

/** Clients remembered; the one that was quiet for longest gives way. */
const remembered = 10_000;

/** Bytes of a body that cost as much as a request. */
export const bytesPerWrite = 5_000;

/** A token bucket for each client. `now` is in ms and never goes back. */
export function writeRateLimit(limits: WriteLimits, now: () => number = () => performance.now()): WriteRateLimit {
  const { writeBurst, writesPerSecond } = limits;
  const buckets = new Map<string, { left: number; at: number }>();

  /** So much, where at least so much is left then. */
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
