import { Duplex } from "node:stream";

/** Carries the bytes of a channel. */
export interface ChannelLine {
  send(bytes: Buffer): void;
  /** Called once when this side, not the other one, closes the channel; `isAnswered`: after the program sent something. */
  close(isAnswered: boolean): void;
}

/** A connection to the API of a program, through the agent of its host. Emits "connect" as a socket does. */
export class Channel extends Duplex {
  readonly #line: ChannelLine;
  #isEnded = false;
  #isAnswered = false;

  constructor(line: ChannelLine) {
    super({ allowHalfOpen: false });
    this.#line = line;
    // The agent keeps what arrives before it has connected.
    process.nextTick(() => {
      if (!this.destroyed) this.emit("connect");
    });
  }

  receive(bytes: Uint8Array): void {
    this.#isAnswered = true;
    if (!this.#isEnded && !this.destroyed) this.push(bytes);
  }

  /** The other side has closed it, with an error such as ECONNREFUSED if it could not be opened or broke off. */
  ended(error?: string): void {
    if (this.#isEnded || this.destroyed) return;
    this.#isEnded = true;
    if (error === undefined) this.push(null);
    else this.destroy(Object.assign(new Error(error), { code: /^E[A-Z]+$/.test(error) ? error : "EPIPE" }));
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.#isEnded) this.#line.send(bytes);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#line.close(this.#isAnswered);
    }
    done(error);
  }
}

/** Used when no agent is connected. */
export function closedChannel(): Channel {
  const channel = new Channel({ send: () => undefined, close: () => undefined });
  channel.ended("ECONNRESET");
  return channel;
}
