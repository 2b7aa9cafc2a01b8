import { createHash, randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { type Channel, closedChannel } from "../async/channel.ts";
import type { FromSite, SiteConnection, SiteReceiver } from "../contract/site-connection.ts";
import { Channels } from "./channels.ts";

/** Tokens are 32 random bytes, so a plain digest is enough. */
export const newToken = (): string => randomBytes(32).toString("base64url");
export const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");

interface Open {
  readonly instance: string;
  readonly connection: SiteConnection;
  readonly channels: Channels;
}

/** ms for a site to connect again before it counts as unreachable: it tries at least every 4 s. */
const usualGraceMs = 10_000;

/** The centre's end of the connection that a site behind NAT opens: connections to its API are channels of it. */
export class SiteLine {
  #open: Open | null = null;
  #lastChannel = 0;
  /** ms for the site to connect again before it counts as unreachable. */
  readonly graceMs: number;
  /** Called when it opens and when it ends. */
  onChange: () => void = () => undefined;

  constructor(graceMs = usualGraceMs) {
    this.graceMs = graceMs;
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** Opens a connection to the API of the site; without a line, it fails with ENOTCONN. */
  readonly dial = (): Duplex => {
    const open = this.#open;
    if (open === null) return closedChannel("ENOTCONN");
    if (open.channels.isFull) return closedChannel("ECONNREFUSED");
    do this.#lastChannel = (this.#lastChannel % 0xffff_ffff) + 1;
    while (open.channels.has(this.#lastChannel));
    const number = this.#lastChannel;
    open.connection.send({ t: "open", channel: number });
    const channel: Channel = open.channels.add(number);
    return channel;
  };

  /**
   * A connection with the token of this site. `refusalOf`: why this store cannot be the site, else null. A connection of the
   * same store takes the place of the one before, which may be dead without anyone having noticed; another store is refused
   * while the site is connected.
   */
  take(connection: SiteConnection, refusalOf: (instance: string) => string | null): SiteReceiver {
    const channels = new Channels({
      send: (message) => connection.send(message),
      sendFrame: (channel, bytes) => connection.sendFrame(channel, bytes),
      violated: (how) => connection.close(how),
    });
    let isIntroduced = false;
    const introduce = (instance: string): void => {
      const isTaken = this.#open !== null && this.#open.instance !== instance;
      const refusal = isTaken
        ? "another service is connected with this token; each site has its own"
        : refusalOf(instance);
      if (refusal !== null) {
        connection.close(refusal);
        return;
      }
      isIntroduced = true;
      const before = this.#open;
      this.#open = { instance, connection, channels };
      before?.connection.close("a newer connection of the same service has replaced this one");
      this.onChange();
    };
    return {
      message: (message: FromSite) => {
        if (isIntroduced === (message.t === "hello")) connection.close("hello is the first message, and comes once");
        else if (message.t === "hello") introduce(message.instance);
        else channels.message(message);
      },
      frame: (channel, bytes) => channels.frame(channel, bytes),
      closed: () => {
        channels.closed();
        if (this.#open?.connection !== connection) return;
        this.#open = null;
        this.onChange();
      },
    };
  }

  end(reason: string, why: "refused" | "away" = "refused"): void {
    this.#open?.connection.close(reason, why);
  }
}
