import type { Readable } from "node:stream";
import { noHead, type Reply } from "./reply.ts";

const headLength = 4;
const longest = 1_000_000;

/** Calls `answer` for every frame on the socket; empty frames are heartbeats. */
export function readFrames(socket: Readable, answer: (request: string) => void): void {
  let pending: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= headLength && !socket.destroyed) {
      const end = headLength + pending.readUInt32LE(0);
      if (end > longest) socket.destroy();
      if (pending.length < end) return;
      if (end > headLength) answer(pending.toString("utf8", headLength, end));
      pending = pending.subarray(end);
    }
  });
}

export const frameReply = (body: string): Reply => ({
  head: noHead,
  body,
  tail: "",
  times: 1,
  close: false,
  framed: true,
});
