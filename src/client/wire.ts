import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import axios, { type AxiosInstance, type AxiosResponse, isAxiosError } from "axios";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import { oneLine, withoutKey } from "./secrets.ts";

export interface WireRequest {
  readonly method: string;
  /** Appended to the server's URL, with a leading slash. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** ms until the answer must be complete. */
  readonly timeoutMs: number;
  /** Bytes of the answer, decompressed. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A server's answer with any status. */
export interface Answer {
  readonly status: number;
  /** In lower case; "" if there is none. */
  readonly type: string;
  readonly location: string;
  readonly retryAfter: string;
  readonly body: Buffer;
}

export interface AnswerStream {
  readonly status: number;
  readonly type: string;
  readonly stream: Readable;
}

export interface Wire {
  /** For error messages: without path, user and key. */
  readonly origin: string;
  /** Throws `service.unreachable`, and `service.garbled` if the answer is not HTTP or too long. */
  exchange(request: WireRequest): Promise<Answer>;
  /** The body as it arrives; the timeout applies to the start of the answer. */
  open(request: WireRequest): Promise<AnswerStream>;
  /** Removes the key from a text. */
  scrub(text: string): string;
  close(): void;
  isClosed(): boolean;
}

/** Concurrent connections; a home server need not handle more. */
const maxSockets = 8;

/**
 * Requests to one server, without proxy and redirects, over a few persistent sockets. Axios errors never leave this file,
 * since they contain the request with its key. Throws `input.invalid` if the URL is invalid.
 */
export function openWire(url: string, key: string | undefined): Wire {
  const base = baseOf(url);
  const scrub = withoutKey(key);
  const origin = scrub(base.origin);
  const closing = new AbortController();
  const httpAgent = new HttpAgent({ keepAlive: true, maxSockets });
  const httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets });
  const http = axios.create({
    proxy: false,
    maxRedirects: 0,
    httpAgent,
    httpsAgent,
    validateStatus: () => true,
    transformResponse: (data: unknown) => data,
  });
  const root = base.href.replace(/\/$/, "");

  const send = async <T>(
    request: WireRequest,
    responseType: "arraybuffer" | "stream",
    signal: AbortSignal,
  ): Promise<AxiosResponse<T>> => {
    try {
      return await ask<T>(http, root, request, responseType, signal);
    } catch (error) {
      if (closing.signal.aborted) throw unreachable("The client is closed");
      throw failure(error, origin, request);
    }
  };
  return {
    origin,
    scrub,
    exchange: async (request) => {
      const signals = [closing.signal, AbortSignal.timeout(request.timeoutMs), request.signal];
      const signal = AbortSignal.any(signals.filter((each) => each !== undefined));
      const { status, headers, data } = await send<Buffer>(request, "arraybuffer", signal);
      const header = (name: string) => String(headers[name] ?? "");
      return {
        status,
        type: header("content-type").toLowerCase(),
        location: header("location"),
        retryAfter: header("retry-after"),
        body: data,
      };
    },
    open: async (request) => {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), request.timeoutMs);
      const signals = [closing.signal, late.signal, request.signal];
      const signal = AbortSignal.any(signals.filter((each) => each !== undefined));
      try {
        const { status, headers, data } = await send<Readable>(request, "stream", signal);
        return { status, type: String(headers["content-type"] ?? "").toLowerCase(), stream: data };
      } finally {
        clearTimeout(timer);
      }
    },
    isClosed: () => closing.signal.aborted,
    close: () => {
      closing.abort();
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

function baseOf(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  const plain = base?.username === "" && base.password === "" && base.search === "" && base.hash === "";
  if (base !== undefined && plain && /^https?:$/.test(base.protocol)) return base;
  throw invalid("url", detail("client.url"));
}

function ask<T>(
  http: AxiosInstance,
  root: string,
  { method, path, query, body, headers, timeoutMs, maxBytes }: WireRequest,
  responseType: "arraybuffer" | "stream",
  signal: AbortSignal,
): Promise<AxiosResponse<T>> {
  const text = new URLSearchParams(query).toString();
  return http.request<T>({
    url: `${root}${path}${text === "" ? "" : `?${text}`}`,
    method,
    headers: {
      accept: responseType === "stream" ? "text/event-stream" : "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    data: body === undefined ? undefined : JSON.stringify(body),
    responseType,
    // A stream has no end; its events have their own limit.
    ...(responseType === "stream" ? {} : { timeout: timeoutMs, maxContentLength: maxBytes }),
    signal,
  });
}

const unreachable = (message: string | Detail) => new RigbridgeError("service.unreachable", message);

/** Reasons for a failed connection; the codes are those of Node and OpenSSL. */
const reasons = [
  [/^ECONNREFUSED$/, "client.refused"],
  [/^(ENOTFOUND|EAI_)/, "client.unknown"],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/, "client.noRoute"],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, "client.closed"],
  [/^(ETIMEDOUT|ECONNABORTED|ERR_CANCELED)$/, "client.late"],
  [/CERT|SELF_SIGNED|ISSUER|ALTNAME|UNABLE_TO_/, "client.certificate"],
  [/^(EPROTO|ERR_SSL|ERR_TLS)/, "client.tls"],
] as const;

/** Converts an Axios error to a RigbridgeError, keeping only its code. */
function failure(error: unknown, origin: string, { maxBytes, timeoutMs, method, path }: WireRequest): RigbridgeError {
  const { code, message } = codeOf(error);
  if (/^(HPE_|Z_|ERR_BUFFER|ERR__)/.test(code) || /^(incorrect header|unexpected end of file)/.test(message))
    return garbled(`What answers at ${origin} speaks broken HTTP (${code})`);
  if (/maxContentLength/.test(message))
    return garbled(`${origin} answers ${method} ${path} with more than ${Math.round(maxBytes / 1e6)} MB`);
  const reason = reasons.find(([pattern]) => pattern.test(code))?.[1] ?? "client.failed";
  const within = reason === "client.late" ? detail("client.within", { seconds: timeoutMs / 1000 }) : code;
  return unreachable(detail("client.unreachable", { origin, reason: detail(reason), within }));
}

const garbled = (message: string) => new RigbridgeError("service.garbled", message);

function codeOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: "", message: "" };
  const own = "code" in error && typeof error.code === "string" ? error.code : "";
  const inner = isAxiosError(error) && error.cause instanceof Error ? codeOf(error.cause) : { code: "", message: "" };
  const code = inner.code === "" ? own : inner.code;
  return { code: oneLine(code, 60), message: error.message };
}
