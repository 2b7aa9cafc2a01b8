import { WebSocketServer } from "ws";
import { frameOf } from "../../src/contract/agent-frames.ts";

/**
 * The least that agents cost a service: it parses their reports, and requests the summary of each program every 10 s.
 * Sends its port to the parent process.
 */
const intervalMs = 10_000;
const request = Buffer.from(
  `GET /2/summary HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${process.argv[2]}\r\nConnection: close\r\n\r\n`,
);
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.(address.port);
});
server.on("connection", (socket) => {
  let channel = 0;
  const ask = (): void => {
    channel += 1;
    socket.send(JSON.stringify({ t: "open", channel, id: 1 }));
    socket.send(frameOf(channel, request));
  };
  let asking: NodeJS.Timeout;
  const begin = setTimeout(() => {
    ask();
    asking = setInterval(ask, intervalMs);
  }, Math.random() * intervalMs);
  socket.on("message", (message: Buffer, isBinary) => {
    const text = message.toString();
    if (isBinary) JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
    else JSON.parse(text);
  });
  socket.on("close", () => {
    clearTimeout(begin);
    clearInterval(asking);
  });
});
process.on("disconnect", () => process.exit());
