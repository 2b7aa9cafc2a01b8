import type { SendDeadline } from "../async/send-deadline.ts";

export interface Publication {
  readonly topic: string;
  readonly payload: string;
  /** 0 for telemetry, 1 for messages that must arrive. */
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** Seconds after which the broker drops it (MQTT 5). */
  readonly expiry?: number;
  /** MQTT 5: identifies the request that a response belongs to. */
  readonly correlation?: Buffer;
  /** Also published while another bridge has the topics. */
  readonly always?: true;
  /** Once it is over, the message is not sent any more. */
  readonly sendBefore?: SendDeadline;
}

export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  /** The broker retained it; it was not published now. */
  readonly retained: boolean;
  /** Delivered again because the first delivery was not acknowledged. */
  readonly duplicate: boolean;
  /** MQTT 5: where the sender expects the response, and the data that identifies it. */
  readonly responseTopic: string | null;
  readonly correlation: Buffer | null;
  /** MQTT 5: s after which the broker drops it; null: never, or not known. */
  readonly expiry: number | null;
}

export type Handle = (message: Message) => void;

export interface SubscribeOptions {
  /** Only new messages: nothing retained, nothing from this bridge (MQTT 5). */
  readonly fresh?: true;
  /** Also while another bridge has the topics. */
  readonly always?: true;
  /** 1 by default. With it, Mosquitto delivers only the first 1,000 retained messages; with 0, all. */
  readonly qos?: 0 | 1;
  /** Called for each filter when the broker has answered, also after a reconnect: its retained messages follow. */
  readonly answered?: () => void;
}

/** A connection to a broker that reconnects automatically. */
export interface MqttLink {
  /**
   * Without a connection, messages with QoS 1 and an expiry that are not retained wait until they expire; all others
   * are dropped, and the caller publishes them again in its `connected` listener. Never throws; not awaited, so that
   * many are in flight. Nothing is published where a `fresh` subscription would read it as a command, and nothing while
   * another bridge has the topics, unless it is marked `always`.
   */
  publish(publication: Publication): void;
  /** Resolves when all QoS 1 messages have arrived, or the connection is lost. */
  settled(): Promise<void>;
  /**
   * Delivers messages for these filters, also after a reconnect; other subscribers of the same filter are unaffected.
   */
  subscribe(filters: readonly string[], handle: Handle, options?: SubscribeOptions): void;
  /** Without `handle`, removes all subscribers of these filters. */
  unsubscribe(filters: readonly string[], handle?: Handle): void;
  /** The listener is called after each connect, before anything else is published; at once if connected now. */
  connected(listener: () => void): void;
  /** Whether a broker is connected, and no other bridge has the topics. */
  readonly isConnected: boolean;
  /** Whether a broker is connected. */
  readonly isOpen: boolean;
  /** Publishes the will's message and disconnects. */
  close(): Promise<void>;
}
