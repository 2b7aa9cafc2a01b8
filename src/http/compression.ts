import type { Transform } from "node:stream";
import zlib from "node:zlib";
import negotiate from "@fastify/accept-negotiator";
import type { FastifyRequest } from "fastify";

const zlibOptions = { level: 3 };
/** Brotli's usual quality costs three times as much as gzip and saves little on a list of miners. */
const brotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };
/** Quick rather than small: most answers are made for one request. */
export const quickCompression = { zlibOptions, brotliOptions };

/** By encoding, best first. */
const compressors = new Map<string, () => Transform>([
  ["zstd", () => zlib.createZstdCompress()],
  ["br", () => zlib.createBrotliCompress(brotliOptions)],
  ["gzip", () => zlib.createGzip(zlibOptions)],
  ["deflate", () => zlib.createDeflate(zlibOptions)],
]);
// Absent before Node 22.15.
if (typeof zlib.createZstdCompress !== "function") compressors.delete("zstd");

/** The best of these encodings that a client accepts; null if it accepts none, or prefers the bytes as they are. */
export function encodingFor<T extends string>({ headers }: FastifyRequest, among: readonly T[]): T | null {
  const accepted = headers["accept-encoding"];
  const best = accepted === undefined ? null : negotiate(accepted.toLowerCase(), [...among, "identity"]);
  return among.find((encoding) => encoding === best) ?? null;
}

/** A stream that compresses an answer, with its encoding; null if the client accepts none. */
export function compressorFor(
  request: FastifyRequest,
): { readonly encoding: string; readonly compressor: Transform } | null {
  const encoding = encodingFor(request, [...compressors.keys()]);
  const create = encoding === null ? undefined : compressors.get(encoding);
  return encoding === null || create === undefined ? null : { encoding, compressor: create() };
}
