import { Channel } from "../async/channel.ts";
import { mostSiteChannels, siteWindowBytes, type ToSite } from "../contract/site-connection.ts";

/** One end of the connection between a centre and a site, which carries the channels. */
export interface ChannelCarrier {
  send(message: Exclude<ToSite, { readonly t: "open" }>): void;
  sendFrame(channel: number, bytes: Buffer): void;
  /** Ends the connection: the other side does not follow the protocol. */
  violated(how: string): void;
}

/** The channels of one connection between a centre and a site; both ends are the same but for who opens them. */
export class Channels {
  readonly #carrier: ChannelCarrier;
  readonly #open = new Map<number, Channel>();

  constructor(carrier: ChannelCarrier) {
    this.#carrier = carrier;
  }

  has(number: number): boolean {
    return this.#open.has(number);
  }

  get isFull(): boolean {
    return this.#open.size >= mostSiteChannels;
  }

  add(number: number): Channel {
    const channel = new Channel({
      send: (bytes) => this.#carrier.sendFrame(number, bytes),
      close: () => {
        if (this.#open.delete(number)) this.#carrier.send({ t: "close", channel: number });
      },
      window: {
        bytes: siteWindowBytes,
        give: (bytes) => this.#carrier.send({ t: "credit", channel: number, bytes }),
      },
    });
    // Its users learn of an error where they read or write.
    channel.on("error", () => undefined);
    this.#open.set(number, channel);
    return channel;
  }

  /** What belongs to a channel that has been closed in the meantime is dropped. */
  message(message: Exclude<ToSite, { readonly t: "open" }>): void {
    const channel = this.#open.get(message.channel);
    if (message.t === "credit") channel?.credit(message.bytes);
    else {
      this.#open.delete(message.channel);
      channel?.ended();
    }
  }

  frame(number: number, bytes: Uint8Array): void {
    if (this.#open.get(number)?.receive(bytes) === false) this.#carrier.violated("it sent more than a channel takes");
  }

  /** The connection has ended. */
  closed(): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const channel of open) channel.ended("ECONNRESET");
  }
}
