import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { RigbridgeError } from "../contract/problems.ts";

/** Small chunks are written together up to this size: 10,000 miners are not 10,000 writes. */
const groupSize = 65_536;

/**
 * Writes ready-made bytes through one buffer that is filled again as soon as the socket has taken it: nothing is
 * allocated for each answer but that, and a slow reader is waited for.
 */
export async function pour(chunks: readonly Uint8Array[], response: ServerResponse): Promise<void> {
  const slab = Buffer.allocUnsafeSlow(4 * groupSize);
  let taken = (): void => {};
  response.once("close", () => taken());
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve) => {
      taken = resolve;
      response.write(bytes, () => resolve());
    });
  let filled = 0;
  for (const chunk of chunks) {
    if (filled > 0 && filled + chunk.length > slab.length) {
      await write(slab.subarray(0, filled));
      filled = 0;
      if (response.destroyed) return;
    }
    if (chunk.length > slab.length) await write(chunk);
    else {
      slab.set(chunk, filled);
      filled += chunk.length;
    }
  }
  response.end(slab.subarray(0, filled));
}

/** Ready-made bytes as a stream, for what compresses them. */
export function streamOf(chunks: readonly Uint8Array[]): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: groupSize,
    read() {
      const start = at;
      let length = 0;
      while (at < chunks.length && (length === 0 || length + (chunks[at]?.length ?? 0) <= groupSize)) {
        length += chunks[at]?.length ?? 0;
        at += 1;
      }
      if (length > 0) this.push(grouped(chunks, start, at, length));
      else this.push(null);
    },
  });
}

function grouped(chunks: readonly Uint8Array[], start: number, end: number, length: number): Uint8Array {
  const only = end - start === 1 ? chunks[start] : undefined;
  return only ?? Buffer.concat(chunks.slice(start, end), length);
}

/** Lets few big answers out at once; the others wait their turn. */
export interface Lanes {
  /** False when the client left while it waited. Throws `service.not-ready` when too many wait already. */
  enter(response: ServerResponse): Promise<boolean>;
}

export interface LaneLimits {
  readonly bigAnswersAtOnce: number;
  readonly bigAnswersWaiting: number;
  /** ms */
  readonly bigAnswerTimeout: number;
}

export function lanes(limits: LaneLimits): Lanes {
  let busy = 0;
  const waiting: (() => void)[] = [];

  const turn = (response: ServerResponse): Promise<boolean> => {
    if (busy < limits.bigAnswersAtOnce) return Promise.resolve(true);
    if (waiting.length >= limits.bigAnswersWaiting)
      throw new RigbridgeError("service.not-ready", "Too many big answers are under way; try again in a second");
    return new Promise((resolve) => {
      const called = () => {
        response.off("close", left);
        resolve(true);
      };
      const left = () => {
        waiting.splice(waiting.indexOf(called), 1);
        resolve(false);
      };
      waiting.push(called);
      response.once("close", left);
    });
  };
  return {
    enter: async (response) => {
      if (response.closed || !(await turn(response))) return false;
      busy += 1;
      const deadline = setTimeout(() => response.destroy(), limits.bigAnswerTimeout);
      response.once("close", () => {
        clearTimeout(deadline);
        busy -= 1;
        waiting.shift()?.();
      });
      return true;
    },
  };
}
