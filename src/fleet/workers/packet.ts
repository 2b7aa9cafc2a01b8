import type { RigState } from "../state.ts";
import { figuresOfOne, writeFigures } from "./remote-state.ts";

/** A read of a batch. */
export interface PackedRead {
  readonly rig: number;
  /** More than the time has changed. */
  readonly changed: boolean;
  /** As in `changedKeys`. */
  readonly keys: number;
  readonly hasShape: boolean;
  readonly state: RigState;
  /** Its reading as JSON; null if it equals the last one sent, except for the time. */
  readonly body: string | null;
}

const changedFlag = 1;
const readingFlag = 2;
const bodyFlag = 4;
const shapeFlag = 8;
/** Bytes of one read beside its body: figures; rig, keys and end of the body; flags. */
const bytesOfOne = 8 * figuresOfOne + 3 * 4 + 1;

/**
 * A batch of reads as one block of memory, transferred without copying: column after column, with the bodies at the
 * end.
 */
export function pack(reads: readonly PackedRead[]): ArrayBuffer {
  const count = reads.length;
  const lengths = reads.map(({ body }) => (body === null ? 0 : Buffer.byteLength(body)));
  const packet = new ArrayBuffer(count * bytesOfOne + lengths.reduce((sum, length) => sum + length, 0));
  const { figures, rigs, keys, ends, flags, bodies } = columnsOf(packet, count);
  const bytes = Buffer.from(bodies.buffer, bodies.byteOffset, bodies.length);
  let end = 0;
  for (const [index, { rig, state, body, ...read }] of reads.entries()) {
    writeFigures(state, figures, index * figuresOfOne);
    rigs[index] = rig;
    keys[index] = read.keys;
    flags[index] =
      (read.changed ? changedFlag : 0) |
      (state.reading === null ? 0 : readingFlag) |
      (body === null ? 0 : bodyFlag) |
      (read.hasShape ? shapeFlag : 0);
    if (body !== null) bytes.write(body, end);
    end += lengths[index] ?? 0;
    ends[index] = end;
  }
  return packet;
}

/** A read unpacked by the main thread. */
export interface UnpackedRead {
  readonly rig: number;
  readonly changed: boolean;
  readonly keys: number;
  readonly hasShape: boolean;
  readonly hasReading: boolean;
  /** A view of the packet. */
  readonly body: Uint8Array | null;
  readonly figures: Float64Array;
  readonly offset: number;
}

export function* unpack(packet: ArrayBuffer, count: number): Iterable<UnpackedRead> {
  const { figures, rigs, keys, ends, flags, bodies } = columnsOf(packet, count);
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const flag = flags[index] ?? 0;
    const end = ends[index] ?? start;
    yield {
      rig: rigs[index] ?? 0,
      changed: (flag & changedFlag) !== 0,
      keys: keys[index] ?? 0,
      hasShape: (flag & shapeFlag) !== 0,
      hasReading: (flag & readingFlag) !== 0,
      body: (flag & bodyFlag) === 0 ? null : bodies.subarray(start, end),
      figures,
      offset: index * figuresOfOne,
    };
    start = end;
  }
}

function columnsOf(packet: ArrayBuffer, count: number) {
  const rigsAt = 8 * figuresOfOne * count;
  const flagsAt = rigsAt + 3 * 4 * count;
  return {
    figures: new Float64Array(packet, 0, figuresOfOne * count),
    rigs: new Uint32Array(packet, rigsAt, count),
    keys: new Uint32Array(packet, rigsAt + 4 * count, count),
    ends: new Uint32Array(packet, rigsAt + 8 * count, count),
    flags: new Uint8Array(packet, flagsAt, count),
    bodies: new Uint8Array(packet, flagsAt + count),
  };
}
