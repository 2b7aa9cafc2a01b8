import type { Messages, ReceivedMessage } from "../contract/messages.ts";
import type { MqttConnection } from "./mqtt-connection.ts";
import type { Message } from "./mqtt-link.ts";

type Connection = Pick<MqttConnection, "publish" | "subscribe" | "unsubscribe" | "isConnected">;

/** s after which nobody needs to hear any more what was said: a plug is not switched an hour later. */
const saidFor = 10;

interface Topic {
  readonly listeners: Set<(heard: ReceivedMessage) => void>;
  last: ReceivedMessage | null;
}

/**
 * The messages of a broker for plugs and sources. The service starts before the connection is there, so what it wants
 * to hear is noted until `join`.
 */
export class BrokerMessages implements Messages {
  readonly #now: () => number;
  readonly #topics = new Map<string, Topic>();
  #connection: Connection | null = null;

  /** `now` in epoch ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** From now on all goes over this connection. */
  join(connection: Connection): void {
    this.#connection = connection;
    if (this.#topics.size > 0) connection.subscribe([...this.#topics.keys()], this.#hear);
  }

  listen(name: string, heard: (message: ReceivedMessage) => void): () => void {
    const known = this.#topics.get(name);
    const topic = known ?? { listeners: new Set(), last: null };
    // A function of its own, since the same may listen twice.
    const listener = (message: ReceivedMessage): void => heard(message);
    topic.listeners.add(listener);
    if (known === undefined) {
      this.#topics.set(name, topic);
      this.#connection?.subscribe([name], this.#hear);
    }
    if (topic.last !== null) heard(topic.last);
    return () => {
      topic.listeners.delete(listener);
      // Whoever is declared anew listens again at once, and what was heard stays known.
      setImmediate(() => this.#leave(name, topic));
    };
  }

  publish(topic: string, payload: string): boolean {
    if (this.#connection?.isConnected !== true) return false;
    this.#connection.publish({ topic, payload, qos: 1, retain: false, expiry: saidFor });
    return true;
  }

  readonly #hear = ({ topic: name, payload, retained }: Message): void => {
    const topic = this.#topics.get(name);
    if (topic === undefined) return;
    const text = payload.toString();
    // Told again after a reconnect, with nobody having said it anew.
    if (retained && topic.last?.payload === text) return;
    const heard: ReceivedMessage = { payload: text, at: this.#now(), retained };
    topic.last = heard;
    for (const listener of topic.listeners) listener(heard);
  };

  #leave(name: string, topic: Topic): void {
    if (topic.listeners.size > 0 || this.#topics.get(name) !== topic) return;
    this.#topics.delete(name);
    this.#connection?.unsubscribe([name], this.#hear);
  }
}
