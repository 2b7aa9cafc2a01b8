import { constants, gunzipSync } from "node:zlib";
import { RigbridgeError } from "../../contract/problems.ts";
import { isRecord } from "../../contract/record.ts";
import { hostAndPort } from "../address.ts";
import type { Pace } from "../pace.ts";
import { printable } from "../tolerant-reader.ts";
import { type Dial, Exchange, OpenExchanges, type Target } from "./exchange.ts";
import { HttpParser } from "./http-parser.ts";
import { decode, parseReply, parseStrict } from "./json.ts";
import { garbled, garbledText, isReset, limits, socketError } from "./limits.ts";
import type { DeviceReply } from "./rpc.ts";

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly notes: readonly string[];
}

export interface HttpCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a web page sends a form, in place of `body`. */
  readonly form?: Readonly<Record<string, string>>;
  /** Part of a command: an expired login is not renewed for it but throws `SessionEnded`. */
  readonly ofCommand?: true;
}

/**
 * HTTP to a device: one connection per call (small devices have few sockets), no redirects, every call sent once.
 * The signal is the total deadline. Throws `rig.unreachable`, `rig.timeout`, `rig.garbled`, and `rig.refused` with the
 * device's words for a status of 400 or more.
 */
export interface HttpTransport {
  /** host:port, for messages. */
  readonly at: string;
  getJson(path: string, signal: AbortSignal, headers?: Readonly<Record<string, string>>): Promise<DeviceReply>;
  send(call: HttpCall, signal: AbortSignal): Promise<HttpReply>;
  /** Resolves for any status; a body longer than 1 MB is `rig.garbled`. */
  call(call: HttpCall, signal: AbortSignal): Promise<HttpReply>;
  /** Cancels open exchanges. */
  close(): void;
}

export function httpTransport(host: string, port: number, tls: boolean, dial?: Dial, pace?: Pace): HttpTransport {
  const at = hostAndPort(host, port);
  const open = new OpenExchanges(pace);
  const target = { host, port, tls, dial, at };

  const call = (what: HttpCall, signal: AbortSignal): Promise<HttpReply> =>
    new Promise((resolve, reject) => {
      const request = requestBytes(target, what);
      new HttpExchange(target, request, signal, open, { resolve, reject });
    });
  const send = async (what: HttpCall, signal: AbortSignal): Promise<HttpReply> => {
    const reply = await call(what, signal);
    if (reply.status >= 300) throw refusal(at, what, reply);
    return reply;
  };
  return {
    at,
    call,
    send,
    getJson: async (path, signal, headers = {}) => {
      const what = { method: "GET", path, headers } as const;
      return jsonOf(at, what, await send(what, signal));
    },
    close: () => open.close(),
  };
}

class HttpExchange extends Exchange<HttpReply> {
  readonly #parser = new HttpParser(this.at);

  protected take(chunk: Buffer): void {
    this.#attempt(() => this.#parser.take(chunk));
  }

  protected ended(error: NodeJS.ErrnoException | null): void {
    if (this.bytes > 0) {
      this.#attempt(() => error === null && this.#parser.end());
      this.fail(garbled(this.at, "the reply broke off"));
    } else if (error === null || isReset(error)) this.fail(garbled(this.at, "closed without an answer"));
    else this.fail(socketError(this.at, error));
  }

  /** Finishes if the work completes the reply. */
  #attempt(work: () => boolean): void {
    try {
      if (work()) this.succeed(whole(this.at, this.#parser));
    } catch (error) {
      this.fail(error);
    }
  }
}

function bodyOf({ body, form }: HttpCall): { readonly type: string; readonly text: string } | undefined {
  if (form !== undefined)
    return { type: "application/x-www-form-urlencoded", text: new URLSearchParams(form).toString() };
  return body === undefined ? undefined : { type: "application/json", text: JSON.stringify(body) };
}

/** Throws `input.invalid` for what HTTP does not allow in a path or header, as it may be in a token. */
function requestBytes({ tls, at }: Target, call: HttpCall): Buffer {
  const body = bodyOf(call);
  const usualPort = tls ? ":443" : ":80";
  let head = `${call.method} ${checked(at, "path", call.path, /[^!-~]/)} HTTP/1.1\r\n`;
  for (const name in call.headers)
    head += `${name}: ${checked(at, name, call.headers[name] ?? "", /[^\t -~\x80-\xff]/)}\r\n`;
  head += `accept: application/json, */*\r\nconnection: close\r\n`;
  // XMRig accepts exactly this type; with a charset added, it answers 415.
  if (body !== undefined) head += `content-type: ${body.type}\r\n`;
  if (call.method !== "GET") head += `content-length: ${Buffer.byteLength(body?.text ?? "")}\r\n`;
  head += `host: ${at.endsWith(usualPort) ? at.slice(0, -usualPort.length) : at}\r\n\r\n`;
  const bytes = Buffer.from(head, "latin1");
  return body === undefined ? bytes : Buffer.concat([bytes, Buffer.from(body.text)]);
}

function checked(at: string, what: string, text: string, forbidden: RegExp): string {
  if (!forbidden.test(text)) return text;
  throw new RigbridgeError("input.invalid", `${at}: the ${what} contains characters that HTTP does not allow`);
}

function whole(at: string, parser: HttpParser): HttpReply {
  const { status, headers } = parser;
  const { text, notes } = decode(unpack(at, headers, parser.body()));
  return { status, headers, body: text, notes };
}

/** AxeOS compresses its pages whatever the request accepts. */
function unpack(at: string, headers: HttpReply["headers"], bytes: Buffer): Buffer {
  if (headers["content-encoding"]?.toLowerCase() !== "gzip" || bytes.length === 0) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.replyBytes, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    throw garbled(at, "the compressed reply cannot be unpacked, or is too large");
  }
}

/** The body as JSON, repaired where needed. Throws `rig.garbled`. */
export function jsonOf(at: string, { method, path }: HttpCall, { body, notes }: HttpReply): DeviceReply {
  const parsed = parseReply(body);
  const asked = `${method} ${withoutQuery(path)}`;
  if ("problem" in parsed) throw garbledText(at, `${asked}: ${parsed.problem}`, body);
  // With every figure unknown the device would look idle, which it may not be.
  if (isRecord(parsed.value) && Object.keys(parsed.value).length === 0)
    throw garbled(at, `${asked}: the reply is empty`);
  return { value: parsed.value, notes: [...notes, ...parsed.repairs] };
}

/** The error for a status of 300 or more, with the device's text; never with the sent data. */
export function refusal(at: string, { method, path }: HttpCall, { status, body }: HttpReply): RigbridgeError {
  const why =
    status === 401 || status === 403
      ? "; credentials are missing or wrong, or do not allow this"
      : status < 400
        ? "; redirects are not followed"
        : "";
  const what = `${at} refused ${method} ${withoutQuery(path)}${why}: ${status}`;
  const message = `${what} ${words(body)}`.trimEnd();
  if (status === 404) return new NotOnDevice(message, { unquoted: what });
  return new RigbridgeError("rig.refused", message, { unquoted: what });
}

/** Some devices take passwords in the query. */
const withoutQuery = (path: string): string => path.replace(/\?.*/s, "");

/** Code `rig.refused`: the firmware does not have this path, and did nothing. */
export class NotOnDevice extends RigbridgeError {
  constructor(message: string, { unquoted }: { readonly unquoted: string }) {
    super("rig.refused", message, { unquoted });
  }
}

/** A device's text in a body: `message`, `error` (or its `message`) or `status` of a JSON object, or a short plain text; otherwise "". */
export function words(body: string): string {
  const parsed = parseStrict(body);
  const value = "value" in parsed ? parsed.value : body;
  if (typeof value === "string") return /^\s*</.test(value) ? "" : oneLine(value);
  if (typeof value !== "object" || value === null) return "";
  for (const key of ["message", "error", "status"]) {
    const text: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    const inside: unknown = isRecord(text) ? text.message : undefined;
    for (const said of [text, inside]) if (typeof said === "string") return oneLine(said);
  }
  return "";
}

const oneLine = (text: string): string =>
  printable(text.slice(0, 1_000).replace(/\s+/g, " ")).slice(0, 200).toWellFormed();
