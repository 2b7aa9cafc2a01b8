import { existsSync } from "node:fs";
import { connectAsync, type MqttClient } from "mqtt";
import { z } from "zod";
import { type Mosquitto, startMosquitto } from "../mqtt/mosquitto.ts";
import { LeftOut } from "./left-out.ts";

const program = "/usr/sbin/mosquitto";

/**
 * Runs with Mosquitto as a process of its own. As in examples/home-assistant/mosquitto.conf it sends small messages at
 * once; what it keeps for a slow subscriber has no bound, so that none of it is missed.
 */
export async function withMosquitto<T>(work: (broker: Mosquitto) => Promise<T>): Promise<T> {
  if (!existsSync(program)) throw new LeftOut(`there is no Mosquitto at ${program}`);
  const broker = await startMosquitto({ config: ["set_tcp_nodelay true", "max_queued_messages 0"] });
  const kill = () => void broker.kill();
  process.once("exit", kill);
  try {
    return await work(broker);
  } finally {
    process.off("exit", kill);
    await broker.stop();
  }
}

/** What was published, and how. */
export const Published = z.object({
  topic: z.string(),
  payload: z.string(),
  qos: z.literal([0, 1]),
  retain: z.boolean(),
  /** s; null = kept for good. */
  expiry: z.number().nullable(),
});
export type Published = z.infer<typeof Published>;

/** mqtt.js and no more; its small messages do not wait for acknowledgements (Nagle), as the bridge's do not. */
export async function bareClient(url: string): Promise<MqttClient> {
  const client = await connectAsync(url, { protocolVersion: 5 });
  if ("setNoDelay" in client.stream && typeof client.stream.setNoDelay === "function") client.stream.setNoDelay(true);
  return client;
}

/** A subscriber to what is said from now on, without what the broker keeps. */
export async function listen(
  url: string,
  { filter, qos }: { readonly filter: string; readonly qos: 0 | 1 },
  heard: (message: Published) => void,
): Promise<MqttClient> {
  const client = await bareClient(url);
  client.on("message", (topic, payload, { qos, retain, properties }) => {
    const expiry = properties?.messageExpiryInterval ?? null;
    heard({ topic, payload: payload.toString(), qos: qos === 0 ? 0 : 1, retain, expiry });
  });
  await client.subscribeAsync(filter, { qos, rap: true, rh: 2 });
  return client;
}
