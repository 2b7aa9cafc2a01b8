import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { HttpSettings } from "../config/schema.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { healthPath } from "./paths.ts";
import { problemDocument, problemType } from "./problem.ts";

export interface Standby {
  /** Listens from now on. A service that cannot listen yet goes on waiting: it will have to once it is active. */
  start(): void;
  close(): Promise<void>;
}

export interface StandbyOptions {
  readonly http: HttpSettings;
  readonly version: string;
  readonly log: Logger;
}

/** Answers at the address of a service that waits for its store: its health, and `service.no.active` to all else. */
export function openStandby({ http: { host, port }, version, log }: StandbyOptions): Standby {
  const server = createServer((request, response) => answer(request, response, version));
  server.on("error", (error) => log.warn({ err: error }, "A service that waits cannot listen at its address"));
  return {
    start: () => {
      if (!server.listening) server.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
    },
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, version: string): void {
  request.resume();
  // Whoever asks comes back, and then means the active service.
  response.setHeader("connection", "close");
  const path = request.url?.split("?", 1)[0];
  if (path === healthPath && (request.method === "GET" || request.method === "HEAD")) {
    response.setHeader("content-type", "application/json; charset=utf-8");
    response.end(JSON.stringify({ status: "ok", version, role: "standby" }));
    return;
  }
  const problem = problemDocument(waits);
  response.writeHead(problem.status, { "content-type": problemType, "retry-after": "5" });
  response.end(JSON.stringify(problem));
}

const waits = new RigbridgeError(
  "service.no.active",
  "This service waits while another one of its site is active; ask that one",
);
