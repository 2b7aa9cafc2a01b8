import type { MqttClient } from "mqtt";
import { z } from "zod";
import { bareClient, Published } from "./broker.ts";
import { answering } from "./child.ts";

/**
 * The floor of publishing: mqtt.js in a loop over messages that are ready, as many at a time as the bridge takes. All
 * at once would be dearer, for each message waits for room in the socket with a listener of its own.
 */

const portion = 200;

let client: MqttClient | null = null;
let messages: Published[] = [];

const publish = ({ topic, payload, qos, retain, expiry }: Published): Promise<unknown> | undefined => {
  const properties = expiry === null ? {} : { messageExpiryInterval: expiry };
  return client?.publishAsync(topic, payload, { qos, retain, properties });
};

answering({
  connect: async (input) => {
    client = await bareClient(z.string().parse(input));
  },
  messages: (input) => {
    messages = z.array(Published).parse(input);
  },
  /** Until all have been sent, and acknowledged where they have QoS 1. */
  publish: async () => {
    const sent: unknown[] = [];
    for (const [index, message] of messages.entries()) {
      if (index % portion === 0) await new Promise((resolve) => setImmediate(resolve));
      sent.push(publish(message));
    }
    await Promise.all(sent);
  },
});
