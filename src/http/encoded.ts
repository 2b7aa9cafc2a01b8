import { Readable, type Writable } from "node:stream";
import type { Encoded } from "../contract/service.ts";

/** Small chunks up to this many bytes are written together: 10,000 miners must not take 10,000 writes. */
export const groupSize = 65_536;

const largeSlab = 4 * groupSize;
/** A spare buffer: after some hundred large answers with a new one each, V8 would collect all garbage. */
let spareSlab: Buffer | null = null;

function takeLargeSlab(): Buffer {
  const slab = spareSlab ?? Buffer.allocUnsafeSlow(largeSlab);
  spareSlab = null;
  return slab;
}

/**
 * Writes bytes through one buffer, which is refilled once it has been taken; small answers take one write. Waits for slow
 * readers, and yields to other requests between two writes.
 */
export async function pour({ chunks, length }: Encoded, to: Writable): Promise<void> {
  if (length <= groupSize) {
    to.end(Buffer.concat(chunks, length));
    return;
  }
  const slab = length > 16 * groupSize ? takeLargeSlab() : Buffer.allocUnsafeSlow(groupSize);
  let taken = (): void => {};
  to.once("close", () => taken());
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve) => {
      taken = resolve;
      to.write(bytes, () => setImmediate(resolve));
    });
  let filled = 0;
  for (const chunk of chunks) {
    if (filled > 0 && filled + chunk.length > slab.length) {
      await write(slab.subarray(0, filled));
      filled = 0;
      if (to.destroyed) return;
    }
    if (chunk.length > slab.length) for (const piece of pieces(chunk, slab.length)) await write(piece);
    else {
      slab.set(chunk, filled);
      filled += chunk.length;
    }
  }
  to.end(slab.subarray(0, filled), () => {
    if (slab.length === largeSlab) spareSlab = slab;
  });
}

/** Bytes in pieces, without copying, so that progress of a slow reader is visible. */
export const pieces = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );

/** Bytes as a stream, which waits for compression and slow readers, and yields to other requests between two groups. */
export function streamOf(given: readonly Uint8Array[]): Readable {
  const chunks = given.some(({ length }) => length > groupSize)
    ? given.flatMap((chunk) => pieces(chunk, groupSize))
    : given;
  let at = 0;
  const next = (): Uint8Array | null => {
    const start = at;
    let length = 0;
    while (at < chunks.length && (length === 0 || length + (chunks[at]?.length ?? 0) <= groupSize)) {
      length += chunks[at]?.length ?? 0;
      at += 1;
    }
    return length > 0 ? grouped(chunks, start, at, length) : null;
  };
  return new Readable({
    highWaterMark: groupSize,
    read() {
      if (at === 0) this.push(next());
      else setImmediate(() => this.push(next()));
    },
  });
}

function grouped(chunks: readonly Uint8Array[], start: number, end: number, length: number): Uint8Array {
  const only = end - start === 1 ? chunks[start] : undefined;
  return only ?? Buffer.concat(chunks.slice(start, end), length);
}
