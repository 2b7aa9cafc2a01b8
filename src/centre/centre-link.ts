import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import {
  type ConnectionLimits,
  OutwardConnection,
  type OutwardLink,
  type OutwardProtocol,
} from "../agent/outward-connection.ts";
import { type FromSite, sitePath, ToSite } from "../contract/site-connection.ts";
import { Channels } from "./channels.ts";

export interface CentreLinkOptions {
  /** http: or https: address of the centre. */
  readonly url: URL;
  readonly token: string;
  /** PEM certificates of the CA that signed the centre's; null for the system's. */
  readonly ca: string | null;
  /** Allows plain http to any address, and any certificate. */
  readonly insecure: boolean;
  /** The name of this service's store. */
  readonly instance: string;
  /** Serves a connection of the centre to the API of this service. */
  readonly serve: (connection: Duplex) => void;
  readonly log: Logger;
  readonly limits?: Partial<ConnectionLimits>;
}

const noCentre = "nothing there is a centre of this release: check the address, and the version of Rigbridge there";

/** An older release takes the path for another one, and wants an API key. */
const refusals: Readonly<Record<string, string>> = {
  "401 key.wrong": "the token is wrong or was revoked; make another one on the page Sites of the centre",
  "401": noCentre,
  "403": "the centre does not accept connections from this address",
  "404": noCentre,
  "405": noCentre,
  "400": noCentre,
  "200": noCentre,
  "426": "a proxy before the centre does not pass WebSockets",
};

const protocol: OutwardProtocol<ToSite, FromSite> = {
  path: sitePath,
  parse: (message) => ToSite.safeParse(message).data,
  answerUnknown: () => undefined,
  refusal: (status, code) => refusals[`${status} ${code}`] ?? refusals[status],
  needsTls: (host) =>
    `centre.url: ${host} is outside this machine's private networks, so the address must begin with https://; ` +
    "centre.insecure would send the token unencrypted",
  says: {
    connected: (log, host) => log.info(`Connected to the centre at ${host}`),
    refused: (log, host, reason) =>
      log.error(`The centre at ${host} refuses this site (${reason}); everything here goes on without it`),
    lost: (log, host, reason) =>
      log.warn(`No connection to the centre at ${host} (${reason}); everything here goes on, and it is tried again`),
    unknown: (log) => log.warn("The centre has sent a message that this release does not understand"),
  },
};

/** The connection of a site to its centre, which reads and controls it over channels: nothing listens here for that. */
export class CentreLink {
  readonly #connection: OutwardConnection<ToSite, FromSite>;

  /** Throws `config.invalid` if the token would be sent in the clear beyond private networks. */
  constructor({ url, instance, serve, ...options }: CentreLinkOptions) {
    this.#connection = new OutwardConnection(protocol, { ...options, services: [url] }, (link) =>
      receiverOf(link, instance, serve),
    );
  }

  close(): void {
    this.#connection.close();
  }
}

function receiverOf(link: OutwardLink<FromSite>, instance: string, serve: CentreLinkOptions["serve"]) {
  const channels = new Channels({
    send: (message) => link.send(message),
    sendFrame: (channel, bytes) => link.sendFrame(channel, bytes),
    violated: () => link.end(),
  });
  link.send({ t: "hello", instance });
  return {
    message: (message: ToSite) => {
      if (message.t !== "open") channels.message(message);
      else if (channels.has(message.channel)) link.end();
      else if (channels.isFull) link.send({ t: "close", channel: message.channel });
      else serve(channels.add(message.channel));
    },
    frame: (channel: number, bytes: Buffer) => channels.frame(channel, bytes),
    closed: () => channels.closed(),
  };
}
