import { connect, type Socket } from "node:net";
import { hostAndPort } from "../address.ts";
import { rigLookup } from "../forbidden-addresses.ts";
import { decode, parseReply, parseStrict } from "./json.ts";
import { connectTimeout, cutShort, garbled, garbledText, limits, socketError, tooLarge } from "./limits.ts";

/** A device's answer as JSON, and the repairs that it needed. */
export interface DeviceReply {
  readonly value: unknown;
  readonly notes: readonly string[];
}

/** The RPC of cgminer and its kin over TCP: one request a connection, JSON ended by NUL. */
export interface RpcTransport {
  /** host:port, for messages. */
  readonly at: string;
  /**
   * Sends one command, never twice. The signal is the total deadline.
   * Throws `rig.unreachable`, `rig.timeout` or `rig.garbled`; the caller checks what the answer says.
   */
  send(command: string, parameter: string | undefined, signal: AbortSignal): Promise<DeviceReply>;
  /** The same with a request in the device's own format. */
  ask(request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<DeviceReply>;
  /** Cancels open exchanges. */
  close(): void;
}

export function rpcTransport(host: string, port: number): RpcTransport {
  const at = hostAndPort(host, port);
  const closing = new AbortController();
  const ask: RpcTransport["ask"] = (request, signal) =>
    exchange({ host, port, at }, JSON.stringify(request), signal, closing.signal);
  return {
    at,
    ask,
    send: (command, parameter, signal) => ask(parameter === undefined ? { command } : { command, parameter }, signal),
    close: () => closing.abort(),
  };
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly at: string;
}

/** One connection, one request, one reply. */
export function exchange(
  target: Target,
  request: string,
  signal: AbortSignal,
  closing: AbortSignal,
): Promise<DeviceReply> {
  return new Promise((resolve, reject) => {
    if (closing.aborted) reject(cutShort(target.at, closing, 0));
    else if (signal.aborted) reject(cutShort(target.at, signal, 0));
    else new Exchange(target, request, signal, closing, resolve, reject);
  });
}

/** Finishes exactly once, with a reply or an error, and then has no socket and no timer. */
class Exchange {
  readonly #at: string;
  readonly #request: string;
  readonly #socket: Socket;
  readonly #signal: AbortSignal;
  readonly #closing: AbortSignal;
  readonly #resolve: (reply: DeviceReply) => void;
  readonly #reject: (error: unknown) => void;
  #timer: NodeJS.Timeout;
  #received: Buffer[] = [];
  #bytes = 0;
  /** A NUL came, but what preceded it was not readable: more may follow. */
  #ended = false;
  #done = false;

  constructor(
    target: Target,
    request: string,
    signal: AbortSignal,
    closing: AbortSignal,
    resolve: (reply: DeviceReply) => void,
    reject: (error: unknown) => void,
  ) {
    this.#at = target.at;
    this.#request = request;
    this.#signal = signal;
    this.#closing = closing;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#cut);
    closing.addEventListener("abort", this.#cut);
    this.#timer = setTimeout(() => this.#fail(connectTimeout(this.#at)), limits.connect);
    this.#socket = connect({ host: target.host, port: target.port, noDelay: true, lookup: rigLookup });
    this.#socket.on("connect", this.#connected);
    this.#socket.on("data", this.#data);
    this.#socket.on("error", this.#error);
    this.#socket.on("close", this.#closed);
  }

  readonly #connected = (): void => {
    clearTimeout(this.#timer);
    this.#socket.write(this.#request);
  };

  readonly #data = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > limits.replyBytes) {
      this.#fail(tooLarge(this.#at));
      return;
    }
    this.#received.push(chunk);
    const end = this.#ended ? -1 : chunk.indexOf(0);
    if (end !== -1) this.#atNul(this.#bytes - chunk.length + end);
    if (!this.#done && (this.#ended || looksWhole(chunk))) this.#finishWhenQuiet();
    else if (!this.#done) clearTimeout(this.#timer);
  };

  /** The usual end. What follows the first NUL is read only when what precedes it is broken. */
  #atNul(length: number): void {
    const { text, notes } = decode(this.#all().subarray(0, length));
    const parsed = parseStrict(text);
    if ("value" in parsed) this.#succeed(parsed.value, notes);
    else this.#ended = true;
  }

  #finishWhenQuiet(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(), limits.quiet);
  }

  readonly #error = (error: NodeJS.ErrnoException): void => {
    if (this.#bytes > 0) this.#finish();
    else if (error.code === "ECONNRESET" || error.code === "EPIPE") this.#fail(unanswered(this.#at));
    else this.#fail(socketError(this.#at, error));
  };

  readonly #closed = (): void => this.#finish();

  readonly #cut = (): void => {
    this.#fail(cutShort(this.#at, this.#closing.aborted ? this.#closing : this.#signal, this.#bytes));
  };

  /** The reply is complete. */
  #finish(): void {
    if (this.#done) return;
    if (this.#bytes === 0) {
      this.#fail(unanswered(this.#at));
      return;
    }
    try {
      const { value, notes } = replyOf(this.#at, this.#all());
      this.#succeed(value, notes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #all(): Buffer {
    const [only] = this.#received;
    if (this.#received.length === 1 && only !== undefined) return only;
    const all = Buffer.concat(this.#received, this.#bytes);
    this.#received = [all];
    return all;
  }

  #succeed(value: unknown, notes: readonly string[]): void {
    this.#stop();
    this.#resolve({ value, notes });
  }

  #fail(error: unknown): void {
    if (this.#done) return;
    this.#stop();
    this.#reject(error);
  }

  /** Does not wait for the peer: some keep the connection open after their reply. */
  #stop(): void {
    this.#done = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#cut);
    this.#closing.removeEventListener("abort", this.#cut);
    this.#socket.destroy();
  }
}

/** All bytes as JSON, repaired where needed; one NUL at the end belongs to the frame. Throws `rig.garbled`. */
export function replyOf(at: string, bytes: Buffer): DeviceReply {
  const { text, notes } = decode(bytes);
  const parsed = parseReply(text.endsWith("\0") ? text.slice(0, -1) : text);
  if ("problem" in parsed) throw garbledText(at, parsed.problem, text);
  return { value: parsed.value, notes: [...notes, ...parsed.repairs] };
}

const unanswered = (at: string): Error =>
  garbled(at, "closed without an answer; the rig's --api-allow may not include this address");

/** Whether it ends as a reply without NUL would: with a bracket or a line end. */
function looksWhole(chunk: Buffer): boolean {
  const last = chunk[chunk.length - 1];
  return last === 0x7d || last === 0x0a;
}
