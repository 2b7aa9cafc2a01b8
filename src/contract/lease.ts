/** The right of one service to act on rigs and others, where several share a store. */
export interface ActingLease {
  /** Rises with each holder. */
  readonly epoch: number;
  /** Whether this process may act now: nobody else can have the lease yet. */
  mayAct(): boolean;
}
