import { connect, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { sendDeadline } from "../../async/send-deadline.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { rigLookup } from "../forbidden-addresses.ts";
import type { Pace } from "../pace.ts";
import { connectTimeout, cutShort, limits } from "./limits.ts";

export type Dial = () => Duplex;

/** Where an exchange goes. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly tls?: boolean;
  /** Opens the connection if it does not go over the network directly; it emits "connect" once it is open. */
  readonly dial?: Dial | undefined;
  /** host:port, for messages. */
  readonly at: string;
}

/** How the promise of an exchange settles. */
export interface Settle<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** The open exchanges of one transport; once it is closed, they and all later ones are cancelled. */
export class OpenExchanges {
  /** Records the rig's response times; null if not needed. */
  readonly pace: Pace | null;
  readonly #open: { cancel(): void }[] = [];
  #isClosed = false;

  constructor(pace: Pace | null = null) {
    this.pace = pace;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(exchange: { cancel(): void }): void {
    this.#open.push(exchange);
  }

  delete(exchange: { cancel(): void }): void {
    const index = this.#open.indexOf(exchange);
    if (index !== -1) this.#open.splice(index, 1);
  }

  close(): void {
    this.#isClosed = true;
    for (const exchange of [...this.#open]) exchange.cancel();
  }
}

/** Bytes that fit into any network's packet. */
const onePacket = 1_000;
const bufferBytes = 65_536;
/** Received bytes are used up before the next ones are read, so all connections share a buffer. Windows reads ahead. */
const sharedBuffer = process.platform === "win32" ? null : Buffer.allocUnsafeSlow(bufferBytes);

/**
 * One connection, one request, one reply; some have several, in turn. Finishes exactly once, with a reply or an error, and then has no socket and no
 * timer. The signal is the total deadline.
 */
export abstract class Exchange<T> {
  protected readonly at: string;
  /** Received so far. */
  protected bytes = 0;
  readonly #request: string | Buffer;
  readonly #signal: AbortSignal;
  readonly #open: OpenExchanges;
  readonly #settle: Settle<T>;
  readonly #sendDeadline = sendDeadline();
  readonly #socket: Duplex | null = null;
  #isConnected = false;
  #timer: NodeJS.Timeout | undefined;
  #afterTurn: NodeJS.Immediate | undefined;
  #isDone = false;

  constructor(target: Target, request: string | Buffer, signal: AbortSignal, open: OpenExchanges, settle: Settle<T>) {
    this.at = target.at;
    this.#request = request;
    this.#signal = signal;
    this.#open = open;
    this.#settle = settle;
    if (signal.aborted || open.isClosed) {
      this.cancel();
      return;
    }
    open.add(this);
    signal.addEventListener("abort", this.#cut);
    this.arm(limits.connect, () => this.fail(connectTimeout(this.at)));
    this.#socket = this.#dial(target);
    // Over TLS, what is written before the handshake is over waits in this process.
    const waits = target.tls === true && target.dial === undefined && this.#sendDeadline !== null;
    this.#socket.on(waits ? "secureConnect" : "connect", this.#connected);
    this.#socket.on("error", (error) => this.#end(error));
    this.#socket.on("close", () => this.#end(null));
  }

  /** Takes received bytes, which are overwritten when it returns. */
  protected abstract take(chunk: Buffer): void;

  /** The connection failed, or without an error the device has closed it. Finishes the exchange. */
  protected abstract ended(error: NodeJS.ErrnoException | null): void;

  /** Its transport is closed, or its time has run out. */
  cancel(): void {
    this.fail(cutShort(this.at, this.#open.isClosed ? null : this.#signal, this.bytes));
  }

  protected succeed(reply: T): void {
    if (this.#isDone) return;
    this.#stop();
    this.#open.pace?.answered();
    this.#settle.resolve(reply);
  }

  protected fail(error: unknown): void {
    if (this.#isDone) return;
    this.#stop();
    this.#settle.reject(error);
  }

  /** Sends another request over the same connection, after the answer to the previous one. */
  protected sendNext(request: string): void {
    if (!this.#isDone) this.#write(request);
  }

  /** The deadline may have passed while the connection was opened, or the process stood still. */
  #write(request: string | Buffer): void {
    if (this.#sendDeadline?.isOver === true) this.fail(mayNotSend(this.at));
    else this.#socket?.write(request);
  }

  /** Replaces the timer. If this process stood still, what has arrived meanwhile is taken before. */
  protected arm(ms: number, then: () => void): void {
    this.disarm();
    this.#timer = setTimeout(() => {
      this.#afterTurn = setImmediate(then);
    }, ms);
  }

  protected disarm(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#afterTurn);
  }

  #dial({ host, port, tls = false, dial }: Target): Duplex {
    if (dial !== undefined) return dial().on("data", this.#take);
    if (!tls) {
      const buffer = sharedBuffer ?? Buffer.allocUnsafeSlow(bufferBytes);
      // Nagle's algorithm delays only the end of a request that does not fit into one packet.
      const noDelay = this.#request.length > onePacket;
      return connect({ host, port, noDelay, lookup: rigLookup, onread: { buffer, callback: this.#read } });
    }
    // Rigs have self-signed certificates, which cannot be verified.
    const options = { host, port, lookup: rigLookup, rejectUnauthorized: false };
    const socket = connectTls(isIP(host) === 0 ? { ...options, servername: host } : options);
    socket.setNoDelay(true);
    socket.on("data", this.#take);
    return socket;
  }

  readonly #connected = (): void => {
    this.disarm();
    this.#isConnected = true;
    this.#write(this.#request);
  };

  readonly #read = (length: number, buffer: Uint8Array): boolean => {
    this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, length));
    return true;
  };

  readonly #take = (chunk: Buffer): void => {
    if (this.#isDone) return;
    this.bytes += chunk.length;
    this.take(chunk);
  };

  readonly #cut = (): void => {
    if (this.#isConnected) this.#open.pace?.cut();
    this.cancel();
  };

  #end(error: NodeJS.ErrnoException | null): void {
    if (!this.#isDone) this.ended(error);
  }

  /** Does not wait for the peer: some keep the connection open after their reply. */
  #stop(): void {
    this.#isDone = true;
    this.disarm();
    this.#signal.removeEventListener("abort", this.#cut);
    this.#open.delete(this);
    this.#socket?.destroy();
  }
}

/** Of a command that has several requests, some may have been sent. */
const mayNotSend = (at: string): RigbridgeError =>
  new RigbridgeError(
    "rig.unconfirmed",
    `${at} was not sent everything, because this service no longer has the lease of its store`,
  );
