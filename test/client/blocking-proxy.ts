import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { operations } from "../../src/contract/operations.ts";

/** What a proxy does with the stream of events: passes it, refuses it, never answers, keeps its body, or cuts it. */
export const blockings = ["refuse", "hide", "never answer", "keep", "cut"] as const;
export type Blocking = (typeof blockings)[number] | "pass";

export interface BlockingProxy {
  readonly url: string;
  /** Paths of the requests so far, in order. */
  readonly paths: readonly string[];
  set(blocking: Blocking): void;
  close(): Promise<void>;
}

/** A proxy in front of a service that passes everything but its events. `arrived` is called before a request is passed. */
export async function startBlockingProxy(
  target: string,
  first: Blocking,
  arrived: (path: string) => void = () => undefined,
): Promise<BlockingProxy> {
  const paths: string[] = [];
  let blocking = first;
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    paths.push(path);
    arrived(path);
    if (path === operations.watchEvents.path && blocking !== "pass") block(blocking, request, response);
    else pass(request, response);
  });
  const pass = (request: IncomingMessage, response: ServerResponse, cutAfterMs?: number): void => {
    const { method, headers } = request;
    const onward = httpRequest(new URL(request.url ?? "", target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
    if (cutAfterMs !== undefined) setTimeout(() => response.destroy(), cutAfterMs);
  };
  const block = (how: Exclude<Blocking, "pass">, request: IncomingMessage, response: ServerResponse): void => {
    if (how === "refuse") response.writeHead(403, { "content-type": "text/html" }).end("<h1>Forbidden</h1>");
    else if (how === "hide") response.writeHead(404, { "content-type": "text/plain" }).end("not here");
    else if (how === "keep") response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    else if (how === "cut") pass(request, response, 100);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    set: (next) => {
      blocking = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
