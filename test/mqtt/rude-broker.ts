import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** A broker that welcomes everybody and then does what a test wants of it. */
export interface RudeBroker {
  readonly url: string;
  /** Number of connections. */
  readonly welcomed: number;
  /** Ends all connections. */
  cut(): void;
  close(): Promise<void>;
}

/** CONNACK: welcome; MQTT 5 has properties in it, none here. */
const welcome = { 4: Buffer.from([0x20, 2, 0, 0]), 5: Buffer.from([0x20, 3, 0, 0, 0]) };

/** CONNACK of 3.1.1: unacceptable protocol version. */
const refusal = Buffer.from([0x20, 2, 0, 1]);

/** `behave` is called with each connection after CONNACK; if it is old, MQTT 5 is refused. */
export async function startRudeBroker(behave: (socket: Socket) => void, { isOld = false } = {}): Promise<RudeBroker> {
  const sockets = new Set<Socket>();
  let welcomed = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.once("data", (packet: Buffer) => {
      // The level stands behind the protocol's name.
      const level = packet[packet.indexOf("MQTT") + 4] === 5 ? 5 : 4;
      if (isOld && level === 5) {
        socket.end(refusal);
        return;
      }
      welcomed += 1;
      socket.write(welcome[level]);
      behave(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const address = server.address();
  return {
    url: `mqtt://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    get welcomed() {
      return welcomed;
    },
    cut,
    close: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}

/** The beginning of a PUBLISH with so many bytes in all; MQTT 3.1.1 by default. */
export function beginningOf(topic: string, bytes: number, { qos = 0, version = 4 } = {}): Buffer {
  const name = Buffer.from(topic);
  const rest = Buffer.concat([
    Buffer.from([name.length >> 8, name.length & 0xff]),
    name,
    ...(qos > 0 ? [Buffer.from([0, 1])] : []),
    ...(version === 5 ? [Buffer.from([0])] : []),
  ]);
  const length: number[] = [];
  for (let left = bytes; left > 0 || length.length === 0; left = Math.floor(left / 128))
    length.push((left % 128) + (left >= 128 ? 128 : 0));
  return Buffer.concat([Buffer.from([0x30 | (qos << 1), ...length]), rest]);
}

/** Sends zeros for as long as the other side takes them; how many bytes it let be sent. */
export function flood(socket: Socket, bytes: number): { readonly sent: number } {
  const piece = Buffer.alloc(65_536);
  const state = { sent: 0 };
  const more = (): void => {
    while (!socket.destroyed && state.sent < bytes) {
      state.sent += piece.length;
      if (!socket.write(piece)) return;
    }
  };
  socket.on("drain", more);
  more();
  return state;
}
