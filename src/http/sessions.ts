import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { KeyHolder } from "../contract/service.ts";
import type { SessionLog, SessionRow } from "../contract/session.ts";
import { derived } from "./derived.ts";
import { digestOn, isSameDigest, keyDigest } from "./keys.ts";

const day = 86_400_000;
/** ms after which a session ends: since it was opened, and since it was last used. */
const longestMs = 30 * day;
const longestIdleMs = 7 * day;
/** ms between two writes of a session's last use. */
const noteUseMs = 3_600_000;
/** Maximum cookies of a request that are checked: a browser may have many from other programs on the same host. */
const mostCookies = 100;
/** Sessions of one user, and of the owner; the one that was unused the longest ends. */
const sessionsEach = 20;

/** The client of a session: a user, or the owner of the service's own key. */
export interface SessionClient {
  readonly holder?: KeyHolder;
  readonly isOwner?: true;
  readonly session: SessionRow;
}

interface SessionOptions {
  /** Absent: sessions end with the process. */
  readonly stored?: SessionLog | undefined;
  /** The user whose key has this digest. */
  readonly keyHolder: (digest: string) => KeyHolder | undefined;
  /** The service's own key, which may change. */
  readonly ownKey: () => string | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** Called when a session could not be stored; it is valid until the process ends. */
  readonly unstored: (error: unknown) => void;
}

/**
 * The sessions of browsers. A session is valid only as long as the key that opened it is the key of the same user, so
 * it ends with the key and with the user.
 */
export class Sessions {
  readonly #options: SessionOptions;
  readonly #ownKey: () => string | undefined;
  readonly #rows: Map<string, SessionRow>;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#ownKey = derived(options.ownKey, (key) => (key === undefined ? undefined : keyDigest(key)));
    this.#rows = new Map((options.stored?.all() ?? []).map((row) => [row.digest, row]));
    void this.#remove(this.#ended());
  }

  /** Opens a session for a client that has just presented this key; returns its id, which is not stored. */
  async open(userId: number | null, key: string): Promise<{ readonly id: string; readonly session: SessionRow }> {
    const now = this.#options.now();
    const ofUser = [...this.#rows.values()].filter((row) => row.userId === userId).sort((a, b) => a.used - b.used);
    const surplus = ofUser.slice(0, Math.max(0, ofUser.length - sessionsEach + 1)).map(({ digest }) => digest);
    await this.#remove([...surplus, ...this.#ended()]);
    const id = randomBytes(32).toString("base64url");
    const session = { digest: keyDigest(id), userId, keyDigest: keyDigest(key), created: now, used: now };
    await this.#save(session);
    return { id, session };
  }

  /**
   * The client of a session; undefined if it has ended or is unknown. Counts as a use. An ended session is removed, so
   * that it does not return with a key that is set again.
   */
  use(digest: string): SessionClient | undefined {
    const row = this.#rows.get(digest);
    if (row === undefined) return undefined;
    const client = this.#clientOf(row);
    const now = this.#options.now();
    if (client === undefined) void this.#remove([digest]);
    else if (now - row.used >= noteUseMs) void this.#save({ ...row, used: now });
    return client;
  }

  async end(digest: string): Promise<void> {
    if (this.#rows.has(digest)) await this.#remove([digest]);
  }

  /** The digest of the session in a request. */
  digestIn(request: FastifyRequest): string | undefined {
    const { cookie } = request.headers;
    if (cookie === undefined) return undefined;
    const start = `${this.#cookieName(request)}=`;
    const own = cookie.split(";", mostCookies).find((each) => each.trimStart().startsWith(start));
    const id = own?.trim().slice(start.length) ?? "";
    return id === "" ? undefined : digestOn(request.socket, id);
  }

  /**
   * The header that gives a browser a session, or removes it (`null`). Without Path it belongs to the folder of
   * /api/session, below any prefix of a proxy.
   */
  cookie(request: FastifyRequest, id: string | null): string {
    const age = id === null ? 0 : longestMs / 1000;
    const secure = request.protocol === "https" ? "; Secure" : "";
    return `${this.#cookieName(request)}=${id ?? ""}; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`;
  }

  /**
   * Cookies of one host are shared by all its ports, so each store has a name of its own. Services that share a store share
   * its sessions too.
   */
  #cookieName({ socket }: FastifyRequest): string {
    return `rigbridge-${this.#options.stored?.store.slice(0, 12) ?? socket.localPort ?? 0}`;
  }

  #clientOf(session: SessionRow): SessionClient | undefined {
    const { keyHolder, now } = this.#options;
    if (now() >= endOf(session)) return undefined;
    const holder = keyHolder(session.keyDigest);
    // As with keys, a user's takes precedence.
    if (holder !== undefined) return holder.id === session.userId ? { holder, session } : undefined;
    const ownKey = this.#ownKey();
    const isOwner = session.userId === null && ownKey !== undefined && isSameDigest(session.keyDigest, ownKey);
    return isOwner ? { isOwner, session } : undefined;
  }

  #ended(): string[] {
    return [...this.#rows.values()].filter((row) => this.#clientOf(row) === undefined).map(({ digest }) => digest);
  }

  async #save(row: SessionRow): Promise<void> {
    this.#rows.set(row.digest, row);
    await this.#stored(({ save }) => save(row));
  }

  async #remove(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return;
    for (const digest of digests) this.#rows.delete(digest);
    await this.#stored(({ remove }) => remove(digests));
  }

  /** Never rejects: logging in works on a full disk, too. */
  async #stored(write: (log: SessionLog) => Promise<void>): Promise<void> {
    try {
      if (this.#options.stored !== undefined) await write(this.#options.stored);
    } catch (error) {
      this.#options.unstored(error);
    }
  }
}

/** Epoch ms. */
export const endOf = ({ created, used }: SessionRow): number => Math.min(created + longestMs, used + longestIdleMs);
