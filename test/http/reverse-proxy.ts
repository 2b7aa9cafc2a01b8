import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";

/** A reverse proxy that serves what listens on a port below a prefix, and adds the given headers. */
export function reverseProxy(
  port: number,
  prefix: string,
  added: Readonly<Record<string, string>> = {},
  /** Whether it keeps the client of this path waiting forever. */
  holds: (path: string) => boolean = () => false,
): Promise<{ readonly url: string; close(): void }> {
  const pass = (asked: IncomingMessage, answer: ServerResponse): void => {
    if (!asked.url?.startsWith(prefix)) {
      answer.writeHead(404).end();
      return;
    }
    const headers = { ...asked.headers, ...added };
    const path = `/${asked.url.slice(prefix.length)}`;
    if (holds(path)) return;
    const sent = request({ port, host: "127.0.0.1", method: asked.method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    // A browser that leaves ends its stream of events.
    answer.once("close", () => sent.destroy());
    sent.on("error", () => answer.destroy());
    asked.pipe(sent);
  };
  const server: Server = createServer(pass).listen(0, "127.0.0.1");
  return new Promise((resolve) =>
    server.once("listening", () => {
      const bound = server.address();
      const own = typeof bound === "object" && bound !== null ? bound.port : 0;
      const close = (): void => {
        server.closeAllConnections();
        server.close();
      };
      resolve({ url: `http://127.0.0.1:${own}${prefix}`, close });
    }),
  );
}
