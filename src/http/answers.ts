import type { FastifyReply, FastifyRequest } from "fastify";
import type { Encoded } from "../contract/service.ts";
import { type Lanes, pour, streamOf } from "./encoded.ts";
import { clientHolds, tagged, weak } from "./etag.ts";

const jsonType = "application/json; charset=utf-8";

/** What was read: JSON with a tag, or 304 when the client holds it already. */
export function sendRead(request: FastifyRequest, reply: FastifyReply, value: unknown): FastifyReply {
  const { text, etag } = tagged(value);
  reply.header("cache-control", "private, no-cache");
  if (etag !== undefined) {
    reply.header("etag", etag);
    if (clientHolds(request.headers["if-none-match"], etag)) return reply.code(304).send();
  }
  return reply.header("content-type", jsonType).send(text);
}

/** Ready-made bytes, written piece by piece; long ones wait for a lane. */
export async function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  encoded: Encoded,
  { lanes, bigAnswer }: { lanes: Lanes; bigAnswer: number },
): Promise<FastifyReply> {
  const etag = weak(encoded.etag);
  reply.headers({ etag, "cache-control": "private, no-cache" });
  if (clientHolds(request.headers["if-none-match"], etag)) return reply.code(304).send();
  reply.headers({ "content-type": jsonType, "content-length": encoded.length });
  if (request.method === "HEAD") {
    // The length of a compressed body is not known before it is made.
    if (request.headers["accept-encoding"] !== undefined) reply.removeHeader("content-length");
    return reply.send();
  }
  if (encoded.length > bigAnswer) {
    reply.header("retry-after", "1");
    if (!(await lanes.enter(reply.raw))) return reply.hijack();
    reply.removeHeader("retry-after");
  }
  if (request.headers["accept-encoding"] !== undefined) return reply.send(streamOf(encoded.chunks));
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  await pour(encoded.chunks, reply.raw);
  return reply;
}

/** What an operation did. */
export const sendDone = (reply: FastifyReply, status: number, value: unknown): FastifyReply =>
  reply.code(status).headers({ "content-type": jsonType, "cache-control": "no-store" }).send(JSON.stringify(value));
