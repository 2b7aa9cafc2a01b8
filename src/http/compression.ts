import type { Transform } from "node:stream";
import zlib from "node:zlib";
import negotiate from "@fastify/accept-negotiator";
import type { FastifyRequest } from "fastify";

/** Quick rather than small: most answers are made for one request. */
export const quickCompression = {
  zlibOptions: { level: 3 },
  brotliOptions: { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } },
};

const { zlibOptions, brotliOptions } = quickCompression;
/** By encoding, best first. Node has zstd since 22.15. */
const compressors = {
  ...(typeof zlib.createZstdCompress === "function" && { zstd: () => zlib.createZstdCompress() }),
  br: () => zlib.createBrotliCompress(brotliOptions),
  gzip: () => zlib.createGzip(zlibOptions),
  deflate: () => zlib.createDeflate(zlibOptions),
};
type Encoding = keyof typeof compressors;
const encodings = Object.keys(compressors).filter((name): name is Encoding => Object.hasOwn(compressors, name));

/** The best of these encodings that a client takes; null if it takes none, or prefers the bytes as they are. */
export function encodingFor<T extends string>({ headers }: FastifyRequest, among: readonly T[]): T | null {
  const accepted = headers["accept-encoding"];
  const best = accepted === undefined ? null : negotiate(accepted.toLowerCase(), [...among, "identity"]);
  return among.find((encoding) => encoding === best) ?? null;
}

/** A stream that compresses an answer, with its encoding; null if the client takes none. */
export function compressorFor(request: FastifyRequest): { encoding: Encoding; compressor: Transform } | null {
  const encoding = encodingFor(request, encodings);
  const compressor = encoding === null ? undefined : compressors[encoding]?.();
  return encoding === null || compressor === undefined ? null : { encoding, compressor };
}
