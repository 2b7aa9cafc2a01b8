import type { FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import { derived } from "./derived.ts";
import { type AddressSet, addressSet, crossSite } from "./security.ts";

/** The machine that a request comes from. */
export interface Peer {
  readonly address: string;
  /** Forwarded by a proxy that is not trusted: the client's address is unknown. */
  readonly hidden: boolean;
}

/** The proxies whose X-Forwarded headers are trusted. Home Assistant's ingress always sends these. */
export function trustedProxies(settings: HttpSettings): () => AddressSet {
  const listed = derived(() => settings.trustedProxies, addressSet);
  const ingress = ingressOf(settings);
  const both: AddressSet = { has: (address) => listed().has(address) || ingress().has(address) };
  return () => both;
}

const ingressOf = (settings: HttpSettings): (() => AddressSet) =>
  derived(
    () => settings.ingress,
    (address) => addressSet(address === undefined ? [] : [address]),
  );

/**
 * Whether a request comes through Home Assistant's ingress, which has logged its user in. Decided by the address of the
 * connection, because any client can send the header; the header excludes the supervisor's own requests.
 */
export function ingressRule(settings: HttpSettings): (request: FastifyRequest) => boolean {
  const ingress = ingressOf(settings);
  return ({ headers, socket }) => headers["x-ingress-path"] !== undefined && ingress().has(socket.remoteAddress ?? "");
}

export function peerOf(request: FastifyRequest, proxies: AddressSet): Peer {
  const forwardedFor = request.headers["x-forwarded-for"] !== undefined;
  const forwarded = request.headers.forwarded !== undefined;
  const trusted = (forwardedFor || forwarded) && proxies.has(request.socket.remoteAddress ?? "");
  return { address: request.ip ?? "", hidden: trusted ? !forwardedFor : forwardedFor || forwarded };
}

export const within = (peer: Peer, set: AddressSet): boolean => !peer.hidden && set.has(peer.address);

export const reads = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

export interface SiteRule {
  /** Whether a page of another site made a browser send this request. Other clients give no information about that. */
  isCrossSite(request: FastifyRequest): boolean;
  /**
   * Whether a request certainly comes from the service's own pages, or from listed ones, so that its cookie counts.
   * Browsers send Origin with every write, and nothing with a read of the same site over plain HTTP.
   */
  isOfOwnPage(request: FastifyRequest): boolean;
}

export function siteRule(settings: HttpSettings): SiteRule {
  const isIngress = ingressRule(settings);
  const isCrossSite = (request: FastifyRequest): boolean => {
    const { origin, "sec-fetch-site": fetchSite } = request.headers;
    // Home Assistant is often behind a TLS proxy that does not say so.
    const isSecure = request.protocol === "https" || (origin?.startsWith("https://") === true && isIngress(request));
    const own = `${isSecure ? "https" : "http"}://${request.host}`;
    const given = typeof fetchSite === "string" ? fetchSite : undefined;
    return crossSite({ origin, fetchSite: given, own }, settings.origins);
  };
  return {
    isCrossSite,
    isOfOwnPage: (request) => {
      const { origin, "sec-fetch-site": fetchSite } = request.headers;
      if (origin === undefined && fetchSite === undefined) return reads(request);
      return !isCrossSite(request);
    },
  };
}
