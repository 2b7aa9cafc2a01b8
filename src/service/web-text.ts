import { RigbridgeError } from "../contract/problems.ts";

/** A request to an external address from the configuration. */
export interface WebRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST of JSON. */
  readonly body?: string;
}

/** `empty`: 204. `unchanged`: 304, to a request with the etag of an earlier answer. */
export type WebAnswer =
  | { readonly kind: "text"; readonly text: string; readonly etag: string | null }
  | { readonly kind: "empty" | "unchanged" };

export interface WebLimits {
  /** ms for the whole answer. */
  readonly answerMs: number;
  readonly bytes: number;
}

/** The source asks for a pause. */
export class WebBusyError extends RigbridgeError {
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super("service.refused", message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Sends one request and follows no redirects, which could lead into the local network. Throws `service.unreachable`,
 * `service.refused` or `service.garbled`, naming only the host: both path and headers may hold a key.
 */
export async function webText(
  { url, headers = {}, body }: WebRequest,
  limits: WebLimits,
  closing: AbortSignal,
  etag: string | null = null,
): Promise<WebAnswer> {
  const at = new URL(url).host;
  try {
    const response = await fetch(url, {
      headers: {
        accept: "application/json, text/plain;q=0.9, */*;q=0.8",
        ...(etag === null ? {} : { "if-none-match": etag }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { method: "POST", body }),
      redirect: "manual",
      signal: AbortSignal.any([closing, AbortSignal.timeout(limits.answerMs)]),
    });
    if (response.status === 200)
      return { kind: "text", text: await bounded(response, at, limits.bytes), etag: response.headers.get("etag") };
    await response.body?.cancel();
    if (response.status === 204) return { kind: "empty" };
    if (response.status === 304 && etag !== null) return { kind: "unchanged" };
    if (response.status === 429 || response.status === 503)
      throw new WebBusyError(`${at} answers ${response.status}: too many requests, or busy`, retryAfterOf(response));
    const why = response.status >= 300 && response.status < 400 ? "; redirects are not followed" : "";
    throw new RigbridgeError("service.refused", `${at} answers ${response.status}${why}`);
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
    // Without the cause: Node's message may quote the request.
    throw new RigbridgeError(
      "service.unreachable",
      isTimeout ? `${at} does not answer in time` : `${at} cannot be reached`,
    );
  }
}

/** Seconds or a date (RFC 9110, 10.2.3); at most a day. */
function retryAfterOf(response: Response): number | null {
  const text = response.headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 86_400_000) : null;
}

async function bounded(response: Response, at: string, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > most)
      throw new RigbridgeError("service.garbled", `${at} answers with more than ${Math.round(most / 1024)} KB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
