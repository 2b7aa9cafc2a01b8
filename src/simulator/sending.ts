import type { Socket } from "node:net";

/** Faulty ways of sending a reply. */

export function sendAndReset(socket: Socket, bytes: Buffer): void {
  socket.write(bytes.subarray(0, bytes.length / 2), () => socket.resetAndDestroy());
}

/** In two segments, the first ending in the middle of a character. */
export function sendSplit(socket: Socket, bytes: Buffer): void {
  const middle = bytes.indexOf(0xc3) + 1;
  socket.setNoDelay();
  socket.write(bytes.subarray(0, middle), () => setTimeout(() => socket.end(bytes.subarray(middle)), 20));
}

/** Endless "100 Continue" without an answer. */
export function sendContinue(socket: Socket): void {
  const timer = setInterval(() => socket.write("HTTP/1.1 100 Continue\r\n\r\n"), 10);
  socket.once("close", () => clearInterval(timer));
}

export function sendSlowly(socket: Socket, bytes: Buffer, ms: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(bytes.subarray(sent, sent + 1));
    sent += 1;
    if (sent >= bytes.length) socket.end();
  }, ms);
  socket.once("close", () => clearInterval(timer));
  socket.once("finish", () => clearInterval(timer));
}

export function sendLate(socket: Socket, bytes: Buffer, ms: number): void {
  const timer = setTimeout(() => socket.end(bytes), ms);
  socket.once("close", () => clearTimeout(timer));
}

const padding = Buffer.alloc(65_536, "x");

/** The beginning of a reply, then padding for as long as it is read. */
export const sendEndless = (socket: Socket, bytes: Buffer): void =>
  sendForEver(socket, bytes.subarray(0, bytes.length / 2), padding);

function sendForEver(socket: Socket, start: string | Buffer, more: string | Buffer): void {
  const write = (error?: Error | null): void => {
    if (!error) socket.write(more, write);
  };
  socket.write(start, write);
}

/** Instead of any answer, also over plain TCP. */
export const sendEndlessHead = (socket: Socket): void =>
  sendForEver(socket, "HTTP/1.1 200 OK\r\n", `X-More: ${"x".repeat(1000)}\r\n`);

/** Instead of any answer, also over plain TCP: chunks of 1,000 bytes. */
export const sendEndlessChunks = (socket: Socket): void =>
  sendForEver(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", `3e8\r\n${"x".repeat(1000)}\r\n`);

const vastOpening = '"padding":"';
const vastEnding = '",';
const vastPadding = 100_000_000;

/** The bytes that `sendVast` adds to a reply. */
export const vastLength = vastOpening.length + vastPadding + vastEnding.length;

/** 100 MB in the first object of the reply, made while it is read; the JSON stays valid. */
export function sendVast(socket: Socket, bytes: Buffer): void {
  const start = bytes.indexOf("{") + 1;
  let left = vastPadding;
  const write = (error?: Error | null): void => {
    if (error) return;
    const length = Math.min(left, padding.length);
    left -= length;
    if (length > 0) socket.write(padding.subarray(0, length), write);
    else socket.end(Buffer.concat([Buffer.from(vastEnding), bytes.subarray(start)]));
  };
  socket.write(Buffer.concat([bytes.subarray(0, start), Buffer.from(vastOpening)]), write);
}
