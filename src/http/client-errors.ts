import { STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger } from "fastify";
import { RigbridgeError } from "../contract/problems.ts";
import { refusalLine } from "./log.ts";
import { problemDocument, problemType } from "./problem.ts";
import type { RequestQueues } from "./request-queue.ts";

/**
 * Answers input that never became a request (malformed HTTP, headers too large or too slow) and closes the connection.
 * If an answer is already being written, more bytes would only corrupt it.
 */
export function refuseClient(
  error: Error & { code?: string },
  socket: Duplex,
  queues: RequestQueues,
  log: FastifyBaseLogger,
): void {
  const current = queues.current(socket);
  // The next request is late only because this one is not answered yet; the connection ends with its answer.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && current?.req.complete) {
    current.once("close", () => socket.destroy());
    return;
  }
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, problem } = refusalOf(error.code);
  const address = socket instanceof Socket ? socket.remoteAddress : undefined;
  log.info({ status, address, ...refusalLine(problem) }, "refused");
  const body = JSON.stringify({ ...problemDocument(problem), status });
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${problemType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Cache-Control: no-store",
      "X-Content-Type-Options: nosniff",
      "Referrer-Policy: no-referrer",
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
  queues.end(socket);
}

function refusalOf(code: string | undefined): { status: number; problem: RigbridgeError } {
  if (code === "HPE_HEADER_OVERFLOW")
    return { status: 431, problem: new RigbridgeError("headers.too-large", "Address and headers are too long") };
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return {
      status: 413,
      problem: new RigbridgeError("body.too-large", "The chunks of the body have too long extensions"),
    };
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return { status: 408, problem: new RigbridgeError("request.timeout", "The request did not arrive in time") };
  return { status: 400, problem: new RigbridgeError("input.invalid", "This is not HTTP/1.1") };
}
