import type { FastifyRequest } from "fastify";
import { type AddressSet, crossSite } from "./security.ts";

/** The machine that a request comes from. */
export interface Peer {
  readonly address: string;
  /** Forwarded by a proxy that is not trusted: the client's address is unknown. */
  readonly hidden: boolean;
}

export function peerOf(request: FastifyRequest, proxies: AddressSet): Peer {
  const forwardedFor = request.headers["x-forwarded-for"] !== undefined;
  const forwarded = request.headers.forwarded !== undefined;
  const trusted = (forwardedFor || forwarded) && proxies.has(request.socket.remoteAddress ?? "");
  return { address: request.ip ?? "", hidden: trusted ? !forwardedFor : forwardedFor || forwarded };
}

export const within = (peer: Peer, set: AddressSet): boolean => !peer.hidden && set.has(peer.address);

export const reads = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** Whether a page of another site made a browser send this request. Other clients give no information about that. */
export function isCrossSite(request: FastifyRequest, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  const fetchSite = request.headers["sec-fetch-site"];
  const own = `${request.protocol}://${request.host}`;
  return crossSite({ origin, fetchSite: typeof fetchSite === "string" ? fetchSite : undefined, own }, origins);
}

/**
 * Whether a request certainly comes from the service's own pages, or from listed ones, so that its cookie counts.
 * Browsers send Origin with every write, and nothing with a read of the same site over plain HTTP.
 */
export function isOfOwnPage(request: FastifyRequest, origins: readonly string[]): boolean {
  const { origin, "sec-fetch-site": fetchSite } = request.headers;
  if (origin === undefined && fetchSite === undefined) return reads(request);
  return !isCrossSite(request, origins);
}
