import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import { withoutKey } from "./secrets.ts";

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
  readonly body: Uint8Array;
}

/** A body as it arrives; reading it throws once it was destroyed. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}

export interface AnswerStream {
  readonly status: number;
  readonly type: string;
  readonly stream: ByteStream;
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

/** A request as the platform sends it. */
export interface PlatformRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface PlatformAnswer<B> {
  readonly status: number;
  /** "" if the answer does not have it. */
  readonly header: (name: string) => string;
  readonly body: B;
}

/** Why a request has failed; `words` are for people. */
export type Failure =
  | { readonly kind: "unreachable"; readonly reason: Detail; readonly words: string }
  | { readonly kind: "garbled"; readonly words: string }
  | { readonly kind: "late" }
  | { readonly kind: "too long" };

/** HTTP as Node or a browser has it, without redirects. Requests reject with errors that only `failureOf` reads. */
export interface Platform {
  /** For error messages, in place of the origin of the URL. */
  readonly origin?: string;
  whole(request: PlatformRequest, limits: { timeoutMs: number; maxBytes: number }): Promise<PlatformAnswer<Uint8Array>>;
  streamed(request: PlatformRequest): Promise<PlatformAnswer<ByteStream>>;
  failureOf(error: unknown): Failure;
  close(): void;
}

/**
 * Requests to one server. The platform's errors never leave this file, since they may contain the request with its key.
 * Throws `input.invalid` if the URL is invalid.
 */
export function openWire(platform: Platform, url: string, key: string | undefined): Wire {
  const base = baseOf(url);
  const scrub = withoutKey(key);
  const origin = scrub(platform.origin ?? base.origin);
  const root = base.href.replace(/\/$/, "");
  const closing = new AbortController();

  const send = async <T>(
    request: WireRequest,
    accept: string,
    timer: AbortSignal,
    ask: (request: PlatformRequest) => Promise<T>,
  ): Promise<T> => {
    const signals = [closing.signal, timer, request.signal].filter((each) => each !== undefined);
    try {
      return await ask(platformRequest(root, request, accept, AbortSignal.any(signals)));
    } catch (error) {
      if (closing.signal.aborted) throw unreachable("The client is closed");
      throw errorFor(platform.failureOf(error), origin, request);
    }
  };
  return {
    origin,
    scrub,
    exchange: async (request) => {
      const late = AbortSignal.timeout(request.timeoutMs);
      const { status, header, body } = await send(request, "application/json", late, (sent) =>
        platform.whole(sent, request),
      );
      return {
        status,
        type: header("content-type").toLowerCase(),
        location: header("location"),
        retryAfter: header("retry-after"),
        body,
      };
    },
    open: async (request) => {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), request.timeoutMs);
      try {
        const { status, header, body } = await send(request, "text/event-stream", late.signal, (sent) =>
          platform.streamed(sent),
        );
        return { status, type: header("content-type").toLowerCase(), stream: body };
      } finally {
        clearTimeout(timer);
      }
    },
    isClosed: () => closing.signal.aborted,
    close: () => {
      closing.abort();
      platform.close();
    },
  };
}

function baseOf(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  const plain = base?.username === "" && base.password === "" && base.search === "" && base.hash === "";
  if (base !== undefined && plain && /^https?:$/.test(base.protocol)) return base;
  throw invalid("url", detail("client.url"));
}

function platformRequest(
  root: string,
  { method, path, query, body, headers }: WireRequest,
  accept: string,
  signal: AbortSignal,
): PlatformRequest {
  const text = new URLSearchParams(query).toString();
  return {
    url: `${root}${path}${text === "" ? "" : `?${text}`}`,
    method,
    headers: { accept, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  };
}

const unreachable = (message: string | Detail) => new RigbridgeError("service.unreachable", message);
const garbled = (message: string) => new RigbridgeError("service.garbled", message);

function errorFor(failure: Failure, origin: string, { maxBytes, timeoutMs, method, path }: WireRequest) {
  const because = (reason: Detail, within: string | Detail) =>
    unreachable(detail("client.unreachable", { origin, reason, within }));
  switch (failure.kind) {
    case "unreachable":
      return because(failure.reason, failure.words);
    case "late":
      return because(detail("client.late"), detail("client.within", { seconds: timeoutMs / 1000 }));
    case "garbled":
      return garbled(`What answers at ${origin} speaks broken HTTP (${failure.words})`);
    case "too long":
      return garbled(`${origin} answers ${method} ${path} with more than ${Math.round(maxBytes / 1e6)} MB`);
  }
}

/** The bytes of all chunks, one after the other. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
