import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";

export interface TestServer {
  readonly url: string;
  close(): Promise<void>;
}

const open: (() => Promise<void>)[] = [];

export async function closeServers(): Promise<void> {
  for (const close of open.splice(0)) await close();
}

async function listening(server: Server, cut: () => void, port = 0): Promise<TestServer> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : 0;
  const close = async () => {
    cut();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  open.push(close);
  return { url: `http://127.0.0.1:${bound}`, close };
}

/** A server that answers as it is told. */
export function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<TestServer> {
  const server = createServer(answer);
  return listening(server, () => server.closeAllConnections(), port);
}

/** A server that does as it is told with each connection. */
export function connecting(serve: (socket: Socket) => void): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  return listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
};

export const emptySummary = {
  runningCount: 0,
  totalCount: 0,
  coinList: [],
  algorithmList: [],
  metaData: { version: "9.1" },
};

/** A small server of the reference product's kind: a summary, and these replies by path. */
export function reference(replies: Readonly<Record<string, unknown>>): Promise<TestServer> {
  const all: Readonly<Record<string, unknown>> = { "/api/summary": emptySummary, ...replies };
  return answering((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    if (!Object.hasOwn(all, path)) sendJson(response, { message: "Nothing here" }, 404);
    else sendJson(response, all[path]);
  });
}
