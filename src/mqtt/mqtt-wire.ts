import type { MqttClient } from "mqtt";
import type { Wire } from "./outgoing.ts";

/** MQTT version: 5, or 4 for 3.1.1. */
export type Version = 4 | 5;

/** QoS 1 messages in flight, unless the broker accepts fewer. */
const maxInFlight = 1_000;
/** Above this number of unsent bytes, telemetry to a slow broker is dropped. */
const maxBacklogBytes = 8 * 1024 * 1024;

/** Limits of the broker: QoS 1 messages in flight, and bytes of a packet. */
export interface Limits {
  readonly window: number;
  readonly packet: number;
}

/** Bytes of a packet besides topic and payload, generously. */
const envelope = 256;

/**
 * The messages of a connected client, through mqtt.js. `refused` is called for each message that the broker refuses.
 */
export function wireOf(client: MqttClient, version: Version, limits: Limits, refused: (topic: string) => void): Wire {
  return {
    send: ({ topic, payload, qos, retain, expiry, correlation }, arrived) => {
      // A broker disconnects a client that sends a larger packet. A character has at most 3 bytes.
      const length = 3 * (payload.length + topic.length) + envelope;
      if (length > limits.packet && Buffer.byteLength(payload) + Buffer.byteLength(topic) + envelope > limits.packet) {
        refused(topic);
        queueMicrotask(arrived);
        return;
      }
      const properties =
        version === 5
          ? {
              properties: {
                ...(expiry === undefined ? {} : { messageExpiryInterval: expiry }),
                ...(correlation === undefined ? {} : { correlationData: correlation }),
              },
            }
          : {};
      client.publish(topic, payload, { qos, retain, ...properties }, (error) => {
        if (isRefusal(error)) refused(topic);
        arrived();
      });
    },
    get hasRoom() {
      return client.stream.writableLength < maxBacklogBytes;
    },
    get isEmpty() {
      return client.stream.writableLength === 0;
    },
    window: Math.min(maxInFlight, limits.window),
    // A broker that delays acknowledgements (Nagle) sends them together with its response.
    nudge: () => client.sendPing(),
  };
}

/** A reason code of MQTT 5 from 128 is an error; 16 means only that there are no subscribers. */
const isRefusal = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "number" && error.code >= 128;
