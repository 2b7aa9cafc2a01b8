import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Encoded } from "../contract/service.ts";
import { compressorFor } from "./compression.ts";
import { groupSize, pour, streamOf } from "./encoded.ts";
import { clientHolds, tagged, weak } from "./etag.ts";
import type { PendingAnswers } from "./pending-answers.ts";

const json = "application/json";
const utf8 = (type: string): string => `${type}; charset=utf-8`;
/** Bytes of memory that compression needs until the answer is read; zstd needs the most. */
const compressor = 1_500_000;

/** The reply to a read: JSON with a tag, or 304 if the client's copy is current. */
export function sendRead(request: FastifyRequest, reply: FastifyReply, value: unknown, type = json): FastifyReply {
  const { text, etag } = tagged(value);
  reply.header("cache-control", "private, no-cache");
  if (etag !== undefined) {
    reply.header("etag", etag);
    if (clientHolds(request.headers["if-none-match"], etag)) return reply.code(304).send();
  }
  return reply.header("content-type", utf8(type)).send(text);
}

/** The reply to a read as a table, which browsers offer to save. */
export function sendTable(request: FastifyRequest, reply: FastifyReply, csv: string): FastifyReply {
  const { etag } = tagged(csv);
  reply.header("cache-control", "private, no-cache");
  if (etag !== undefined) {
    reply.header("etag", etag);
    if (clientHolds(request.headers["if-none-match"], etag)) return reply.code(304).send();
  }
  const name = request.url
    .replace(/(\.csv\/?)?(\?.*)?$/is, "")
    .replaceAll(/[^a-z0-9]+/gi, "-")
    .replace(/^-api-|^-|-$/g, "");
  return reply
    .headers({ "content-type": csvType, "content-disposition": `attachment; filename="${name}.csv"` })
    .send(csv);
}

const csvType = "text/csv; charset=utf-8; header=present";

/** `again` creates the answer after the wait, so that a waiting request holds no bytes. */
export interface Sending {
  readonly pending: PendingAnswers;
  /** Undefined: JSON. */
  readonly type?: string | undefined;
  again(): Encoded | undefined;
}

/** A reply as bytes, written in pieces; large replies wait until there is room. */
export function sendEncoded(
  request: FastifyRequest,
  reply: FastifyReply,
  encoded: Encoded,
  { pending, type = json, again }: Sending,
): FastifyReply | Promise<FastifyReply> {
  if (clientHolds(request.headers["if-none-match"], weak(encoded.etag)) || request.method === "HEAD")
    return sendHead(request, reply, encoded, type);
  const isSmall = encoded.length <= groupSize;
  if (isSmall && isCompressible(request))
    return reply.headers(headersOf(encoded, type)).send(Buffer.concat(encoded.chunks, encoded.length));
  const bytes = encoded.length + (isCompressible(request) ? compressor : 0);
  if (pending.enter(request, reply, bytes)) return sendBytes(request, reply, encoded, type);
  return pending.turn(request, reply, bytes).then((isHere) => {
    const now = isHere ? again() : undefined;
    return now === undefined ? reply.hijack() : sendBytes(request, reply, now, type);
  });
}

const isCompressible = ({ headers }: FastifyRequest): boolean => headers["accept-encoding"] !== undefined;

const headersOf = ({ etag }: Encoded, type: string) => ({
  etag: weak(etag),
  "cache-control": "private, no-cache",
  "content-type": utf8(type),
});

function sendHead(request: FastifyRequest, reply: FastifyReply, encoded: Encoded, type: string): FastifyReply {
  reply.headers(headersOf(encoded, type));
  if (clientHolds(request.headers["if-none-match"], weak(encoded.etag)))
    return reply.removeHeader("content-type").code(304).send();
  // The length of a compressed body is unknown in advance.
  if (!isCompressible(request)) reply.header("content-length", encoded.length);
  return reply.send();
}

async function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  encoded: Encoded,
  type: string,
): Promise<FastifyReply> {
  reply.headers({ ...headersOf(encoded, type), "content-length": encoded.length });
  const compression = compressorFor(request);
  if (compression !== null) {
    const { encoding, compressor } = compression;
    void pour(encoded, compressor);
    return reply.removeHeader("content-length").header("content-encoding", encoding).send(compressor);
  }
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  await pour(encoded, reply.raw);
  return reply;
}

/**
 * Counts an answer built in one piece as pending, and sends a long one in pieces, so that a stalled reader is noticed.
 * Streams are counted where they are created.
 */
export function countAnswers(app: FastifyInstance, pending: PendingAnswers): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if ((typeof payload !== "string" && !Buffer.isBuffer(payload)) || request.method === "HEAD") return done();
    const length = Buffer.byteLength(payload);
    const isLong = length > groupSize;
    const refusal = pending.hold(request, reply, length + (isLong && isCompressible(request) ? compressor : 0));
    if (refusal !== undefined) return done(refusal);
    if (!isLong) return done();
    reply.header("content-length", length);
    return done(null, streamOf([Buffer.from(payload)]));
  });
}

/** The reply to a write. */
export const sendDone = (reply: FastifyReply, status: number, value: unknown): FastifyReply =>
  reply
    .code(status)
    .headers({ "content-type": utf8(json), "cache-control": "no-store" })
    .send(JSON.stringify(value));
