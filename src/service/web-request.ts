import { type LookupAddress, lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { RigbridgeError } from "../contract/problems.ts";
import { isForbidden, type LookupAll } from "../link/forbidden-addresses.ts";

export interface WebRequestOptions {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** False: only the status is needed. */
  readonly isAnswerRead?: boolean;
}

export interface WebReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A checked web address, with the addresses for which the check holds. */
export interface WebTarget {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
}

export interface TargetOptions {
  /** Why nothing may be sent to these addresses of the host; null if allowed. */
  refusal(url: URL, addresses: readonly string[]): Promise<string | null>;
  readonly signal?: AbortSignal | undefined;
  readonly resolve?: LookupAll;
}

/** ms to resolve a name, ms for the whole exchange, and bytes of an answer that are read. */
export const webRequestLimits = { resolveMs: 5_000, answerMs: 10_000, bytes: 65_536 };

/**
 * Resolves and checks a web address. The request then goes to the checked addresses, even if the name changes. Throws
 * `service.unreachable` if nothing may be sent there, not even by name.
 */
export async function checkedTarget(
  address: string,
  { refusal, signal, resolve = lookup }: TargetOptions,
): Promise<WebTarget> {
  const url = new URL(address);
  const at = url.host;
  const deadline = AbortSignal.timeout(webRequestLimits.resolveMs);
  const found = await addressesOf(url, resolve, signal === undefined ? deadline : AbortSignal.any([signal, deadline]));
  const addresses = found.filter((each) => !isForbidden(each.address));
  if (addresses.length === 0) throw new RigbridgeError("service.unreachable", `${at} ${nothingSent}`);
  const why = await refusal(
    url,
    addresses.map((each) => each.address),
  );
  if (why !== null) throw new RigbridgeError("service.unreachable", `${at} ${why}`);
  return { url, addresses };
}

/** Throws `service.unreachable`. */
async function addressesOf(
  { hostname, host: at }: URL,
  resolve: LookupAll,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return await new Promise<readonly LookupAddress[]>((done, fail) => {
      signal.throwIfAborted();
      signal.addEventListener("abort", () => fail(signal.reason), { once: true });
      resolve(host, { all: true }, (error, found) => (error === null ? done(found) : fail(error)));
    });
  } catch (error) {
    const what = signal.aborted ? "cannot be resolved in time" : `cannot be reached${why(error)}`;
    throw new RigbridgeError("service.unreachable", `${at} ${what}`);
  }
}

/**
 * One request to a web address, sent once and without redirects. Resolves for any status. Throws `service.unreachable`
 * if nothing was sent, and `service.garbled` if it was sent but the answer is missing or too long. Errors name only the
 * host, because the rest may contain a secret.
 */
export async function sendWebRequest(target: WebTarget, { signal, ...request }: WebRequestOptions): Promise<WebReply> {
  const at = target.url.host;
  const deadline = AbortSignal.timeout(webRequestLimits.answerMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const progress = { isConnected: false };
  try {
    return await exchange(target, request, either, progress);
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    // Without the cause: Node's message may quote the request.
    const code = progress.isConnected ? "service.garbled" : "service.unreachable";
    if (deadline.aborted) throw new RigbridgeError(code, `${at} does not answer in time`);
    const what = progress.isConnected ? "received the request but did not answer" : "cannot be reached";
    throw new RigbridgeError(code, `${at} ${what}${why(error)}`);
  }
}

function exchange(
  { url, addresses }: WebTarget,
  { method, headers = {}, body, isAnswerRead = true }: Omit<WebRequestOptions, "signal">,
  signal: AbortSignal,
  progress: { isConnected: boolean },
): Promise<WebReply> {
  const isSecure = url.protocol === "https:";
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, {
      method,
      signal,
      lookup: always(addresses),
      agent: false,
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
      if (isAnswerRead) textOf(response, url.host).then((text) => resolve({ ...reply, body: text }), reject);
      else {
        response.destroy();
        resolve({ ...reply, body: "" });
      }
    });
    request.end(body);
  });
}

/** A resolver with a fixed answer. */
const always =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_name, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
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

const nothingSent = "is an address to which nothing is sent";

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
