import { connect, type Socket } from "node:net";
import { hostAndPort } from "../address.ts";
import { connectTimeout, cutShort, garbled, limits, socketError, tooLarge } from "./limits.ts";
import { rigLookup } from "./lookup.ts";
import { type DeviceReply, replyOf } from "./rpc.ts";

/** The API v3 of WhatsMiner over TCP: JSON both ways, each behind its length in four bytes, the lowest first. */
export interface FrameTransport {
  /** host:port, for messages. */
  readonly at: string;
  /**
   * Sends one request on a connection of its own, never twice. The signal is the total deadline.
   * Throws `rig.unreachable`, `rig.timeout` or `rig.garbled`; what the answer says is the caller's to judge.
   */
  ask(request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<DeviceReply>;
  /** Cuts what is open. */
  close(): void;
}

export function frameTransport(host: string, port: number): FrameTransport {
  const at = hostAndPort(host, port);
  const closing = new AbortController();
  return {
    at,
    ask: (request, signal) => {
      const either = AbortSignal.any([signal, closing.signal]);
      if (either.aborted) return Promise.reject(cutShort(at, either, 0));
      const socket = connect({ host, port, noDelay: true, lookup: rigLookup });
      return exchange(socket, at, framed(JSON.stringify(request)), either).finally(() => socket.destroy());
    },
    close: () => closing.abort(),
  };
}

const headLength = 4;

/** A text behind its length in bytes. */
export function framed(text: string): Buffer {
  const frame = Buffer.alloc(headLength + Buffer.byteLength(text));
  frame.writeUInt32LE(frame.length - headLength);
  frame.write(text, headLength);
  return frame;
}

async function exchange(socket: Socket, at: string, frame: Buffer, signal: AbortSignal): Promise<DeviceReply> {
  const payload = await new Promise<Buffer>((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const cut = (): void => reject(cutShort(at, signal, received.length));
    signal.addEventListener("abort", cut);
    const timer = setTimeout(() => reject(connectTimeout(at)), limits.connect);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.write(frame);
    });
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const taken = takePayload(received);
      if (taken === "too large") reject(tooLarge(at));
      else if (taken !== null) resolve(taken);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const answers = error.code === "ECONNRESET" || error.code === "EPIPE";
      reject(answers ? garbled(at, "closed without a whole answer") : socketError(at, error));
    });
    socket.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cut);
      reject(garbled(at, `closed without a whole answer (${received.length} bytes had come)`));
    });
  });
  return replyOf(at, payload);
}

/** The first payload; null while more has to come. Empty frames are heartbeats. */
function takePayload(received: Buffer): Buffer | "too large" | null {
  let start = 0;
  while (received.length >= start + headLength) {
    const length = received.readUInt32LE(start);
    if (length > limits.replyBytes) return "too large";
    const end = start + headLength + length;
    if (length > 0) return received.length < end ? null : received.subarray(start + headLength, end);
    start = end;
    // Nobody sends more heartbeats than a few before an answer.
    if (start > limits.replyBytes) return "too large";
  }
  return null;
}
