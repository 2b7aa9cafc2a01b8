import { hostAndPort } from "../address.ts";
import type { Pace } from "../pace.ts";
import { type Dial, Exchange, OpenExchanges, type Settle, type Target } from "./exchange.ts";
import { decode, parseReply, parseStrict } from "./json.ts";
import { garbled, garbledText, isReset, limits, socketError, tooLarge } from "./limits.ts";

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
   * Sends one command, never twice. The signal is the total deadline. Throws `rig.unreachable`, `rig.timeout` or
   * `rig.garbled`; the caller checks the content of the answer.
   */
  send(command: string, parameter: string | undefined, signal: AbortSignal): Promise<DeviceReply>;
  /** The same with a request in the device's own format. */
  ask(request: Readonly<Record<string, unknown>>, signal: AbortSignal, framing?: Framing): Promise<DeviceReply>;
  /** Cancels open exchanges. */
  close(): void;
}

/** `head`: an HTTP head may precede the JSON. */
export type Framing = "plain" | "head";

export function rpcTransport(host: string, port: number, dial?: Dial, pace?: Pace): RpcTransport {
  const target = { host, port, dial, at: hostAndPort(host, port) };
  const open = new OpenExchanges(pace);
  const ask: RpcTransport["ask"] = (request, signal, framing) =>
    exchange(target, JSON.stringify(request), signal, open, framing);
  return {
    at: target.at,
    ask,
    send: (command, parameter, signal) => ask(parameter === undefined ? { command } : { command, parameter }, signal),
    close: () => open.close(),
  };
}

/** One connection, one request, one reply. */
export const exchange = (
  target: Target,
  request: string,
  signal: AbortSignal,
  open = new OpenExchanges(),
  framing: Framing = "plain",
): Promise<DeviceReply> =>
  new Promise((resolve, reject) => new RpcExchange(target, request, signal, open, { resolve, reject }, framing));

class RpcExchange extends Exchange<DeviceReply> {
  readonly #framing: Framing;
  #kept: Buffer[] = [];
  /** A NUL came, but what preceded it was not readable: more may follow. */
  #isPastNul = false;

  constructor(
    target: Target,
    request: string,
    signal: AbortSignal,
    open: OpenExchanges,
    settle: Settle<DeviceReply>,
    framing: Framing,
  ) {
    super(target, request, signal, open, settle);
    this.#framing = framing;
  }

  protected take(chunk: Buffer): void {
    if (this.bytes > limits.replyBytes) {
      this.fail(tooLarge(this.at));
      return;
    }
    const end = this.#isPastNul ? -1 : chunk.indexOf(0);
    if (end !== -1 && this.#readUpTo(chunk.subarray(0, end))) return;
    this.#kept.push(Buffer.from(chunk));
    if (this.#isPastNul || looksWhole(chunk)) this.arm(limits.quiet, () => this.#finish());
    else this.disarm();
  }

  protected ended(error: NodeJS.ErrnoException | null): void {
    if (this.bytes > 0) this.#finish();
    else if (error === null || isReset(error)) this.fail(unanswered(this.at));
    else this.fail(socketError(this.at, error));
  }

  /** The usual end. What follows the first NUL is read only when what precedes it is broken. */
  #readUpTo(last: Buffer): boolean {
    const { text, notes } = decode(this.#kept.length === 0 ? last : Buffer.concat([...this.#kept, last]));
    const parsed = parseStrict(text);
    this.#isPastNul = "problem" in parsed;
    if ("value" in parsed) this.succeed({ value: parsed.value, notes });
    return !this.#isPastNul;
  }

  /** The reply is complete. */
  #finish(): void {
    try {
      const bytes = Buffer.concat(this.#kept);
      this.succeed(replyOf(this.at, this.#framing === "head" ? withoutHead(bytes) : bytes));
    } catch (error) {
      this.fail(error);
    }
  }
}

/** All bytes as JSON, repaired where needed; one NUL at the end belongs to the frame. Throws `rig.garbled`. */
export function replyOf(at: string, bytes: Buffer): DeviceReply {
  const { text, notes } = decode(bytes);
  const parsed = parseReply(text.endsWith("\0") ? text.slice(0, -1) : text);
  if ("problem" in parsed) throw garbledText(at, parsed.problem, text);
  return { value: parsed.value, notes: [...notes, ...parsed.repairs] };
}

/** The body of an HTTP reply; other bytes as they are. */
function withoutHead(bytes: Buffer): Buffer {
  const end = bytes.toString("latin1", 0, 7) === "HTTP/1." ? bytes.indexOf("\r\n\r\n") : -1;
  return end === -1 ? bytes : bytes.subarray(end + 4);
}

const unanswered = (at: string): Error =>
  garbled(at, "closed without an answer; the rig's --api-allow may not include this address");

/** Whether it ends as a reply without NUL would: with a bracket or a line end. */
function looksWhole(chunk: Buffer): boolean {
  const last = chunk[chunk.length - 1];
  return last === 0x7d || last === 0x0a;
}
