import type { SendDeadline } from "../async/send-deadline.ts";

/** The right of one service to act on rigs and others, where several share a store. */
export interface ActingLease {
  /** The name of the store. */
  readonly store: string;
  /** Rises with each holder. */
  readonly epoch: number;
  /** Known only to the services that share the store, and only while this one has the lease. */
  readonly secret: string;
  /** When it was taken, epoch ms. */
  readonly since: number;
  /** ms since the lease was last renewed. */
  age(): number;
  /** Whether this process may act now: nobody else can have the lease yet. */
  mayAct(): boolean;
  /** Until when it may, in any thread. */
  readonly deadline: SendDeadline;
  /** Whether this process was the last one that had the lease, as far as it knows: it may still stop rigs for safety. */
  isLast(): boolean;
}
