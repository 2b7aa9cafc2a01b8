import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex, Readable } from "node:stream";
import axios, { type AxiosRequestConfig, type AxiosResponse, isAxiosError } from "axios";
import { detail } from "../messages/detail.ts";
import { oneLine } from "./secrets.ts";
import type { Failure, Platform, PlatformAnswer, PlatformRequest } from "./wire.ts";

/** Concurrent connections; a home server need not handle more. */
const maxSockets = 8;

/** Node's HTTP over a few persistent sockets, without proxy; or over what `dial` opens, for one request each. */
export function nodePlatform(dial?: () => Duplex): Platform {
  const httpAgent = new HttpAgent({ keepAlive: dial === undefined, maxSockets });
  if (dial !== undefined) httpAgent.createConnection = dial;
  const httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets });
  const http = axios.create({
    proxy: false,
    maxRedirects: 0,
    httpAgent,
    httpsAgent,
    validateStatus: () => true,
    transformResponse: (data: unknown) => data,
  });
  const send = async <T>({ body, ...request }: PlatformRequest, options: AxiosRequestConfig) =>
    answerOf(await http.request<T>({ ...request, data: body, ...options }));
  return {
    whole: (request, { timeoutMs, maxBytes }) =>
      send<Buffer>(request, { responseType: "arraybuffer", timeout: timeoutMs, maxContentLength: maxBytes }),
    // A stream has no end; its events have their own limit.
    streamed: (request) => send<Readable>(request, { responseType: "stream" }),
    failureOf,
    close: () => {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

const answerOf = <T>({ status, headers, data }: AxiosResponse<T>): PlatformAnswer<T> => ({
  status,
  header: (name) => String(headers[name] ?? ""),
  body: data,
});

/** Reasons for a failed connection; the codes are those of Node and OpenSSL. */
const reasons = [
  [/^ECONNREFUSED$/, "client.refused"],
  [/^(ENOTFOUND|EAI_)/, "client.unknown"],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/, "client.noRoute"],
  [/^ENOTCONN$/, "client.notConnected"],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, "client.closed"],
  [/CERT|SELF_SIGNED|ISSUER|ALTNAME|UNABLE_TO_/, "client.certificate"],
  [/^(EPROTO|ERR_SSL|ERR_TLS)/, "client.tls"],
] as const;

/** What an Axios error says, keeping only its code. */
function failureOf(error: unknown): Failure {
  const { code, message } = codeOf(error);
  const isGarbled =
    /^(HPE_|Z_|ERR_BUFFER|ERR__)/.test(code) || /^(incorrect header|unexpected end of file)/.test(message);
  if (isGarbled) return { kind: "garbled", words: code };
  if (/maxContentLength/.test(message)) return { kind: "too long" };
  if (/^(ETIMEDOUT|ECONNABORTED|ERR_CANCELED)$/.test(code)) return { kind: "late" };
  const reason = reasons.find(([pattern]) => pattern.test(code))?.[1] ?? "client.failed";
  return { kind: "unreachable", reason: detail(reason), words: code };
}

function codeOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: "", message: "" };
  const own = "code" in error && typeof error.code === "string" ? error.code : "";
  const inner = isAxiosError(error) && error.cause instanceof Error ? codeOf(error.cause) : { code: "", message: "" };
  const code = inner.code === "" ? own : inner.code;
  return { code: oneLine(code, 60), message: error.message };
}
