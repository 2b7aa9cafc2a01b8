/** A pino logger is one. */
type FaultLog = { error(fields: { readonly err: unknown }, message: string): void };

/**
 * Isolates a front end's work for one rig: if it throws, other rigs are not affected, and the log has one entry with
 * the rig's id until it works again.
 */
export class RigFaults {
  readonly #log: FaultLog;
  readonly #failing = new Set<number | string>();

  constructor(log: FaultLog) {
    this.#log = log;
  }

  /** The result of the work, or of `fallback` if it throws. */
  run<T>(rig: number | string, work: () => T, fallback: () => T): T {
    try {
      const done = work();
      this.#failing.delete(rig);
      return done;
    } catch (error) {
      if (!this.#failing.has(rig)) this.#log.error({ err: error }, `miner ${rig} cannot be shown`);
      this.#failing.add(rig);
      return fallback();
    }
  }
}
