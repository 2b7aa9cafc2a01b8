import type { IncomingMessage } from "node:http";
import { hostname } from "node:os";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import type { QueryText } from "../contract/decode.ts";
import { idempotencyHeader, replayedHeader } from "../contract/idempotency.ts";
import { ignoredKeysName } from "../contract/ignored-keys.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { KeyHolder } from "../contract/service.ts";
import { type Admitted, anyone, type Credentials, guest } from "./credentials.ts";
import { derived } from "./derived.ts";
import { isForBrowser } from "./pages.ts";
import { hookIn, isOfAgents, isOfSites, isOpen, isSession, isStream, pathOf } from "./paths.ts";
import { ingressRule, type Peer, peerOf, reads, siteRule, trustedProxies, within } from "./peer.ts";
import { hostAllowed, hostName, loopback, privateNetworks, targetHost } from "./security.ts";
import { centreBehind, type OwnCentre } from "./site-connections.ts";
import { bytesPerWrite, type WriteLimits, writeRateLimit } from "./write-rate-limit.ts";

/** Who may send a request. Everything throws the problem if the client is refused, and sets the matching headers. */
export interface Admission {
  /** Identifies the client of a request. */
  admit(request: FastifyRequest, query: QueryText, reply: FastifyReply): Admitted;
  /** Identifies the client that opens a session with this key. */
  login(request: FastifyRequest, reply: FastifyReply, key: string): Admitted;
}

export function admission(settings: HttpSettings, client: Credentials, limits: WriteLimits): Admission {
  const proxies = trustedProxies(settings);
  const isIngress = ingressRule(settings);
  const names = derived(
    () => settings.hosts,
    (hosts) => ownNames([settings.host, ...hosts]),
  );
  const address = addressRule(settings);
  const origin = originRule(settings);
  const writes = writeRule(limits);
  const identify = (request: FastifyRequest, path: string, peer: Peer, query: QueryText, reply: FastifyReply) => {
    if (reads(request)) return client.client(request, peer, query, reply);
    const hook = request.method === "POST" ? hookIn(path) : undefined;
    if (hook !== undefined) return client.hook(hook, request, peer, reply);
    // A session is opened by the key in its body, and ended by its cookie.
    return isSession(path) ? anyone : client.client(request, peer, query, reply);
  };

  const limitWrites = (writer: string, request: FastifyRequest, reply: FastifyReply): void => {
    if (reads(request)) return;
    writes.request(writer, reply);
    request.chargeForBody = (bytes) => writes.body(writer, reply, bytes);
  };
  /** It was admitted with its connection, over which no browser and no other machine comes. */
  const fromCentre = (centre: OwnCentre, request: FastifyRequest, reply: FastifyReply): Admitted => {
    limitWrites("the centre", request, reply);
    return { centre };
  };

  return {
    admit: (request, query, reply) => {
      checkFraming(request.raw);
      const path = pathOf(request.url);
      const centre = centreBehind(request.raw.socket);
      // A web hook needs its secret, whoever calls it.
      if (centre !== undefined && hookIn(path) === undefined) return fromCentre(centre, request, reply);
      // Opened under any of Home Assistant's names; a name that an attacker controls has none of its sessions.
      if (!isIngress(request)) checkHost(request, names());
      const peer = peerOf(request, proxies());
      const isGuest = address(request, peer);
      origin(request, reply, path);
      // A preflight never carries a key.
      if (request.method === "OPTIONS" || isOpen(path) || isForBrowser(request)) return guest;
      if (isOfAgents(path)) return client.agent(request, peer, reply);
      if (isOfSites(path)) return client.site(request, peer, reply);
      const admitted = identify(request, path, peer, query, reply);
      limitWrites(clientOf(admitted.holder, peer), request, reply);
      return isGuest && admitted.holder === undefined ? guest : admitted;
    },
    login: (request, reply, key) => client.login(key, peerOf(request, proxies()), reply),
  };
}

const malformed = (message: string): RigbridgeError => new RigbridgeError("input.invalid", message);

/** Headers that may be given only once; Node would use the first, or join them. */
const single: ReadonlySet<string> = new Set([
  "host",
  "origin",
  "sec-fetch-site",
  "x-api-key",
  "content-type",
  "x-hook-secret",
  "authorization",
  idempotencyHeader.toLowerCase(),
]);

/**
 * Refuses requests that a proxy in front of this server could parse differently, in addition to what Node refuses.
 * Throws `input.invalid`.
 */
function checkFraming({ httpVersion, rawHeaders, headers }: IncomingMessage): void {
  const coding = headers["transfer-encoding"];
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw malformed("This is not HTTP/1.1");
  if (coding !== undefined && httpVersion === "1.0") throw malformed("HTTP/1.0 does not support Transfer-Encoding");
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw malformed("The only supported Transfer-Encoding is chunked");
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!single.has(name)) continue;
    if (seen.has(name)) throw malformed(`The header ${name} is given more than once`);
    seen.add(name);
  }
}

/** The host name with and without its domain, with `.local`, and the names of the configuration. */
function ownNames(given: readonly string[]): readonly string[] {
  const own = hostname().toLowerCase();
  const [short = own] = own.split(".", 1);
  const names = [own, short, `${short}.local`, ...given];
  return names.flatMap((name) => hostName(name) ?? []);
}

function checkHost(request: FastifyRequest, names: readonly string[]): void {
  const { host } = request;
  if (host === "") {
    if (request.raw.httpVersion === "1.0") return;
    throw malformed("The request has no Host header");
  }
  const target = targetHost(request.url);
  const agreed = target === undefined || hostName(target) === hostName(host);
  if (!agreed || !hostAllowed(host, names) || (target !== undefined && !hostAllowed(target, names)))
    throw new RigbridgeError(
      "host.unknown",
      "The host name of this request is not allowed; use an IP address, or add the name to http.hosts",
    );
}

/** Without a key only this machine and Home Assistant's ingress are served; true for a client that `keylessRead` admits. */
function addressRule(settings: HttpSettings): (request: FastifyRequest, peer: Peer) => boolean {
  const isIngress = ingressRule(settings);
  return (request, peer) => {
    if (settings.key !== undefined || settings.open || within(peer, loopback) || isIngress(request)) return false;
    if (settings.keylessRead && reads(request) && within(peer, privateNetworks)) return true;
    throw new RigbridgeError(
      "address.forbidden",
      "Without an API key only this machine is served. Set http.key in the configuration, or http.open: true to admit every client",
    );
  };
}

interface WriteRule {
  /** Throws `too.many` if a client has sent too many writes. */
  request(client: string, reply: FastifyReply): void;
  /** The same for bytes of the body of an admitted request. */
  body(client: string, reply: FastifyReply, bytes: number): void;
}

function writeRule(limits: WriteLimits): WriteRule {
  const rate = writeRateLimit(limits);
  const refuse = (reply: FastifyReply, seconds: number, what: string): void => {
    if (seconds === 0) return;
    reply.header("retry-after", String(seconds));
    throw new RigbridgeError("too.many", `Too ${what} came at once; wait and try again`);
  };

  return {
    request: (client, reply) =>
      refuse(
        reply,
        rate.wait(client),
        "many requests that change something (POST /api/actions acts on many miners with one)",
      ),
    body: (client, reply, bytes) =>
      refuse(reply, rate.charge(client, bytes / bytesPerWrite), "many large requests that change something"),
  };
}

/** A user counts as one client from any address, since many users may share the address of a proxy. */
const clientOf = (holder: KeyHolder | undefined, { address }: Peer): string =>
  holder === undefined ? address : `user ${holder.id}`;

/**
 * Answers CORS, and refuses writes and streams that another site makes a browser send: actions have no body, so any page
 * could send one, and a page could hold streams open without reading them.
 */
function originRule(settings: HttpSettings): (request: FastifyRequest, reply: FastifyReply, path: string) => void {
  const { isCrossSite } = siteRule(settings);
  return (request, reply, path) => {
    const { origins } = settings;
    const { origin } = request.headers;
    if (origins.length > 0) reply.header("vary", "Origin, accept-encoding");
    if (origin === undefined && request.headers["sec-fetch-site"] === undefined) return;
    if (origin !== undefined && origins.includes(origin)) allow(request, reply, origin);
    const guarded = !reads(request) || isStream(path) || isOfAgents(path) || isOfSites(path);
    if (guarded && isCrossSite(request))
      throw new RigbridgeError(
        "request.cross-site",
        "A web page of another site sent this request; add its origin to http.origins to allow it",
      );
  };
}

function allow(request: FastifyRequest, reply: FastifyReply, origin: string): void {
  reply.headers({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": `ETag, Retry-After, Allow, ${ignoredKeysName}, ${replayedHeader}`,
  });
  if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined)
    reply.headers({
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": `Content-Type, X-API-Key, If-None-Match, Last-Event-ID, ${idempotencyHeader}`,
      "access-control-max-age": "600",
    });
}
