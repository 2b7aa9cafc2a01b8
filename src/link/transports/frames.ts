import { connect, type Socket } from "node:net";
import { hostAndPort } from "../address.ts";
import { rigLookup } from "../forbidden-addresses.ts";
import { connectTimeout, cutShort, garbled, limits, socketError, tooLarge } from "./limits.ts";
import { type DeviceReply, replyOf } from "./rpc.ts";

/** The API v3 of WhatsMiner over TCP: JSON both ways, each after its length in four bytes, little-endian. */
export interface FrameTransport {
  /** host:port, for messages. */
  readonly at: string;
  /**
   * Sends one request on a connection of its own, never twice. The signal is the total deadline.
   * Throws `rig.unreachable`, `rig.timeout` or `rig.garbled`; the caller checks what the answer says.
   */
  ask(request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<DeviceReply>;
  /** Cancels open exchanges. */
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

/** A text after its length in bytes. */
export function framed(text: string): Buffer {
  const frame = Buffer.alloc(headLength + Buffer.byteLength(text));
  frame.writeUInt32LE(frame.length - headLength);
  frame.write(text, headLength);
  return frame;
}

async function exchange(socket: Socket, at: string, frame: Buffer, signal: AbortSignal): Promise<DeviceReply> {
  const payload = await new Promise<Buffer>((resolve, reject) => {
    const incoming = new Incoming();
    const cut = (): void => reject(cutShort(at, signal, incoming.bytes));
    signal.addEventListener("abort", cut);
    const timer = setTimeout(() => reject(connectTimeout(at)), limits.connect);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.write(frame);
    });
    socket.on("data", (chunk) => {
      const taken = incoming.take(chunk);
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
      reject(garbled(at, `closed without a whole answer (${incoming.bytes} bytes received)`));
    });
  });
  return replyOf(at, payload);
}

/** Collects received bytes until the first payload is complete. Empty frames before it are heartbeats. */
class Incoming {
  /** Received in total. */
  bytes = 0;
  #parts: Buffer[] = [];
  #length = 0;
  /** Bytes needed before the next attempt, so that a slow reply is not copied with each chunk. */
  #wanted = headLength;

  /** The first payload; null while it is incomplete. */
  take(chunk: Buffer): Buffer | "too large" | null {
    this.bytes += chunk.length;
    this.#parts.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#wanted) return null;
    const received = Buffer.concat(this.#parts);
    let start = 0;
    let length = 0;
    while (length === 0 && received.length >= start + headLength) {
      length = received.readUInt32LE(start);
      start += headLength;
    }
    // Heartbeats count too: devices send only a few before an answer.
    if (length > limits.replyBytes || this.bytes - received.length + start > limits.replyBytes) return "too large";
    if (length > 0 && received.length >= start + length) return received.subarray(start, start + length);
    const rest = received.subarray(length > 0 ? start - headLength : start);
    this.#parts = [rest];
    this.#length = rest.length;
    this.#wanted = headLength + length;
    return null;
  }
}
