import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { encodingFor } from "./compression.ts";
import { streamOf } from "./encoded.ts";
import { clientHolds } from "./etag.ts";

const compressors = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const;
type Encoding = keyof typeof compressors;
const encodings: readonly Encoding[] = ["br", "gzip"];

/** Bytes; shorter answers are not compressed. */
const worthwhile = 1024;

/** Types that are already compressed. */
const packed = /^(?:image\/(?!svg)|font\/)/;

/**
 * An answer that never changes: its bytes are kept once, and once more per requested encoding. All pending answers
 * share them, so none of these counts as separate memory.
 */
export class StaticAnswer {
  readonly #status: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bytes: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();

  /** `compressed`: precomputed bytes by encoding. */
  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    bytes: Buffer,
    compressed: Readonly<Partial<Record<Encoding, Buffer | undefined>>> = {},
  ) {
    this.#status = status;
    this.#headers = headers;
    this.#bytes = bytes;
    for (const encoding of encodings) {
      const known = compressed[encoding];
      if (known !== undefined) this.#compressed.set(encoding, Promise.resolve(known));
    }
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { etag } = this.#headers;
    reply.headers({ "cache-control": "no-cache", ...this.#headers });
    if (etag !== undefined && clientHolds(request.headers["if-none-match"], etag)) return reply.code(304).send();
    const encoding = this.#encodingFor(request);
    if (encoding !== null) reply.header("content-encoding", encoding);
    const bytes = encoding === null ? this.#bytes : await this.#in(encoding);
    reply.code(this.#status).header("content-length", bytes.length);
    return request.method === "HEAD" ? reply.send() : reply.send(streamOf([bytes]));
  }

  #encodingFor(request: FastifyRequest): Encoding | null {
    const isPacked = packed.test(this.#headers["content-type"] ?? "");
    return this.#bytes.length < worthwhile || isPacked ? null : encodingFor(request, encodings);
  }

  #in(encoding: Encoding): Promise<Buffer> {
    const known = this.#compressed.get(encoding);
    if (known !== undefined) return known;
    const made = compressors[encoding](this.#bytes);
    this.#compressed.set(encoding, made);
    return made;
  }
}
