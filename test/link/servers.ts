import { createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";

/**
 * A server of a few lines for what the simulator's rigs never do. Listens on any free port of 127.0.0.1 until the end of
 * the test.
 */
export async function serve(answer: (socket: Socket, request: string) => void): Promise<TinyServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.end());
    socket.once("data", (chunk) => answer(socket, chunk.toString()));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(portOf(server)));
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return { port, connections: () => sockets.size, close };
}

export interface TinyServer {
  readonly port: number;
  /** How many were ever opened. */
  connections(): number;
  close(): Promise<void>;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A port where nothing listens; no server of another test that asks for any port gets it. */
export const closedPort = freePort;

/** Sends this again and again, never all of an answer. The signal is a deadline that ends once some of it has arrived. */
export function trickling(text: string | Buffer): { answer: (socket: Socket) => void; signal: AbortSignal } {
  const late = new AbortController();
  const answer = (socket: Socket): void => {
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(text);
      sent += 1;
      // What is sent in one turn of the event loop is received in the next.
      if (sent === 3) late.abort(new DOMException("The time is over", "TimeoutError"));
    }, 5);
    socket.once("close", () => clearInterval(timer));
  };
  return { answer, signal: late.signal };
}

/** One HTTP response, its length said. */
export const http = (status: number, body: string | Buffer, headers: readonly string[] = []): Buffer =>
  Buffer.concat([
    Buffer.from(
      [`HTTP/1.1 ${status} X`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers, "", ""].join("\r\n"),
    ),
    Buffer.from(body),
  ]);
