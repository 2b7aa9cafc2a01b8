import { randomBytes } from "node:crypto";
import { isIPv4 } from "node:net";
import type { MulticastDNS } from "multicast-dns";
import type { Logger } from "pino";
import { isPrivateAddress } from "../link/networks.ts";
import { mdnsPort, openMulticast, reasonOf } from "./mdns.ts";
import { networkAddresses } from "./own-machine.ts";
import { type AnnouncedEndpoint, asksFor, recordsOf } from "./records.ts";

export interface AnnounceOptions {
  /** The server's listening address. */
  readonly address: { readonly host: string; readonly port: number };
  readonly version: string;
  readonly log: Pick<Logger, "warn">;
  /** Own private addresses, one for each interface; read again at each check. Default: this machine's. */
  readonly interfaces?: () => readonly string[];
  /** Default: a minute. */
  readonly recheckMs?: number;
  /** Default: 5353. */
  readonly udpPort?: number;
  /** Monotonic ms. */
  readonly now?: () => number;
}

export interface AnnouncedService {
  /** Withdraws the announcement. Never rejects. */
  close(): Promise<void>;
}

/**
 * Announces a Rigbridge by multicast DNS as `_rigbridge._tcp` on every private network that its server listens on,
 * until closed; networks may come and go in the meantime. A server on loopback is not announced. Never rejects: if mDNS
 * cannot be used on an interface, the log reports it once.
 */
export async function announceService(options: AnnounceOptions): Promise<AnnouncedService> {
  const announcer = new Announcer(options);
  await announcer.start();
  return announcer;
}

/** The own addresses at which a server that listens on `host` can be reached from the network. */
export function announcedAddresses(host: string, own: readonly string[]): readonly string[] {
  if (host === "0.0.0.0" || host === "::") return own;
  return isIPv4(host) && isPrivateAddress(host) && !host.startsWith("127.") ? [host] : [];
}

/** Between the announcement and its repetition, and the minimum between two answers (RFC 6762, 8.3 and 6). */
const repeatMs = 1_000;

class Announcer implements AnnouncedService {
  readonly #options: AnnounceOptions;
  readonly #id = randomBytes(4).toString("hex");
  /** By address of the interface. */
  readonly #announcers = new Map<string, InterfaceAnnouncer>();
  /** Interfaces with a warning in the log. */
  readonly #warned = new Set<string>();
  /** The check of the interfaces under way, or the last one. */
  #checking: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AnnounceOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const check = (): void => {
      this.#checking = this.#checking.then(() => this.#checkInterfaces());
    };
    check();
    this.#timer = setInterval(check, this.#options.recheckMs ?? 60_000).unref();
    await this.#checking;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#checking;
    await Promise.all([...this.#announcers.values()].map((announcer) => announcer.close()));
  }

  async #checkInterfaces(): Promise<void> {
    const { address, interfaces = networkAddresses } = this.#options;
    const wanted = new Set(announcedAddresses(address.host, interfaces()));
    for (const [own, announcer] of this.#announcers) {
      if (wanted.has(own)) continue;
      this.#announcers.delete(own);
      await announcer.close();
    }
    for (const own of wanted) if (!this.#announcers.has(own)) await this.#announceOn(own);
  }

  async #announceOn(own: string): Promise<void> {
    const { address, version, udpPort = mdnsPort, now = () => performance.now(), log } = this.#options;
    try {
      const mdns = await openMulticast(own, udpPort);
      const endpoint = { id: this.#id, address: own, port: address.port, version };
      this.#announcers.set(own, new InterfaceAnnouncer(mdns, endpoint, now));
    } catch (error) {
      if (!this.#warned.has(own)) log.warn(`This service is not announced on ${own}: ${reasonOf(error)}`);
      this.#warned.add(own);
    }
  }
}

/** The announcement on one interface: sent twice, then as the answer to each query, and withdrawn at the end. */
class InterfaceAnnouncer {
  readonly #mdns: MulticastDNS;
  readonly #endpoint: AnnouncedEndpoint;
  readonly #repetition: NodeJS.Timeout;

  constructor(mdns: MulticastDNS, endpoint: AnnouncedEndpoint, now: () => number) {
    this.#mdns = mdns;
    this.#endpoint = endpoint;
    let answeredAt = Number.NEGATIVE_INFINITY;
    mdns.on("query", ({ questions }) => {
      if (now() - answeredAt < repeatMs || !asksFor(questions, endpoint)) return;
      answeredAt = now();
      mdns.respond(recordsOf(endpoint));
    });
    mdns.respond(recordsOf(endpoint));
    this.#repetition = setTimeout(() => mdns.respond(recordsOf(endpoint)), repeatMs).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#repetition);
    // Sent or not, nothing more can be done.
    await new Promise<void>((resolve) => this.#mdns.respond(recordsOf(this.#endpoint, 0), () => resolve()));
    await new Promise<void>((resolve) => this.#mdns.destroy(resolve));
  }
}
