import type { Message, MqttLink } from "./mqtt-link.ts";

/** Runs work once after so many ms; returns how to cancel it. */
export type Schedule = (work: () => void, ms: number) => () => void;

export const byTimer: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
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
 * Reads once what a broker retains; begins again with each connect, until it is done. Returns what ends it early. The
 * time counts from the broker's answer to the subscription, which a slow one gives late.
 */
export function readRetained(options: RetainedReading): () => void {
  const { connection, filters, receive, done, schedule = byTimer } = options;
  const halfMs = options.quietMs / 2;
  let cancel = (): void => {};
  const wait = (): void => {
    cancel();
    // If this process was busy, the first half is over at once; what has arrived meanwhile is then read before the second.
    cancel = schedule(() => {
      cancel = schedule(end, halfMs);
    }, halfMs);
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
