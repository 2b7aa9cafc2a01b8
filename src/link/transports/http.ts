import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { constants, gunzipSync } from "node:zlib";
import { RigbridgeError } from "../../contract/problems.ts";
import { isRecord } from "../../contract/record.ts";
import { hostAndPort } from "../address.ts";
import { rigLookup } from "../forbidden-addresses.ts";
import { printable } from "../tolerant-reader.ts";
import { decode, parseReply, parseStrict } from "./json.ts";
import { connectTimeout, cutShort, garbled, garbledText, limits, socketError, tooLarge } from "./limits.ts";
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

/** Interim answers like "100 Continue" before the real one; none is requested. */
const mostAnnouncements = 8;

export function httpTransport(host: string, port: number, tls: boolean): HttpTransport {
  const at = hostAndPort(host, port);
  const closing = new AbortController();
  const target = { host, port, tls, at };

  const call = (what: HttpCall, signal: AbortSignal): Promise<HttpReply> => {
    const either = AbortSignal.any([signal, closing.signal]);
    return either.aborted ? Promise.reject(cutShort(at, either, 0)) : exchange(target, what, either);
  };
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
    close: () => closing.abort(),
  };
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly at: string;
}

function exchange(target: Target, call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
  const { at } = target;
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const request = open(target, call);
    const timer = setTimeout(() => fail(connectTimeout(at)), limits.connect);
    const cut = (): void => fail(cutShort(at, signal, bytes));
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cut);
      request.destroy();
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    signal.addEventListener("abort", cut);
    request.on("socket", (socket) => socket.once("connect", () => clearTimeout(timer)));
    let answer: IncomingMessage | undefined;
    let announcements = 0;
    request.on("information", () => {
      announcements += 1;
      if (announcements > mostAnnouncements) fail(garbled(at, "it sends too many interim answers"));
    });
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      fail(garbled(at, "it switches to a protocol other than HTTP"));
    });
    request.on("close", () => {
      if (answer === undefined) fail(garbled(at, "closed without an answer"));
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      // Bytes after a complete reply are an error only for the parser; the reply is delivered.
      if (answer?.complete !== true) fail(httpError(at, error, request));
    });
    request.on("response", (response) => {
      answer = response;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > limits.replyBytes) fail(tooLarge(at));
      });
      response.on("error", (error) => fail(garbled(at, `the reply broke off (${error.message})`)));
      response.on("end", () => {
        stop();
        try {
          resolve(whole(at, response, Buffer.concat(chunks, bytes)));
        } catch (error) {
          reject(error);
        }
      });
    });
  });
}

function bodyOf({ body, form }: HttpCall): { readonly type: string; readonly text: string } | undefined {
  if (form !== undefined)
    return { type: "application/x-www-form-urlencoded", text: new URLSearchParams(form).toString() };
  return body === undefined ? undefined : { type: "application/json", text: JSON.stringify(body) };
}

function open(target: Target, call: HttpCall): ClientRequest {
  const body = bodyOf(call);
  const options = {
    host: target.host,
    port: target.port,
    method: call.method,
    path: call.path,
    agent: false as const,
    lookup: rigLookup,
    // XMRig sends each JSON-RPC reply twice on one connection, which the strict parser rejects.
    insecureHTTPParser: true,
    headers: {
      ...call.headers,
      accept: "application/json, */*",
      connection: "close",
      // XMRig accepts exactly this type; with a charset added, it answers 415.
      ...(body === undefined ? {} : { "content-type": body.type, "content-length": Buffer.byteLength(body.text) }),
    },
  };
  // Rigs have self-signed certificates, which cannot be verified.
  const request = target.tls ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
  request.setNoDelay(true);
  request.end(body?.text);
  return request;
}

function httpError(at: string, error: NodeJS.ErrnoException, request: ClientRequest): RigbridgeError {
  if (error.code?.startsWith("HPE_")) return garbled(at, "what answers there is not HTTP");
  const sent = request.socket?.connecting === false;
  if (sent && (error.code === "ECONNRESET" || error.code === "EPIPE")) return garbled(at, "closed without an answer");
  return socketError(at, error);
}

function whole(at: string, response: IncomingMessage, bytes: Buffer): HttpReply {
  const { text, notes } = decode(unpack(at, response, bytes));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { status: response.statusCode ?? 0, headers, body: text, notes };
}

/** AxeOS compresses its pages whatever the request accepts. */
function unpack(at: string, response: IncomingMessage, bytes: Buffer): Buffer {
  if (response.headers["content-encoding"] !== "gzip" || bytes.length === 0) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.replyBytes, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    throw garbled(at, "the compressed reply cannot be unpacked, or is too large");
  }
}

/** The body as JSON, repaired where needed. Throws `rig.garbled`. */
export function jsonOf(at: string, { method, path }: HttpCall, { body, notes }: HttpReply): DeviceReply {
  const parsed = parseReply(body);
  if ("problem" in parsed) throw garbledText(at, `${method} ${path}: ${parsed.problem}`, body);
  // With every figure unknown the device would look idle, which it may not be.
  if (isRecord(parsed.value) && Object.keys(parsed.value).length === 0)
    throw garbled(at, `${method} ${path}: the reply is empty`);
  return { value: parsed.value, notes: [...notes, ...parsed.repairs] };
}

/** The error for a status of 300 or more, with the device's words; never with what was sent. */
export function refusal(at: string, { method, path }: HttpCall, { status, body }: HttpReply): RigbridgeError {
  const why =
    status === 401 || status === 403
      ? "; credentials are missing or wrong, or do not allow this"
      : status < 400
        ? "; redirects are not followed"
        : "";
  const what = `${at} refused ${method} ${path}${why}: ${status}`;
  const message = `${what} ${words(body)}`.trimEnd();
  if (status === 404) return new NotOnDevice(message, { unquoted: what });
  return new RigbridgeError("rig.refused", message, { unquoted: what });
}

/** Code `rig.refused`: the firmware does not have this path, and did nothing. */
export class NotOnDevice extends RigbridgeError {
  constructor(message: string, { unquoted }: { readonly unquoted: string }) {
    super("rig.refused", message, { unquoted });
  }
}

/** A device's words in a body: `message`, `error` or `status` of a JSON object, or a short plain text; else "". */
export function words(body: string): string {
  const parsed = parseStrict(body);
  const value = "value" in parsed ? parsed.value : body;
  if (typeof value === "string") return /^\s*</.test(value) ? "" : oneLine(value);
  if (typeof value !== "object" || value === null) return "";
  for (const key of ["message", "error", "status"]) {
    const text: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
    if (typeof text === "string") return oneLine(text);
  }
  return "";
}

const oneLine = (text: string): string =>
  printable(text.slice(0, 1_000).replace(/\s+/g, " ")).slice(0, 200).toWellFormed();
