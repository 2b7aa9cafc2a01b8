/** Remote write of a service, since it started. */
export interface RemoteWriteStatus {
  /** Samples that the receiver took. */
  readonly sent: number;
  /** Samples that it refused, or for which there was no room. */
  readonly dropped: number;
  /** Bytes that wait. */
  readonly waiting: number;
}
