import { randomBytes } from "node:crypto";
import { isIPv4 } from "node:net";
import type { MulticastDNS } from "multicast-dns";
import type { Logger } from "pino";
import { isPrivateAddress } from "../link/networks.ts";
import { mdnsPort, openMulticast, reasonOf } from "./mdns.ts";
import { networkAddresses } from "./own-machine.ts";
import { asksFor, type Offer, recordsOf } from "./records.ts";

export interface AnnounceOptions {
  /** Where the server listens. */
  readonly address: { readonly host: string; readonly port: number };
  readonly version: string;
  readonly log: Pick<Logger, "warn">;
  /** Own private addresses, one of each interface; looked at again every so often. The machine's, unless said. */
  readonly interfaces?: () => readonly string[];
  /** ms between two looks at them; a minute unless said. */
  readonly lookEvery?: number;
  /** UDP port; 5353 unless a test needs its own. */
  readonly udpPort?: number;
  /** ms that only grow. */
  readonly now?: () => number;
}

export interface Announcing {
  /** Takes the announcement back. Never rejects. */
  close(): Promise<void>;
}

/**
 * Announces a Rigbridge by multicast DNS as `_rigbridge._tcp`, on every private network that its server listens to, for
 * as long as it is not closed; networks may come and go meanwhile. A server on loopback is not announced. Never rejects:
 * where mDNS cannot be used, the log says so once.
 */
export async function announceService(options: AnnounceOptions): Promise<Announcing> {
  const announcer = new Announcer(options);
  await announcer.start();
  return announcer;
}

/** The own addresses under which a server that listens at `host` is reached from the network. */
export function reachedAt(host: string, own: readonly string[]): readonly string[] {
  if (host === "0.0.0.0" || host === "::") return own;
  return isIPv4(host) && isPrivateAddress(host) && !host.startsWith("127.") ? [host] : [];
}

/** ms between the first announcement and its repetition, and at least between two answers (RFC 6762, 8.3 and 6). */
const pause = 1_000;

class Announcer implements Announcing {
  readonly #options: AnnounceOptions;
  readonly #id = randomBytes(4).toString("hex");
  /** By the address of the interface. */
  readonly #voices = new Map<string, Voice>();
  /** Interfaces that the log was told of. */
  readonly #told = new Set<string>();
  /** The look at the interfaces that is under way, or was the last. */
  #look: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AnnounceOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const again = (): void => {
      this.#look = this.#look.then(() => this.#lookAtInterfaces());
    };
    again();
    this.#timer = setInterval(again, this.#options.lookEvery ?? 60_000).unref();
    await this.#look;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#look;
    await Promise.all([...this.#voices.values()].map((voice) => voice.close()));
  }

  async #lookAtInterfaces(): Promise<void> {
    const { address, interfaces = networkAddresses } = this.#options;
    const wanted = new Set(reachedAt(address.host, interfaces()));
    for (const [own, voice] of this.#voices) {
      if (wanted.has(own)) continue;
      this.#voices.delete(own);
      await voice.close();
    }
    for (const own of wanted) if (!this.#voices.has(own)) await this.#announceOn(own);
  }

  async #announceOn(own: string): Promise<void> {
    const { address, version, udpPort = mdnsPort, now = () => performance.now(), log } = this.#options;
    try {
      const mdns = await openMulticast(own, udpPort);
      this.#voices.set(own, new Voice(mdns, { id: this.#id, address: own, port: address.port, version }, now));
    } catch (error) {
      if (!this.#told.has(own)) log.warn(`This service is not announced on ${own}: ${reasonOf(error)}`);
      this.#told.add(own);
    }
  }
}

/** The announcement on one interface: said twice, then whenever somebody asks, and taken back at the end. */
class Voice {
  readonly #mdns: MulticastDNS;
  readonly #offer: Offer;
  readonly #again: NodeJS.Timeout;

  constructor(mdns: MulticastDNS, offer: Offer, now: () => number) {
    this.#mdns = mdns;
    this.#offer = offer;
    let answered = Number.NEGATIVE_INFINITY;
    mdns.on("query", ({ questions }) => {
      if (now() - answered < pause || !asksFor(questions, offer)) return;
      answered = now();
      mdns.respond(recordsOf(offer));
    });
    mdns.respond(recordsOf(offer));
    this.#again = setTimeout(() => mdns.respond(recordsOf(offer)), pause).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#again);
    // Whether it left or not, there is nothing more to do.
    await new Promise<void>((resolve) => this.#mdns.respond(recordsOf(this.#offer, 0), () => resolve()));
    await new Promise<void>((resolve) => this.#mdns.destroy(resolve));
  }
}
