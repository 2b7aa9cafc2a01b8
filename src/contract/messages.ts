import { detail } from "../messages/detail.ts";
/** A message received on a topic. */
export interface ReceivedMessage {
  readonly payload: string;
  /** Time of reception, in epoch ms. */
  readonly at: number;
  /** A retained message, whose age is unknown. */
  readonly retained: boolean;
}

/** Publish and subscribe by topic, as offered by an MQTT broker. */
export interface Messages {
  /** Whether there is a broker, connected or not. Without one, nothing is received. */
  readonly isConfigured: boolean;
  /**
   * Subscribes to a topic. A retained message is delivered first, and once, not again after each reconnect. Call the
   * returned function to unsubscribe.
   */
  listen(topic: string, handle: (message: ReceivedMessage) => void): () => void;
  /** Publishes within seconds, and before the deadline of the work that calls it, or not at all; false without a connection. */
  publish(topic: string, payload: string, retain?: boolean): boolean;
}

/** For a service that has no broker. */
export const noMessages: Messages = { isConfigured: false, listen: () => () => undefined, publish: () => false };

/** The message if a setting requires the MQTT bridge and there is none. */
export const needsMessages = detail("input.needsMqtt").text;
