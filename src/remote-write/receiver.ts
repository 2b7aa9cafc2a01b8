import axios, { isAxiosError } from "axios";
import type { RemoteWriteSettings } from "../config/history.ts";
import { version } from "../version.ts";
import type { WriteRequest } from "./write-request.ts";

/** What a receiver did with a request. */
export type Verdict =
  | { readonly kind: "taken" }
  /** The same request would be refused again. */
  | { readonly kind: "refused"; readonly why: string }
  /** `afterMs`: as the receiver asked. */
  | { readonly kind: "later"; readonly why: string; readonly afterMs: number };

/** ms for an answer, ms that a receiver may ask to wait, and bytes of an answer that are read. */
const limits = { answerMs: 30_000, waitMs: 300_000, bytes: 65_536 } as const;

/** Sends a request once, without redirects. Errors name the host alone: the rest of the address may hold a secret. */
export async function send(
  { url, headers }: Pick<RemoteWriteSettings, "url" | "headers">,
  { body }: Pick<WriteRequest, "body">,
  signal: AbortSignal,
): Promise<Verdict> {
  const { host } = new URL(url);
  const wait = AbortSignal.any([signal, AbortSignal.timeout(limits.answerMs)]);
  try {
    const answer = await axios.post<string>(url, Buffer.from(body.buffer, body.byteOffset, body.byteLength), {
      headers: {
        ...headers,
        "Content-Type": "application/x-protobuf",
        "Content-Encoding": "snappy",
        "User-Agent": `Rigbridge/${version}`,
        "X-Prometheus-Remote-Write-Version": "0.1.0",
      },
      signal: wait,
      proxy: false,
      maxRedirects: 0,
      maxContentLength: limits.bytes,
      responseType: "text",
      transformResponse: (text: unknown) => text,
      validateStatus: () => true,
    });
    const { status, data } = answer;
    if (status >= 200 && status < 300) return { kind: "taken" };
    const said = wordsOf(data, Object.values(headers));
    const why = `${host} answers with status ${status}${said === "" ? "" : `: ${said}`}`;
    if (status !== 429 && status < 500) return { kind: "refused", why };
    return { kind: "later", why, afterMs: waitOf(answer.headers["retry-after"]) };
  } catch (error) {
    const code = isAxiosError(error) && error.code !== undefined ? error.code : "";
    const isLate = wait.aborted || code === "ETIMEDOUT";
    const why = isLate
      ? `${host} did not answer in time`
      : `${host} cannot be reached${code === "" ? "" : ` (${code})`}`;
    return { kind: "later", why, afterMs: 0 };
  }
}

/** The first line of an answer, unless it repeats a header that we sent. */
function wordsOf(data: string, headers: readonly string[]): string {
  const line = (data.split("\n")[0] ?? "").replace(/[^\P{C}]/gu, " ").trim();
  return headers.some((value) => value.length > 3 && line.includes(value)) ? "" : line.slice(0, 200);
}

/** Seconds or a date. */
function waitOf(after: unknown): number {
  if (typeof after !== "string") return 0;
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return ms > 0 ? Math.min(ms, limits.waitMs) : 0;
}
