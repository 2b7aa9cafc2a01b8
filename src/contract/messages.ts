/** What was said at a topic. */
export interface ReceivedMessage {
  readonly payload: string;
  /** Epoch ms at which it came in here. */
  readonly at: number;
  /** It was kept for those who come later: nobody knows how old it is. */
  readonly retained: boolean;
}

/** A place where devices say things under topics, as an MQTT broker is one. */
export interface Messages {
  /**
   * Hears what is said at a topic from now on, and what was said last where that is known. The same retained message
   * is heard once, not again after each reconnect. Call what is given back to hear no more.
   */
  listen(topic: string, heard: (message: ReceivedMessage) => void): () => void;
  /** Says something within seconds or never; false when there is nobody to say it to. */
  publish(topic: string, payload: string): boolean;
}

/** For people, where something wants messages and there are none. */
export const needsMessages = "needs the MQTT bridge: set mqtt in the configuration";
