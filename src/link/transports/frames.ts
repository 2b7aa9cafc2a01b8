import { hostAndPort } from "../address.ts";
import type { Pace } from "../pace.ts";
import { Exchange, OpenExchanges } from "./exchange.ts";
import { garbled, isReset, limits, socketError, tooLarge } from "./limits.ts";
import { type DeviceReply, replyOf } from "./rpc.ts";

/** The API v3 of WhatsMiner over TCP: JSON both ways, each after its length in four bytes, little-endian. */
export interface FrameTransport {
  /** host:port, for messages. */
  readonly at: string;
  /**
   * Sends one request on its own connection, never twice. The signal is the total deadline. Throws `rig.unreachable`,
   * `rig.timeout` or `rig.garbled`; the caller checks the content of the answer.
   */
  ask(request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<DeviceReply>;
  /** Cancels open exchanges. */
  close(): void;
}

export function frameTransport(host: string, port: number, pace?: Pace): FrameTransport {
  const target = { host, port, at: hostAndPort(host, port) };
  const open = new OpenExchanges(pace);
  return {
    at: target.at,
    ask: (request, signal) => {
      const frame = framed(JSON.stringify(request));
      return new Promise((resolve, reject) => new FrameExchange(target, frame, signal, open, { resolve, reject }));
    },
    close: () => open.close(),
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

class FrameExchange extends Exchange<DeviceReply> {
  readonly #incoming = new Incoming();

  protected take(chunk: Buffer): void {
    const payload = this.#incoming.take(Buffer.from(chunk));
    if (payload === "too large") this.fail(tooLarge(this.at));
    else if (payload !== null) this.#finish(payload);
  }

  protected ended(error: NodeJS.ErrnoException | null): void {
    if (error === null) this.fail(garbled(this.at, `closed without a whole answer (${this.bytes} bytes received)`));
    else this.fail(isReset(error) ? garbled(this.at, "closed without a whole answer") : socketError(this.at, error));
  }

  #finish(payload: Buffer): void {
    try {
      this.succeed(replyOf(this.at, payload));
    } catch (error) {
      this.fail(error);
    }
  }
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
