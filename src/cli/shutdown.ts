import type { Logger } from "pino";

interface Part {
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** After this time the process ends even if something is still open. */
const timeoutMs = 5000;
/** A second signal within this time counts as the first: Ctrl-C arrives from the terminal and from npm. */
const sameSignalMs = 500;

/** Everything that was started, to be closed in reverse order. */
export class Shutdown {
  /** Resolves when a start begins to wait. */
  #waiting = Promise.withResolvers<void>();
  readonly #parts: Part[] = [];
  #closing: Promise<void> | undefined;
  #restarting: Promise<void> | undefined;

  add(name: string, close: () => Promise<void>): void {
    this.#parts.push({ name, close });
  }

  /** To be closed after all others. */
  addFirst(name: string, close: () => Promise<void>): void {
    this.#parts.unshift({ name, close });
  }

  /** Whether a start waits for something outside, which may take days: closing does not wait for that start. */
  set startWaits(waits: boolean) {
    if (waits) this.#waiting.resolve();
    else this.#waiting = Promise.withResolvers();
  }

  /** In reverse order; a part that fails to close does not keep the others from closing. */
  close(log: Logger): Promise<void> {
    this.#closing ??= Promise.race([this.#restarting, this.#waiting.promise]).then(() => this.closeParts(log));
    return this.#closing;
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Closes everything, then starts again; a second call in the meantime does nothing. The process ends if that fails.
   */
  async restart(log: Logger, start: () => Promise<void>): Promise<void> {
    if (this.#closing !== undefined || this.#restarting !== undefined) return;
    log.info("Restarting ...");
    const restarted = this.closeParts(log).then(() => (this.#closing === undefined ? start() : undefined));
    this.#restarting = restarted.catch(() => undefined);
    try {
      await restarted;
    } catch (error) {
      log.fatal({ err: error }, "The restart failed");
      await this.closeParts(log);
      process.exit(1);
    }
    this.#restarting = undefined;
  }

  /** What was started so far. */
  async closeParts(log: Logger): Promise<void> {
    const parts = this.#parts.splice(0).toReversed();
    for (const { name, close } of parts) {
      try {
        await close();
      } catch (error) {
        log.error({ err: error }, `The ${name} could not be closed`);
      }
    }
  }

  /**
   * SIGINT, SIGTERM and SIGHUP close everything and end the process; a second signal, or an uncaught error, ends it at
   * once. A closed stdout or stderr does not end it. `reload`: replaces the effect of SIGHUP.
   */
  takeSignals(log: Logger, reload?: () => void): void {
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
    let first: number | undefined;
    const stop = (signal: NodeJS.Signals): void => {
      if (first !== undefined) {
        if (performance.now() - first > sameSignalMs) process.exit(1);
        return;
      }
      first = performance.now();
      log.info(`Stopping (${signal}) ...`);
      setTimeout(() => {
        log.error(`Shutdown did not finish within ${timeoutMs / 1000} s`);
        process.exit(1);
      }, timeoutMs).unref();
      void this.close(log).then(() => process.exit(0));
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
    process.on("SIGHUP", reload ?? stop);
    process.on("uncaughtException", (error) => {
      log.fatal({ err: error }, "Internal error; Rigbridge stops");
      process.exit(1);
    });
  }
}
