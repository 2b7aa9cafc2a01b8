import { sendDeadline } from "../async/send-deadline.ts";
import type { Messages, ReceivedMessage } from "../contract/messages.ts";
import type { Message, MqttLink } from "./mqtt-link.ts";

type Link = Pick<MqttLink, "publish" | "subscribe" | "unsubscribe" | "isOpen">;

/** The broker drops a message that it cannot deliver within this time: a plug must not switch an hour later. */
const expirySeconds = 10;

interface Topic {
  readonly listeners: Set<(message: ReceivedMessage) => void>;
  last: ReceivedMessage | null;
}

/**
 * The messages of a broker for plugs and sources. The service starts before the bridge, so subscriptions are kept until
 * `join` and while reconnecting.
 */
export class BrokerMessages implements Messages {
  readonly #now: () => number;
  readonly #isConfigured: () => boolean;
  readonly #topics = new Map<string, Topic>();
  #link: Link | null = null;

  /** `now` in epoch ms. */
  constructor(now: () => number, isConfigured: () => boolean = () => true) {
    this.#now = now;
    this.#isConfigured = isConfigured;
  }

  /** Uses this connection from now on. */
  join(link: Link): void {
    this.#link = link;
    if (this.#topics.size > 0) link.subscribe([...this.#topics.keys()], this.#received, { always: true });
  }

  get isConfigured(): boolean {
    return this.#isConfigured();
  }

  /** The connection is about to be closed. */
  leave(): void {
    this.#link = null;
  }

  listen(name: string, listener: (message: ReceivedMessage) => void): () => void {
    const existing = this.#topics.get(name);
    const topic = existing ?? { listeners: new Set(), last: null };
    // A separate function, because the same listener may subscribe twice.
    const own = (message: ReceivedMessage): void => listener(message);
    topic.listeners.add(own);
    if (existing === undefined) {
      this.#topics.set(name, topic);
      this.#link?.subscribe([name], this.#received, { always: true });
    }
    if (topic.last !== null) listener(topic.last);
    return () => {
      topic.listeners.delete(own);
      // A plug that is declared again subscribes at once, and keeps the last message.
      setImmediate(() => this.#leave(name, topic));
    };
  }

  publish(topic: string, payload: string, retain = false): boolean {
    if (this.#link?.isOpen !== true) return false;
    const expiry = retain ? {} : { expiry: expirySeconds };
    const deadline = sendDeadline();
    const sendBefore = deadline === null ? {} : { sendBefore: deadline };
    this.#link.publish({ topic, payload, qos: 1, retain, always: true, ...expiry, ...sendBefore });
    return true;
  }

  readonly #received = ({ topic: name, payload, retained }: Message): void => {
    const topic = this.#topics.get(name);
    if (topic === undefined) return;
    const text = payload.toString();
    // Delivered again after a reconnect, but not published again.
    if (retained && topic.last?.payload === text) return;
    const message: ReceivedMessage = { payload: text, at: this.#now(), retained };
    topic.last = message;
    for (const listener of topic.listeners) listener(message);
  };

  #leave(name: string, topic: Topic): void {
    if (topic.listeners.size > 0 || this.#topics.get(name) !== topic) return;
    this.#topics.delete(name);
    this.#link?.unsubscribe([name], this.#received);
  }
}
