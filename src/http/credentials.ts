import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import type { QueryText } from "../contract/decode.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { KeyHolder, MiningService } from "../contract/service.ts";
import type { SessionRow } from "../contract/session.ts";
import { detail } from "../messages/detail.ts";
import { derived } from "./derived.ts";
import { digestOn, isSameDigest, keyCheck, keyDigest, keyWindow, wrongTries } from "./keys.ts";
import { isSession, pathOf } from "./paths.ts";
import { type Peer, reads, siteRule, within } from "./peer.ts";
import { privateNetworks } from "./security.ts";
import type { Sessions } from "./sessions.ts";
import type { OwnCentre } from "./site-connections.ts";

/** The client that a request comes from. */
export interface Admitted {
  /** The user whose API key or session came with it. */
  readonly holder?: KeyHolder | undefined;
  /** The service's own key came with it, or a session that was opened with that key. */
  readonly isOwner?: true;
  readonly session?: SessionRow;
  /** SHA-256 in hex of the token of a host's agent, which came with it. */
  readonly agent?: string;
  /** The same of the token of a site that connects by itself. */
  readonly site?: string;
  /** The request comes from the centre that this service has connected to. */
  readonly centre?: OwnCentre;
  /** Admitted only by `keylessRead`, and therefore limited to the privilege view. */
  readonly isKeyless?: true;
}

const owner: Admitted = { isOwner: true };
export const guest: Admitted = { isKeyless: true };
export const anyone: Admitted = {};

export type KeyHolders = Pick<MiningService, "keyHolder" | "hookDigest" | "knowsAgent" | "knowsSite">;

/** Recognises clients by their credentials. Everything throws `key.missing`, `key.wrong` or `too.many`. */
export interface Credentials {
  /** By the key of a request, else by its session, which may have ended (`session.ended`). */
  client(request: FastifyRequest, peer: Peer, query: QueryText, reply: FastifyReply): Admitted;
  /** By the key with which a session is opened. */
  login(key: string, peer: Peer, reply: FastifyReply): Admitted;
  /** By the secret of this web hook. */
  hook(name: string, request: FastifyRequest, peer: Peer, reply: FastifyReply): Admitted;
  /** By the token of a host's agent. */
  agent(request: FastifyRequest, peer: Peer, reply: FastifyReply): Admitted;
  /** By the token of a site. */
  site(request: FastifyRequest, peer: Peer, reply: FastifyReply): Admitted;
}

/** Users' keys come first: if the service's key is ever the same, it grants no more than that user's. */
export function credentials(settings: HttpSettings, users: KeyHolders, sessions: Sessions): Credentials {
  const wrong = wrongTries();
  const { isOfOwnPage } = siteRule(settings);
  const check = derived(
    () => settings.key,
    (key) => (key === undefined ? undefined : keyCheck(key, Date.now, wrong)),
  );
  /** `refusal`, unless too many wrong keys, secrets and cookies have come from this address. */
  const counted = ({ address }: Peer, reply: FastifyReply, refusal: RigbridgeError): RigbridgeError =>
    wrong(address) === "limited" ? limited(reply) : refusal;

  /** Undefined if the service needs no key and it is not a user's. */
  const byKey = (digest: string, { address }: Peer, reply: FastifyReply): Admitted | undefined => {
    const holder = users.keyHolder?.(digest);
    if (holder !== undefined) return { holder };
    const verdict = check()?.verdict(digest, address);
    if (verdict === undefined) return undefined;
    if (verdict === "right") return owner;
    throw verdict === "limited" ? limited(reply) : wrongKey();
  };

  const bySession = (request: FastifyRequest, peer: Peer, reply: FastifyReply): Admitted | undefined => {
    if (request.headers.cookie === undefined || !isOfOwnPage(request)) return undefined;
    const digest = sessions.digestIn(request);
    if (digest === undefined) return undefined;
    const client = sessions.use(digest);
    if (client !== undefined || check() === undefined) return client;
    // The path that the cookie belongs to.
    if (isSession(pathOf(request.url))) reply.header("set-cookie", sessions.cookie(request, null));
    throw counted(peer, reply, new RigbridgeError("session.ended", detail("rights.session")));
  };

  return {
    client: (request, peer, query, reply) => {
      const presented = presentedKey(request, query);
      if (presented) return byKey(digestOn(request.socket, presented), peer, reply) ?? anyone;
      const client = bySession(request, peer, reply);
      if (client !== undefined) return client;
      if (check() === undefined) return anyone;
      if (settings.keylessRead && reads(request) && within(peer, privateNetworks)) return guest;
      throw new RigbridgeError("key.missing", "Send the API key as query parameter key or as header X-API-Key");
    },
    login: (key, peer, reply) => {
      const admitted = byKey(keyDigest(key), peer, reply);
      if (admitted === undefined) throw counted(peer, reply, wrongKey());
      return admitted;
    },
    hook: (name, request, peer, reply) => {
      const digest = users.hookDigest?.(name);
      const secret = request.headers["x-hook-secret"];
      const given = typeof secret === "string" && secret !== "" ? keyDigest(secret) : undefined;
      if (given === undefined)
        throw new RigbridgeError("key.missing", "Send the web hook's secret as header X-Hook-Secret");
      // Compared for an unknown hook too, so that both take the same time.
      if (isSameDigest(given, digest ?? keyDigest("")) && digest !== undefined) return guest;
      throw counted(peer, reply, new RigbridgeError("key.wrong", "There is no web hook with this name and secret"));
    },
    agent: (request, peer, reply) => {
      const agent = keyDigest(bearerToken(request, "agent"));
      if (users.knowsAgent?.(agent) === true) return { agent };
      throw counted(peer, reply, new RigbridgeError("key.wrong", "No host has this token; it may have been revoked"));
    },
    site: (request, peer, reply) => {
      const site = keyDigest(bearerToken(request, "site"));
      if (users.knowsSite?.(site) === true) return { site };
      throw counted(peer, reply, new RigbridgeError("key.wrong", "No site has this token; it may have been revoked"));
    },
  };
}

/** Throws `key.missing`. */
function bearerToken({ headers }: FastifyRequest, whose: "agent" | "site"): string {
  const [, token] = /^Bearer ([!-~]{1,200})$/i.exec(headers.authorization ?? "") ?? [];
  if (token !== undefined) return token;
  throw new RigbridgeError("key.missing", `Send the ${whose}'s token as header Authorization: Bearer <token>`);
}

const wrongKey = () => new RigbridgeError("key.wrong", detail("rights.key"));

function limited(reply: FastifyReply): RigbridgeError {
  reply.header("retry-after", String(keyWindow));
  return new RigbridgeError("too.many", detail("rights.keys"));
}

/** The key from the query, else from the header. Throws `input.invalid` if it is given twice or malformed. */
export function presentedKey(request: FastifyRequest, query: QueryText): string | undefined {
  const flaw = query.repeated.has("key")
    ? "is given more than once"
    : query.broken.has("key")
      ? "has a broken percent-escape"
      : undefined;
  if (flaw !== undefined)
    throw new RigbridgeError("input.invalid", `key: ${flaw}`, { errors: [{ path: "key", message: flaw }] });
  const header = request.headers["x-api-key"];
  return query.values.get("key") ?? (typeof header === "string" ? header : undefined);
}
