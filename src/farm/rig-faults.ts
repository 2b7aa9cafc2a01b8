/** A logger of pino is one. */
export interface FaultLog {
  error(fields: { readonly err: unknown }, message: string): void;
}

/**
 * What a front end does for one rig alone. Where the program fails over it, the others go on: the log is told once, with
 * the rig's id, until it works again.
 */
export class RigFaults {
  readonly #log: FaultLog;
  readonly #failing = new Set<number | string>();

  constructor(log: FaultLog) {
    this.#log = log;
  }

  /** What came of the work, or where it failed what is shown instead. */
  run<T>(rig: number | string, work: () => T, instead: () => T): T {
    try {
      const done = work();
      this.#failing.delete(rig);
      return done;
    } catch (error) {
      if (!this.#failing.has(rig)) this.#log.error({ err: error }, `miner ${rig} cannot be shown`);
      this.#failing.add(rig);
      return instead();
    }
  }
}
