import { lookup } from "node:dns";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIPv6 } from "node:net";
import { RigbridgeError } from "../../contract/problems.ts";
import { type LookupAll, lookupThrough } from "../../link/forbidden-addresses.ts";
import type { WebRequest } from "./effects.ts";

/** ms for the whole answer. */
const answerMs = 10_000;

/**
 * Sends one request, without redirects or repeats; resolves with the status. Throws `service.unreachable`,
 * `service.refused`, or `service.garbled` for a server that got it and did not answer. Messages name the host alone: the
 * rest of the address may hold a key. A name that leads to this service, or where nothing is ever sent, is not found.
 */
export function sendWebHook(
  { url, method, headers, body }: WebRequest,
  isOwnAddress: (url: URL) => boolean,
  closing: AbortSignal,
): Promise<string> {
  const target = new URL(url);
  const { host } = target;
  const type = /^\s*[[{]/.test(body ?? "") ? "application/json" : "text/plain; charset=utf-8";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (code: "service.unreachable" | "service.refused" | "service.garbled", why: string): void =>
    reject(new RigbridgeError(code, `${host} ${why}`));
  let isConnected = false;
  const request = (target.protocol === "https:" ? requestHttps : requestHttp)(target, {
    method,
    headers: { ...(body === null ? {} : { "content-type": type }), ...headers },
    agent: false,
    lookup: lookupThrough(elsewhere(target, isOwnAddress)),
    signal: AbortSignal.any([closing, AbortSignal.timeout(answerMs)]),
  });
  request.on("socket", (socket) => {
    socket.once(target.protocol === "https:" ? "secureConnect" : "connect", () => {
      isConnected = true;
    });
  });
  request.on("response", (response) => {
    const { statusCode = 0 } = response;
    response.destroy();
    if (statusCode >= 200 && statusCode < 300) resolve(`${host} answered ${statusCode}`);
    else fail("service.refused", `answered ${statusCode}`);
  });
  request.on("error", () => {
    if (isConnected) fail("service.garbled", "was sent the request and did not answer it");
    else fail("service.unreachable", "cannot be reached");
  });
  request.end(body ?? undefined);
  return promise;
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
