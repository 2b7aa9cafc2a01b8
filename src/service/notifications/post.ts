import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { RigbridgeError } from "../../contract/problems.ts";
import { isForbidden, rigLookup } from "../../link/forbidden-addresses.ts";

export interface PostRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PostReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** ms for the whole exchange, and bytes of an answer that are read. */
export const postLimits = { answerMs: 10_000, bytes: 65_536 };

/**
 * One request to a web address, sent once, without redirects, never to a forbidden address. Resolves for any status.
 * Throws `service.unreachable` and `service.garbled`, naming the host alone: all else may hold a secret.
 */
export async function post(url: string, { signal, ...request }: PostRequest): Promise<PostReply> {
  const target = new URL(url);
  const at = target.host;
  const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(host) !== 0 && isForbidden(host)) throw forbidden(at);
  const deadline = AbortSignal.timeout(postLimits.answerMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    return await exchange(target, request, either, at);
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    // Without the cause: Node's message may quote the request.
    if (isForbiddenError(error)) throw forbidden(at);
    throw new RigbridgeError(
      "service.unreachable",
      deadline.aborted ? `${at} does not answer in time` : `${at} cannot be reached${why(error)}`,
    );
  }
}

function exchange(
  target: URL,
  { method, headers = {}, body }: Omit<PostRequest, "signal">,
  signal: AbortSignal,
  at: string,
): Promise<PostReply> {
  const open = target.protocol === "https:" ? httpsRequest : httpRequest;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = open(target, {
      ...{ method, signal, lookup: rigLookup, agent: false },
      headers: { "user-agent": "Rigbridge", accept: "*/*", ...headers, ...length, connection: "close" },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      textOf(response, at).then((text) => {
        resolve({ status: response.statusCode ?? 0, headers: plainHeaders(response), body: text });
      }, reject);
    });
    request.end(body);
  });
}

async function textOf(response: IncomingMessage, at: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > postLimits.bytes) {
      response.destroy();
      throw new RigbridgeError("service.garbled", `${at} answers with more than ${postLimits.bytes / 1024} KB`);
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

const isForbiddenError = (error: unknown): boolean => codeIn(error) === "EFORBIDDEN";

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: ": nothing listens there",
  ENOTFOUND: ": the name is not known",
  EAI_AGAIN: ": the name cannot be looked up now",
  ECONNRESET: ": the connection broke off",
  EHOSTUNREACH: ": there is no way to it",
  ENETUNREACH: ": there is no way to it",
};

const why = (error: unknown): string => {
  const code = codeIn(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return ": its certificate is not trusted";
  return reasons[code] ?? "";
};
