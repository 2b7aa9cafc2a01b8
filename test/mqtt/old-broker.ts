import { startRelay } from "../relay.ts";

/** What stands before a broker and lets only MQTT 3.1.1 through, as older brokers do. */
export interface OldBroker {
  readonly url: string;
  close(): Promise<void>;
}

/** CONNACK of 3.1.1: unacceptable protocol version. */
const refusal = Buffer.from([0x20, 0x02, 0x00, 0x01]);

export async function startOldBroker(port: number): Promise<OldBroker> {
  const relay = await startRelay({ host: "127.0.0.1", port }, (client, broker) => {
    client.once("data", (packet: Buffer) => {
      // The level stands behind the protocol's name.
      if (packet[packet.indexOf("MQTT") + 4] === 5) {
        client.end(refusal);
        return;
      }
      broker.write(packet);
      client.pipe(broker).pipe(client);
    });
  });
  return { url: `mqtt://127.0.0.1:${relay.port}`, close: () => relay.close() };
}
