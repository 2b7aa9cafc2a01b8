import { hostAndPort } from "../address.ts";
import type { Pace } from "../pace.ts";
import { type Dial, Exchange, OpenExchanges, type Settle, type Target } from "./exchange.ts";
import { decode, parseStrict } from "./json.ts";
import { garbled, isReset, limits, socketError, tooLarge } from "./limits.ts";
import { type DeviceReply, replyOf } from "./rpc.ts";

/** The APIs of mining programs over plain TCP: one JSON text per line, or a command that is answered by plain text. */
export interface LineTransport {
  /** host:port, for messages. */
  readonly at: string;
  /**
   * Sends requests over one connection, each after the answer to the previous one, and none twice. The signal is the total
   * deadline. Throws `rig.unreachable`, `rig.timeout` or `rig.garbled`; the caller checks the content of the answers.
   */
  ask(requests: readonly object[], signal: AbortSignal): Promise<DeviceReply[]>;
  /** The same with a single command in plain text, such as `summary` or `switchpool|1`. */
  text(command: string, signal: AbortSignal): Promise<string>;
  /** Cancels open exchanges. */
  close(): void;
}

export function lineTransport(host: string, port: number, dial?: Dial, pace?: Pace): LineTransport {
  const target = { host, port, dial, at: hostAndPort(host, port) };
  const open = new OpenExchanges(pace);
  return {
    at: target.at,
    ask: (requests, signal) => askLines(target, requests, signal, open),
    text: (command, signal) => askText(target, command, signal, open),
    close: () => open.close(),
  };
}

/** The request of a method, as ethminer requires it: with a version and a non-empty id. */
export const lineRequest = (method: string, more: object = {}): object => ({ id: 1, jsonrpc: "2.0", method, ...more });

/** One connection with these requests in turn. */
export const askLines = (
  target: Target,
  requests: readonly object[],
  signal: AbortSignal,
  open = new OpenExchanges(),
): Promise<DeviceReply[]> =>
  new Promise((resolve, reject) => {
    const lines = requests.map((request) => `${JSON.stringify(request)}\n`);
    new LineExchange(target, lines, signal, open, { resolve, reject });
  });

/** No line end follows, since some programs take it as part of the command. */
export const askText = (
  target: Target,
  command: string,
  signal: AbortSignal,
  open = new OpenExchanges(),
): Promise<string> =>
  new Promise((resolve, reject) => new TextExchange(target, command, signal, open, { resolve, reject }));

/** An answer may contain line ends. Data that is still incomplete after this many is not an answer. */
const mostLineEnds = 64;

class LineExchange extends Exchange<DeviceReply[]> {
  readonly #next: string[];
  readonly #replies: DeviceReply[] = [];
  #kept: Buffer[] = [];
  /** Maximum line ends in the buffer. */
  #lineEnds = 0;

  constructor(
    target: Target,
    [first = "", ...next]: readonly string[],
    signal: AbortSignal,
    open: OpenExchanges,
    settle: Settle<DeviceReply[]>,
  ) {
    super(target, first, signal, open, settle);
    this.#next = next;
  }

  protected take(chunk: Buffer): void {
    if (this.bytes > limits.replyBytes) {
      this.fail(tooLarge(this.at));
      return;
    }
    this.#kept.push(Buffer.from(chunk));
    const last = chunk[chunk.length - 1];
    if (last === lineEnd && this.#takeLine()) return;
    if (last === lineEnd || last === brace || last === 0) this.arm(limits.quiet, () => this.#finish());
    else this.disarm();
  }

  protected ended(error: NodeJS.ErrnoException | null): void {
    if (this.#kept.length > 0) this.#finish();
    else if (error === null || isReset(error)) this.fail(unanswered(this.at));
    else this.fail(socketError(this.at, error));
  }

  /** Whether the data up to this line end is a complete answer, as usual; then nothing has to be waited for. */
  #takeLine(): boolean {
    this.#lineEnds += 1;
    if (this.#lineEnds > mostLineEnds) return false;
    const { text, notes } = decode(Buffer.concat(this.#kept));
    const parsed = parseStrict(text);
    if ("problem" in parsed) return false;
    this.#keep({ value: parsed.value, notes });
    return true;
  }

  #finish(): void {
    try {
      this.#keep(replyOf(this.at, Buffer.concat(this.#kept)));
    } catch (error) {
      this.fail(error);
    }
  }

  #keep(reply: DeviceReply): void {
    this.disarm();
    this.#replies.push(reply);
    this.#kept = [];
    this.#lineEnds = 0;
    const next = this.#next.shift();
    if (next === undefined) this.succeed(this.#replies);
    else this.sendNext(next);
  }
}

const lineEnd = 0x0a;
const brace = 0x7d;
const bar = 0x7c;

/** Ends with a NUL or with the connection; programs that do neither end it with a bar. */
class TextExchange extends Exchange<string> {
  readonly #kept: Buffer[] = [];

  protected take(chunk: Buffer): void {
    if (this.bytes > limits.replyBytes) {
      this.fail(tooLarge(this.at));
      return;
    }
    const end = chunk.indexOf(0);
    this.#kept.push(Buffer.from(end === -1 ? chunk : chunk.subarray(0, end)));
    const last = chunk[chunk.length - 1];
    if (end !== -1) this.#finish();
    else if (last === bar || last === lineEnd) this.arm(limits.quiet, () => this.#finish());
    else this.disarm();
  }

  protected ended(error: NodeJS.ErrnoException | null): void {
    if (this.bytes > 0) this.#finish();
    else if (error === null || isReset(error)) this.fail(unanswered(this.at));
    else this.fail(socketError(this.at, error));
  }

  #finish(): void {
    this.succeed(decode(Buffer.concat(this.#kept)).text);
  }
}

const unanswered = (at: string): Error => garbled(at, "closed without an answer; its API may require a password");
