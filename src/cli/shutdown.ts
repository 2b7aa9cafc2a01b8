import type { Logger } from "pino";

interface Part {
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** ms that closing may take before the process ends all the same. */
const patience = 5000;
/** ms within which a signal counts as the same one: a Ctrl-C reaches us from the terminal and from npm. */
const sameSignal = 500;

/** What has been started, to be closed in the opposite order. */
export class Shutdown {
  readonly #parts: Part[] = [];
  #closing: Promise<void> | undefined;

  add(name: string, close: () => Promise<void>): void {
    this.#parts.push({ name, close });
  }

  /** To be closed after all others. */
  addFirst(name: string, close: () => Promise<void>): void {
    this.#parts.unshift({ name, close });
  }

  /** The last that was added is closed first; what cannot be closed holds up nothing. */
  close(log: Logger): Promise<void> {
    this.#closing ??= this.#closeAll(log);
    return this.#closing;
  }

  async #closeAll(log: Logger): Promise<void> {
    for (const { name, close } of this.#parts.toReversed()) {
      try {
        await close();
      } catch (error) {
        log.error({ err: error }, `The ${name} could not be closed`);
      }
    }
  }

  /**
   * SIGINT, SIGTERM, and SIGHUP from a terminal that goes, close and end the process, a second one at once; so does what
   * nobody caught. That nobody reads what is printed any more ends nothing.
   */
  takeSignals(log: Logger): void {
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
    let first: number | undefined;
    const stop = (signal: NodeJS.Signals): void => {
      if (first !== undefined) {
        if (performance.now() - first > sameSignal) process.exit(1);
        return;
      }
      first = performance.now();
      log.info(`Stopping (${signal}) ...`);
      setTimeout(() => {
        log.error(`Not everything could be closed within ${patience / 1000} s`);
        process.exit(1);
      }, patience).unref();
      void this.close(log).then(() => process.exit(0));
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
    process.on("uncaughtException", (error) => {
      log.fatal({ err: error }, "A fault of Rigbridge; it ends here");
      process.exit(1);
    });
  }
}
