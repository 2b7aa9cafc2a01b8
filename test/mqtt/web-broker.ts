import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

/** What stands before a broker and takes WebSockets (RFC 6455), which Debian's Mosquitto does not. */
export interface WebBroker {
  readonly url: string;
  close(): Promise<void>;
}

/** Of RFC 6455, 1.3. */
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** At this path alone, as brokers behind a web server are. */
export async function startWebBroker(port: number, path: string): Promise<WebBroker> {
  const sockets = new Set<Duplex>();
  const server = createServer((_request, response) => response.writeHead(404).end());
  server.on("upgrade", ({ url, headers }, socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    if (url !== path || headers["sec-websocket-protocol"] !== "mqtt") {
      socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
      return;
    }
    const accept = createHash("sha1").update(`${headers["sec-websocket-key"]}${guid}`).digest("base64");
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n";
    socket.write(`${upgrade}sec-websocket-protocol: mqtt\r\nsec-websocket-accept: ${accept}\r\n\r\n`);
    const broker = connect(port, "127.0.0.1");
    sockets.add(broker);
    broker.on("error", () => socket.destroy());
    broker.on("close", () => socket.destroy());
    broker.on("data", (bytes: Buffer) => socket.write(framed(bytes)));
    socket.on("close", () => broker.destroy());
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let frame = unframed(rest); frame !== null; frame = unframed(rest)) {
        rest = rest.subarray(frame.length);
        if (frame.opcode <= 2) broker.write(frame.payload);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const at = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `ws://127.0.0.1:${at}${path}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** One binary frame, whole and unmasked, as servers send it. */
function framed(bytes: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt8(0x82, 0);
  head.writeUInt8(127, 1);
  head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, bytes]);
}

/** The first frame of a client, which is masked; null while it is not whole. `length`: of all its bytes. */
function unframed(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly length: number } | null {
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head + 4) return null;
  const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const start = head + 4;
  if (bytes.length < start + size) return null;
  const mask = bytes.subarray(head, start);
  const payload = Buffer.from(bytes.subarray(start, start + size));
  for (let at = 0; at < payload.length; at += 1) payload[at] = (payload[at] ?? 0) ^ (mask[at % 4] ?? 0);
  return { opcode: first & 0x0f, payload, length: start + size };
}
