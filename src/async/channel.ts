// Beside index.ts, because browsers have no node:stream.
import { Duplex } from "node:stream";

/** Carries the bytes of a channel. */
export interface ChannelLine {
  send(bytes: Buffer): void;
  /** Called once when this side, not the other one, closes the channel; `isAnswered`: after the other side sent something. */
  close(isAnswered: boolean): void;
  /** The bytes that each side may send before the other one has read them; absent: any number. */
  readonly window?: ChannelWindow;
}

export interface ChannelWindow {
  readonly bytes: number;
  /** Lets the other side send this many bytes more. */
  give(bytes: number): void;
}

/** Bytes of the longest part that is sent at once, so that the channels of a connection take turns. */
const partBytes = 65_536;

/**
 * A connection through another one, such as to the API of a program through the agent of its host. Emits "connect" as a
 * socket does, and has what Node's HTTP needs of a socket.
 */
export class Channel extends Duplex {
  readonly #line: ChannelLine;
  #isEnded = false;
  #isAnswered = false;
  /** Bytes that may be sent now. */
  #credit: number;
  /** What waits for credit, and whom to call when it has been sent. */
  #rest: Buffer = Buffer.alloc(0);
  #sent: (() => void) | null = null;
  #sentBytes = 0;
  /** Bytes that have come and are not given back to the other side. */
  #owed = 0;

  constructor(line: ChannelLine) {
    super({ allowHalfOpen: false });
    this.#line = line;
    this.#credit = line.window?.bytes ?? Number.POSITIVE_INFINITY;
    // The other side keeps what arrives before it has connected.
    process.nextTick(() => {
      if (!this.destroyed) this.emit("connect");
    });
  }

  /** As of a socket: sent, and waiting to be sent. */
  get bytesWritten(): number {
    return this.#sentBytes + this.writableLength;
  }

  /** Bytes of the other side; false if they are more than its window. */
  receive(bytes: Uint8Array): boolean {
    this.#isAnswered = true;
    if (this.#isEnded || this.destroyed) return true;
    this.#owed += bytes.length;
    if (this.#owed > (this.#line.window?.bytes ?? Number.POSITIVE_INFINITY)) return false;
    if (this.push(bytes)) this.#give();
    return true;
  }

  /** The other side has read this many bytes. */
  credit(bytes: number): void {
    this.#credit += bytes;
    this.#flush();
  }

  /** The other side has closed it, with an error such as ECONNREFUSED if it could not be opened or broke off. */
  ended(error?: string): void {
    if (this.#isEnded || this.destroyed) return;
    this.#isEnded = true;
    this.#flush();
    if (error === undefined) this.push(null);
    else this.destroy(Object.assign(new Error(error), { code: /^E[A-Z]+$/.test(error) ? error : "EPIPE" }));
  }

  /** Sends what waits, and closes the channel. */
  destroySoon(): void {
    this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  /** Requests have deadlines of their own. */
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {
    this.#give();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#rest = bytes;
    this.#sent = done;
    this.#flush();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#line.close(this.#isAnswered);
    }
    done(error);
  }

  /** Sends what the credit allows; bytes for a channel that has ended are dropped. */
  #flush(): void {
    while (this.#rest.length > 0 && this.#credit > 0 && !this.#isEnded) {
      const part = this.#rest.subarray(0, Math.min(this.#credit, partBytes));
      this.#rest = this.#rest.subarray(part.length);
      this.#credit -= part.length;
      this.#sentBytes += part.length;
      this.#line.send(part);
    }
    if (this.#rest.length > 0 && !this.#isEnded) return;
    const sent = this.#sent;
    this.#sent = null;
    sent?.();
  }

  /** In quarters of the window, so that a short request needs no message for it. */
  #give(): void {
    const { window } = this.#line;
    if (window === undefined) this.#owed = 0;
    if (window === undefined || this.#owed < window.bytes / 4 || this.#isEnded) return;
    const owed = this.#owed;
    this.#owed = 0;
    window.give(owed);
  }
}

/** Used when there is no connection. */
export function closedChannel(error = "ECONNRESET"): Channel {
  const channel = new Channel({ send: () => undefined, close: () => undefined });
  channel.ended(error);
  return channel;
}
