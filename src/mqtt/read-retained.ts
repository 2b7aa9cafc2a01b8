import type { Message, MqttLink } from "./mqtt-link.ts";

/** Runs work once after this many ms; returns a function that cancels it. */
export type Schedule = (work: () => void, ms: number) => () => void;

export const byTimer: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
};

/**
 * Splits the wait for a quiet broker in two halves: if this process was busy, the first half is over at once, and
 * messages that arrived in the meantime are read before the second.
 */
export const inHalves =
  (schedule: Schedule): Schedule =>
  (work, ms) => {
    let cancel = schedule(() => {
      cancel = schedule(work, ms / 2);
    }, ms / 2);
    return () => cancel();
  };

export interface RetainedReading {
  readonly connection: Pick<MqttLink, "subscribe" | "unsubscribe" | "isConnected">;
  readonly filters: readonly string[];
  /** After this long without another retained message, all are taken to have arrived. */
  readonly quietMs: number;
  readonly receive: (message: Message) => void;
  readonly done: () => void;
  readonly schedule?: Schedule;
}

/**
 * Reads a broker's retained messages once; starts over with each connect until done. Returns a function that ends it
 * early. The time counts from the broker's answer to the subscription, which may be late.
 */
export function readRetained(options: RetainedReading): () => void {
  const { connection, filters, quietMs, receive, done } = options;
  const schedule = inHalves(options.schedule ?? byTimer);
  let cancel = (): void => {};
  const wait = (): void => {
    cancel();
    cancel = schedule(end, quietMs);
  };
  const take = (message: Message): void => {
    if (!message.retained || message.payload.length === 0) return;
    receive(message);
    wait();
  };
  const end = (): void => {
    if (!connection.isConnected) return;
    connection.unsubscribe(filters, take);
    done();
  };
  connection.subscribe(filters, take, { qos: 0, answered: wait });
  return () => {
    cancel();
    connection.unsubscribe(filters, take);
  };
}
