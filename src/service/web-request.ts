import { lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6 } from "node:net";
import { RigbridgeError } from "../contract/problems.ts";
import { type LookupAll, lookupThrough } from "../link/forbidden-addresses.ts";
import { addressRefusal } from "./own-address.ts";

export interface WebRequestOptions {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** False: only the status is needed. */
  readonly isAnswerRead?: boolean;
  isOwnAddress(url: URL): boolean;
}

export interface WebReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** ms for the whole exchange, and bytes of an answer that are read. */
export const webRequestLimits = { answerMs: 10_000, bytes: 65_536 };

/**
 * One request to a web address, sent once, without redirects, and never to this service or a forbidden address, not even
 * through a name. Resolves for any status. Throws `service.unreachable` if nothing was sent, and `service.garbled` if it was
 * sent but the answer is missing or too long. Errors name only the host, since the rest may contain a secret.
 */
export async function sendWebRequest(url: string, { signal, ...request }: WebRequestOptions): Promise<WebReply> {
  const target = new URL(url);
  const at = target.host;
  if (addressRefusal(target, request.isOwnAddress) !== null) throw forbidden(at);
  const deadline = AbortSignal.timeout(webRequestLimits.answerMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const progress = { isConnected: false };
  try {
    return await exchange(target, request, either, progress);
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    // Without the cause: Node's message may quote the request.
    if (codeIn(error) === "EFORBIDDEN") throw forbidden(at);
    const code = progress.isConnected ? "service.garbled" : "service.unreachable";
    if (deadline.aborted) throw new RigbridgeError(code, `${at} does not answer in time`);
    const what = progress.isConnected ? "received the request but did not answer" : "cannot be reached";
    throw new RigbridgeError(code, `${at} ${what}${why(error)}`);
  }
}

function exchange(
  target: URL,
  { method, headers = {}, body, isAnswerRead = true, isOwnAddress }: Omit<WebRequestOptions, "signal">,
  signal: AbortSignal,
  progress: { isConnected: boolean },
): Promise<WebReply> {
  const isSecure = target.protocol === "https:";
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(target, {
      ...{ method, signal, lookup: lookupThrough(elsewhere(target, isOwnAddress)), agent: false },
      headers: { "user-agent": "Rigbridge", accept: "*/*", ...headers, ...length, connection: "close" },
    });
    request.on("error", reject);
    request.on("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        progress.isConnected = true;
      });
    });
    request.on("response", (response) => {
      const reply = { status: response.statusCode ?? 0, headers: plainHeaders(response) };
      if (isAnswerRead) textOf(response, target.host).then((text) => resolve({ ...reply, body: text }), reject);
      else {
        response.destroy();
        resolve({ ...reply, body: "" });
      }
    });
    request.end(body);
  });
}

/** The system's resolver without the addresses of this service. */
const elsewhere =
  ({ protocol, port }: URL, isOwnAddress: (url: URL) => boolean): LookupAll =>
  (name, options, callback) => {
    lookup(name, options, (error, found) => {
      const isOther = (address: string): boolean => {
        const host = isIPv6(address) ? `[${address}]` : address;
        return !isOwnAddress(new URL(`${protocol}//${host}${port === "" ? "" : `:${port}`}`));
      };
      callback(error, error === null ? found.filter(({ address }) => isOther(address)) : []);
    });
  };

async function textOf(response: IncomingMessage, at: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > webRequestLimits.bytes) {
      response.destroy();
      throw new RigbridgeError("service.garbled", `${at} answers with more than ${webRequestLimits.bytes / 1024} KB`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const plainHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const forbidden = (at: string): RigbridgeError =>
  new RigbridgeError("service.unreachable", `${at} is an address to which nothing is sent`);

const codeIn = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: ": nothing listens there",
  ENOTFOUND: ": the name is unknown",
  EAI_AGAIN: ": the name cannot be resolved now",
  ECONNRESET: ": the connection broke off",
  EHOSTUNREACH: ": there is no route to it",
  ENETUNREACH: ": there is no route to it",
};

const why = (error: unknown): string => {
  const code = codeIn(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return ": its certificate is not trusted";
  return reasons[code] ?? "";
};
