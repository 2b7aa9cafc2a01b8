import { hostAndPort } from "../address.ts";
import { type Dial, Exchange, OpenExchanges, type Target } from "./exchange.ts";
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
   * Sends one command, never twice. The signal is the total deadline.
   * Throws `rig.unreachable`, `rig.timeout` or `rig.garbled`; the caller checks what the answer says.
   */
  send(command: string, parameter: string | undefined, signal: AbortSignal): Promise<DeviceReply>;
  /** The same with a request in the device's own format. */
  ask(request: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<DeviceReply>;
  /** Cancels open exchanges. */
  close(): void;
}

export function rpcTransport(host: string, port: number, dial?: Dial): RpcTransport {
  const target = { host, port, dial, at: hostAndPort(host, port) };
  const open = new OpenExchanges();
  const ask: RpcTransport["ask"] = (request, signal) => exchange(target, JSON.stringify(request), signal, open);
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
): Promise<DeviceReply> =>
  new Promise((resolve, reject) => new RpcExchange(target, request, signal, open, { resolve, reject }));

class RpcExchange extends Exchange<DeviceReply> {
  #kept: Buffer[] = [];
  /** A NUL came, but what preceded it was not readable: more may follow. */
  #isPastNul = false;

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
      this.succeed(replyOf(this.at, Buffer.concat(this.#kept)));
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

const unanswered = (at: string): Error =>
  garbled(at, "closed without an answer; the rig's --api-allow may not include this address");

/** Whether it ends as a reply without NUL would: with a bracket or a line end. */
function looksWhole(chunk: Buffer): boolean {
  const last = chunk[chunk.length - 1];
  return last === 0x7d || last === 0x0a;
}
