import { createServer, type RequestListener, type Server } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger } from "fastify";
import { refuseClient } from "./client-errors.ts";
import { wantsSocket } from "./inward-sockets.ts";
import type { HttpLimits } from "./limits.ts";
import type { RequestQueues } from "./request-queue.ts";

/** The open connections of each server, those of WebSockets and half-open ones too, which Node does not count as its own. */
const connections = new WeakMap<Server, Set<Duplex>>();

export function endConnections(server: Server): void {
  for (const connection of connections.get(server) ?? []) connection.destroy();
}

/** A server within the limits, which answers one request of a connection at a time. */
export function limitedServer(
  handle: RequestListener,
  queues: RequestQueues,
  limits: HttpLimits,
  log: FastifyBaseLogger,
): Server {
  const server = createServer({
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    shouldUpgradeCallback: wantsSocket,
    // Admission checks it, and answers with a problem document.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = limits.requestsPerConnection;
  server.on("clientError", (error, socket) => refuseClient(error, socket, queues, log));
  const open = new Set<Duplex>();
  connections.set(server, open);
  server.on("connection", (connection: Duplex) => {
    open.add(connection);
    connection.once("close", () => open.delete(connection));
  });
  queues.serve(server, handle);
  return server;
}
