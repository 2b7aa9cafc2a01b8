import { z } from "zod";
import { count, figure } from "./config.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { Fault } from "./faults.ts";

/** Fields of a node that may wait for the service; the editor shows them with `rigbridge.queueFields`. */
export const queueFields = {
  queue: z.enum(["none", "latest", "all"]).default("none"),
  queueCount: count(1, 10_000, 100),
  queueAge: figure(1, 86_400, 60),
};

export interface OfflineQueueOptions {
  readonly queue: "none" | "latest" | "all";
  /** Messages that wait at most; of more the oldest is refused. */
  readonly queueCount: number;
  /** s that a message waits at most. */
  readonly queueAge: number;
}

interface Waiting {
  readonly pass: () => void;
  readonly refuse: (fault: Fault) => void;
  readonly timer: NodeJS.Timeout;
  /** Epoch ms: the clock that goes on while the machine sleeps. */
  readonly until: number;
}

/** Where messages wait while the service cannot be asked. What has waited too long is refused, never passed. */
export class OfflineQueue {
  readonly #options: OfflineQueueOptions;
  readonly #connection: FarmConnection;
  readonly #changed: (count: number) => void;
  #waiting: Waiting[] = [];

  /** `changed` is told how many wait. Whoever makes it tells it of `read`, and closes it. */
  constructor(options: OfflineQueueOptions, connection: FarmConnection, changed: (count: number) => void) {
    this.#options = options;
    this.#connection = connection;
    this.#changed = changed;
  }

  /**
   * Resolves when the service can be asked, in the order of the calls. Rejects with why it cannot, without a queue; with
   * Faults `service.unreachable` for what waited too long and `not.possible` for what made room for later ones.
   */
  async pass(): Promise<void> {
    if (this.#connection.phase.kind === "connected" && this.#waiting.length === 0) return;
    const { queue, queueCount, queueAge } = this.#options;
    if (queue === "none") {
      this.#connection.asked();
      return;
    }
    const room = queue === "latest" ? 1 : queueCount;
    while (this.#waiting.length >= room)
      this.#waiting[0]?.refuse(
        new Fault("not.possible", queue === "latest" ? "superseded" : "queue-full", { n: room }),
      );
    await this.#wait(queueAge);
  }

  /** The service answers. */
  release(): void {
    for (const { pass } of [...this.#waiting]) pass();
  }

  /** Drops what waits, and says how many that were; nobody hears of them any more. */
  close(): number {
    const { length } = this.#waiting;
    for (const { timer } of this.#waiting) clearTimeout(timer);
    this.#waiting = [];
    return length;
  }

  #wait(age: number): Promise<void> {
    const tooOld = (): Fault => new Fault("service.unreachable", "too-old", { age });
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(waiting.timer);
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        this.#changed(this.#waiting.length);
      };
      const refuse = (fault: Fault): void => {
        leave();
        reject(fault);
      };
      const waiting: Waiting = {
        // A machine that slept wakes up with its timers late.
        pass: () => {
          if (Date.now() > waiting.until) return refuse(tooOld());
          leave();
          resolve();
        },
        refuse,
        timer: setTimeout(() => refuse(tooOld()), age * 1000),
        until: Date.now() + age * 1000,
      };
      this.#waiting.push(waiting);
      this.#changed(this.#waiting.length);
    });
  }
}
