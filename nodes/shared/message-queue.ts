import { z } from "zod";
import { count, figure } from "./config.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { Fault } from "./faults.ts";

/** Fields of a node that can queue messages; the editor shows them with `rigbridge.queueFields`. */
export const queueFields = {
  queue: z.enum(["none", "latest", "all"]).default("none"),
  queueCount: count(1, 10_000, 100),
  queueAge: figure(1, 86_400, 60),
};

export interface MessageQueueOptions {
  readonly queue: "none" | "latest" | "all";
  /** Messages that can wait; beyond that the oldest is refused. */
  readonly queueCount: number;
  /** s that a message can wait. */
  readonly queueAge: number;
}

type Connection = Pick<FarmConnection, "phase" | "connected">;

interface Waiting {
  readonly pass: () => void;
  readonly refuse: (fault: Fault) => void;
  readonly timer: NodeJS.Timeout;
}

/** Keeps a node's messages in order, and holds them while the service is away. Expired messages are refused. */
export class MessageQueue {
  readonly #options: MessageQueueOptions;
  readonly #connection: Connection;
  readonly #changed: (count: number) => void;
  #evaluated: Promise<unknown> = Promise.resolve();
  #waiting: Waiting[] = [];

  /** `changed` gets the number of waiting messages. The owner calls `release` and `close`. */
  constructor(options: MessageQueueOptions, connection: Connection, changed: (count: number) => void) {
    this.#options = options;
    this.#connection = connection;
    this.#changed = changed;
  }

  /**
   * Resolves in the order of the calls, once the message is evaluated and the service is connected. Rejects if the
   * evaluation fails; without a queue, with the connection's error; with the Faults `service.unreachable` for an
   * expired message and `not.possible` for a message displaced by a later one.
   */
  async pass<T>(evaluation: Promise<T>): Promise<T> {
    // JSONata and some context stores are asynchronous, so a later message may be evaluated first.
    this.#evaluated = Promise.allSettled([this.#evaluated, evaluation]).then(() => undefined);
    await this.#evaluated;
    const request = await evaluation;
    if (this.#connection.phase.kind === "connected" && this.#waiting.length === 0) return request;
    const { queue, queueCount, queueAge } = this.#options;
    if (queue === "none") {
      this.#connection.connected();
      return request;
    }
    const room = queue === "latest" ? 1 : queueCount;
    while (this.#waiting.length >= room)
      this.#waiting[0]?.refuse(
        new Fault("not.possible", queue === "latest" ? "superseded" : "queue-full", { n: room }),
      );
    await this.#wait(queueAge);
    return request;
  }

  /** Lets the waiting messages pass: the service is connected. */
  release(): void {
    for (const { pass } of [...this.#waiting]) pass();
  }

  /** Drops the waiting messages without an error, and returns how many. */
  close(): number {
    const { length } = this.#waiting;
    for (const { timer } of this.#waiting) clearTimeout(timer);
    this.#waiting = [];
    return length;
  }

  #wait(age: number): Promise<void> {
    return new Promise((resolve, reject) => {
      // Wall-clock time, which continues while the machine sleeps; its timers then fire late.
      const until = Date.now() + age * 1000;
      const leave = (): void => {
        clearTimeout(waiting.timer);
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        this.#changed(this.#waiting.length);
      };
      const refuse = (fault: Fault): void => {
        leave();
        reject(fault);
      };
      const expire = (): void => refuse(new Fault("service.unreachable", "too-old", { age }));
      const pass = (): void => {
        if (Date.now() > until) expire();
        else {
          leave();
          resolve();
        }
      };
      const waiting: Waiting = { pass, refuse, timer: setTimeout(expire, age * 1000) };
      this.#waiting.push(waiting);
      this.#changed(this.#waiting.length);
    });
  }
}
