/** Samples that wait for a database that is away. */
export interface StoreWaiting {
  /** Bytes in files beside the service. */
  readonly bytes: number;
  /** Bytes of those that were dropped since the database went away: they had waited too long, or were too many. */
  readonly dropped: number;
}
