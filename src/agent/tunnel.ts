import { connect, type Socket } from "node:net";

/** Sends messages and bytes to the service. */
export interface TunnelLink {
  sendFrame(channel: number, bytes: Buffer): void;
  /** `error`: a system error code, such as ECONNREFUSED; null if the program closed the connection. */
  closed(channel: number, error: string | null): void;
  /** Bytes waiting to be sent. */
  readonly waiting: number;
}

export interface TunnelLimits {
  readonly connections: number;
  readonly connectMs: number;
  readonly idleMs: number;
  /** Maximum bytes waiting in either direction. */
  readonly waiting: number;
}

export const tunnelLimits: TunnelLimits = { connections: 200, connectMs: 5_000, idleMs: 60_000, waiting: 4_000_000 };

const chunkBytes = 65_536;
const loopback = "127.0.0.1";

/** The host's end of connections to the APIs of its programs. It connects only to the API ports of running programs. */
export class Tunnel {
  readonly #portOf: (program: number) => number | null;
  readonly #link: TunnelLink;
  readonly #limits: TunnelLimits;
  readonly #sockets = new Map<number, Socket>();

  constructor(portOf: (program: number) => number | null, link: TunnelLink, limits: TunnelLimits = tunnelLimits) {
    this.#portOf = portOf;
    this.#link = link;
    this.#limits = limits;
  }

  open(channel: number, program: number): void {
    const port = this.#portOf(program);
    if (port === null || this.#sockets.has(channel) || this.#sockets.size >= this.#limits.connections) {
      this.#link.closed(channel, "ECONNREFUSED");
      return;
    }
    const socket = connect({ host: loopback, port, timeout: this.#limits.connectMs });
    this.#sockets.set(channel, socket);
    let error: string | null = null;
    socket
      .once("connect", () => socket.setTimeout(this.#limits.idleMs))
      .on("data", (bytes) => this.#send(channel, bytes))
      .on("timeout", () => socket.destroy(failure("ETIMEDOUT")))
      .on("error", (cause) => {
        error = "code" in cause ? String(cause.code) : "EPIPE";
      })
      .on("close", () => {
        if (this.#sockets.get(channel) !== socket) return;
        this.#sockets.delete(channel);
        this.#link.closed(channel, error);
      });
  }

  /** Bytes from the service; those for a closed channel are dropped. */
  write(channel: number, bytes: Buffer): void {
    const socket = this.#sockets.get(channel);
    if (socket === undefined) return;
    socket.write(bytes);
    if (socket.writableLength > this.#limits.waiting) socket.destroy(failure("EPIPE"));
  }

  close(channel: number): void {
    const socket = this.#sockets.get(channel);
    this.#sockets.delete(channel);
    socket?.destroy();
  }

  closeAll(): void {
    for (const channel of [...this.#sockets.keys()]) this.close(channel);
  }

  #send(channel: number, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += chunkBytes)
      this.#link.sendFrame(channel, bytes.subarray(at, at + chunkBytes));
    // Answers of programs are short. A program that floods a slow connection is disconnected instead of buffered.
    if (this.#link.waiting > this.#limits.waiting) this.#sockets.get(channel)?.destroy(failure("EPIPE"));
  }
}

const failure = (code: string): Error => Object.assign(new Error(code), { code });
