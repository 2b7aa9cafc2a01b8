import { createServer, type RequestListener, type Server } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import { refuseClient } from "./client-errors.ts";
import { wantsSocket } from "./inward-sockets.ts";
import type { HttpLimits } from "./limits.ts";
import type { RequestQueues } from "./request-queue.ts";

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
  server.on("clientError", (error, socket) => refuseClient(error, socket, queues.current(socket), log));
  queues.serve(server, handle);
  return server;
}
