import { once } from "node:events";
import { connect, createServer } from "node:net";

/** What stands before a broker and lets only MQTT 3.1.1 through, as older brokers do. */
export interface OldBroker {
  readonly url: string;
  close(): Promise<void>;
}

/** CONNACK of 3.1.1: unacceptable protocol version. */
const refusal = Buffer.from([0x20, 0x02, 0x00, 0x01]);

export async function startOldBroker(port: number): Promise<OldBroker> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("data", (packet: Buffer) => {
      // The level stands behind the protocol's name.
      if (packet[packet.indexOf("MQTT") + 4] === 5) {
        socket.end(refusal);
        return;
      }
      const broker = connect(port, "127.0.0.1");
      sockets.add(broker);
      broker.on("error", () => socket.destroy());
      broker.on("close", () => socket.destroy());
      socket.on("close", () => broker.destroy());
      broker.write(packet);
      socket.pipe(broker).pipe(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const at = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `mqtt://127.0.0.1:${at}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
