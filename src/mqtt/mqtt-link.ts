import type { RigbridgeError } from "../contract/problems.ts";

/** What is published. */
export interface Publication {
  readonly topic: string;
  readonly payload: string;
  /** 0 for telemetry, 1 for what must arrive. */
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** s after which a broker drops it (MQTT 5). */
  readonly expiry?: number;
  /** MQTT 5: tells the answer to a request from others. */
  readonly correlation?: Buffer;
}

/** What has come in. */
export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  /** It was kept by the broker, and is not said now. */
  readonly retained: boolean;
  /** Sent once more since the first was not acknowledged. */
  readonly duplicate: boolean;
  /** MQTT 5: where the sender wants the answer, and what tells it from others. */
  readonly responseTopic: string | null;
  readonly correlation: Buffer | null;
}

export interface Subscription {
  /** Only what is said from now on: nothing that the broker keeps, nothing of our own (MQTT 5). */
  readonly fresh?: true;
}

/** A connection to a broker that comes back by itself. */
export interface MqttLink {
  /**
   * While there is no broker, what has QoS 1, an expiry and is not retained waits for one until it expires; all else is
   * dropped, and whoever publishes does so again when `connected` is called. Never throws; not awaited, so that many are
   * under way at once. Nothing is published where a `fresh` subscription of ours would take it for a command.
   */
  publish(publication: Publication): void;
  /** Resolves when all that was published with QoS 1 has arrived, or the connection is lost. */
  settled(): Promise<void>;
  /** Messages for these filters, now and after each reconnect, beside who listens to the same. */
  subscribe(filters: readonly string[], heard: (message: Message) => void, how?: Subscription): void;
  /** Without `heard`, whoever listens to these. */
  unsubscribe(filters: readonly string[], heard?: (message: Message) => void): void;
  /** Called after each connect, before anything else is published; at once where there is a broker now. */
  connected(listener: () => void): void;
  /** Whether there is a broker now. */
  readonly isConnected: boolean;
  /** Says goodbye with the will's message and ends; where another has taken its place, without a word. */
  close(why?: RigbridgeError): Promise<void>;
}
