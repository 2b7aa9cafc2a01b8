import { readFile } from "node:fs/promises";
import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from "mqtt";
import type { Logger } from "pino";
import { RigbridgeError } from "../contract/problems.ts";
import { matches } from "../contract/topic.ts";
import { type BrokerError, type Trouble, troubleOf } from "./broker-trouble.ts";
import type { Message, MqttLink, Publication, Subscription } from "./mqtt-link.ts";
import { Outgoing, type Wire } from "./outgoing.ts";
import { PacketWatch } from "./packet-watch.ts";

export interface ConnectionSettings {
  readonly url: string;
  readonly clientId: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Files. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ConnectionOptions {
  readonly settings: ConnectionSettings;
  /** What the broker says, retained, when the connection is lost or closed. */
  readonly will: { readonly topic: string; readonly payload: string };
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly waits?: Waits;
}

/** ms between two tries, the first and the longest; each with some chance. */
export interface Waits {
  readonly first: number;
  readonly longest: number;
}

const usualWaits: Waits = { first: 1_000, longest: 60_000 };
/** ms to wait for an answer to CONNECT. */
const connectTimeout = 10_000;
/** s without a word after which the broker is asked whether it is there. */
const keepalive = 30;
/** QoS 1 messages under way at once, where the broker does not want fewer. */
const window = 1_000;
/** Bytes that a slow broker has not taken yet, from which on telemetry is left out. */
const backlog = 8 * 1024 * 1024;
/** Bytes of a packet that the broker may send us. MQTT 5 tells it so; of any other the connection is closed. */
export const largestPacket = 4 * 1024 * 1024;
/** Bytes of a message of WebSockets, which may hold several packets. */
const largestFrame = 2 * largestPacket;
const takenOver = 142;
/** What ws says of a message that is longer than it may be. */
const tooLongFrame = "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

/**
 * A connection by mqtt.js, with MQTT 5 and where the broker refuses that 3.1.1. It is tried for ever, and says what is
 * wrong once. Throws `config.invalid` for a file that cannot be read.
 */
export async function openConnection(options: ConnectionOptions): Promise<MqttConnection> {
  const { ca, cert, key } = options.settings;
  const files = { ca: await read("ca", ca), cert: await read("cert", cert), key: await read("key", key) };
  return new MqttConnection(
    options,
    Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
  );
}

async function read(name: string, file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new RigbridgeError("config.invalid", `mqtt.${name}: ${file} cannot be read (${error.code})`, {
      cause: error,
    });
  });
}

interface Listener {
  readonly heard: (message: Message) => void;
  readonly how: Subscription;
}

type Version = 4 | 5;

export class MqttConnection implements MqttLink {
  readonly #options: ConnectionOptions;
  readonly #files: IClientOptions;
  readonly #place: string;
  readonly #outgoing: Outgoing;
  readonly #listeners = new Map<string, readonly Listener[]>();
  /** Filters that were subscribed to as `fresh`. */
  readonly #fresh = new Set<string>();
  readonly #connected: (() => void)[] = [];
  readonly #ended = Promise.withResolvers<RigbridgeError | null>();
  #client: MqttClient;
  #version: Version = 5;
  #isConnected = false;
  #isClosed = false;
  /** Tries in a row that came to nothing. */
  #tries = 0;
  /** Whether the other version was tried too since there was a broker. */
  #hasTriedBoth = false;
  #again: NodeJS.Timeout | undefined;
  /** What the bridge published was refused. */
  #hasRefused = false;
  /** The connection was closed for what the broker sent, which may be the first that it sends next time too. */
  #isAbused = false;
  /** What was said last. */
  #said: string | null = null;

  constructor(options: ConnectionOptions, files: IClientOptions) {
    this.#options = options;
    this.#files = files;
    this.#place = placeOf(options.settings.url);
    this.#outgoing = new Outgoing({
      now: options.now ?? Date.now,
      dropped: (count) =>
        options.log.warn(
          `${count} events and answers are lost: the broker at ${this.#place} was away or slow for too long`,
        ),
    });
    this.#client = this.#connect();
  }

  /** Whether there is a broker now. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The version of MQTT that is spoken: 5, or 4 for 3.1.1. */
  get version(): Version {
    return this.#version;
  }

  /** Resolves when it has ended for good: with why, where another has taken its place; null once closed. */
  get ended(): Promise<RigbridgeError | null> {
    return this.#ended.promise;
  }

  publish(publication: Publication): void {
    if (this.#isClosed) return;
    // MQTT 3.1.1 has no "no local", and any other subscription of ours would bring it back in MQTT 5 too.
    if (this.#takesCommandsAt(publication.topic))
      this.#options.log.warn(
        { topic: publication.topic },
        "Not published: Rigbridge itself takes commands at this topic",
      );
    else this.#outgoing.publish(publication);
  }

  settled(): Promise<void> {
    return this.#outgoing.settled();
  }

  subscribe(filters: readonly string[], heard: Listener["heard"], how: Subscription = {}): void {
    for (const filter of filters) {
      this.#listeners.set(filter, [...(this.#listeners.get(filter) ?? []), { heard, how }]);
      if (how.fresh) this.#fresh.add(filter);
    }
    if (this.#isConnected) this.#subscribe(filters, how);
  }

  unsubscribe(filters: readonly string[], heard?: Listener["heard"]): void {
    for (const filter of filters) {
      const others = (this.#listeners.get(filter) ?? []).filter((each) => heard !== undefined && each.heard !== heard);
      if (others.length > 0) this.#listeners.set(filter, others);
      else {
        this.#listeners.delete(filter);
        this.#fresh.delete(filter);
      }
    }
    const left = filters.filter((filter) => !this.#listeners.has(filter));
    if (this.#isConnected && left.length > 0) this.#client.unsubscribe(left, () => undefined);
  }

  connected(listener: () => void): void {
    this.#connected.push(listener);
    if (this.#isConnected) listener();
  }

  async close(why: RigbridgeError | null = null): Promise<void> {
    if (this.#isClosed) return;
    if (why !== null) this.#options.log.error(why.message);
    else if (this.#isConnected) {
      const { topic, payload } = this.#options.will;
      this.publish({ topic, payload, qos: 1, retain: true });
      await Promise.race([this.settled(), passed(1_000)]);
    }
    this.#end(why);
  }

  #end(why: RigbridgeError | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#isConnected = false;
    this.#outgoing.lost();
    // A goodbye that the broker knows keeps it from saying the will once more.
    const client = this.#client;
    if (client.connected) client.end(false, () => client.stream.destroy());
    else client.end(true);
    this.#ended.resolve(why);
  }

  /** One try. */
  #connect(): MqttClient {
    const { settings, will } = this.#options;
    const { url, clientId, username, password } = settings;
    const version = this.#version;
    const client = connect(url, {
      ...this.#files,
      clientId,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      protocolVersion: version,
      ...(version === 5 ? { properties: { maximumPacketSize: largestPacket } } : {}),
      clean: true,
      keepalive,
      connectTimeout,
      reconnectPeriod: 0,
      resubscribe: false,
      queueQoSZero: false,
      wsOptions: { maxPayload: largestFrame },
      will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true },
    });
    let error: BrokerError | null = null;
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      if (this.#client === client) this.#lost(error, fault);
    };
    const watch = new PacketWatch(largestPacket);
    let fault: string | null = null;
    client.stream.on("data", (bytes: Buffer) => {
      fault ??= watch.look(bytes);
      if (fault !== null) client.stream.destroy();
    });
    client.on("connect", ({ properties }) => {
      // Small messages would wait for acknowledgements otherwise (Nagle); a WebSocket's stream has no such thing.
      if ("setNoDelay" in client.stream && typeof client.stream.setNoDelay === "function")
        client.stream.setNoDelay(true);
      const limits = {
        window: properties?.receiveMaximum ?? window,
        packet: properties?.maximumPacketSize ?? Infinity,
      };
      this.#open(wireOf(client, version, limits, (topic) => this.#refusedAt(topic)));
    });
    client.on("error", (failure: BrokerError) => {
      error ??= failure;
      // A refusal closes by itself; what cannot be read does not.
      if (this.#client === client) client.stream.destroy();
    });
    client.on("disconnect", ({ reasonCode }) => {
      if (reasonCode === takenOver && this.#client === client)
        void this.close(anotherBridge(this.#place, this.#options.settings.clientId));
    });
    client.on("message", (topic, payload, packet) => this.#heard(topic, payload, packet));
    client.on("close", over);
    return client;
  }

  #open(wire: Wire): void {
    const { log } = this.#options;
    this.#isConnected = true;
    if (!this.#isAbused) this.#tries = 0;
    this.#hasTriedBoth = false;
    this.#hasRefused = false;
    this.#said = null;
    log.info(`Connected to the broker at ${this.#place} with MQTT ${this.#version === 5 ? "5" : "3.1.1"}`);
    this.#outgoing.open(wire);
    for (const [filter, [listener]] of this.#listeners)
      if (listener !== undefined) this.#subscribe([filter], listener.how);
    for (const listener of this.#connected) listener();
  }

  #lost(error: BrokerError | null, fault: string | null): void {
    if (this.#isClosed) return;
    if (this.#isConnected)
      this.#cut(error?.code === tooLongFrame ? `a frame of more than ${largestFrame} bytes` : fault);
    else this.#refused(troubleOf(error, this.#place, this.#options.settings.username !== undefined));
  }

  #cut(fault: string | null): void {
    this.#isConnected = false;
    this.#isAbused = fault !== null;
    this.#outgoing.lost();
    if (fault === null) this.#say(`The connection to the broker at ${this.#place} is lost; it is tried again`);
    else this.#say(`The broker at ${this.#place} sends ${fault}; the connection is closed, and tried again`);
    this.#later();
  }

  /** The other version is tried at once, if that may be it. */
  #refused({ message, version }: Trouble): void {
    if (version) this.#version = this.#version === 5 ? 4 : 5;
    if (version && !this.#hasTriedBoth) {
      this.#hasTriedBoth = true;
      this.#client = this.#connect();
      return;
    }
    this.#say(message);
    this.#later();
  }

  #later(): void {
    const { first, longest } = this.#options.waits ?? usualWaits;
    const wait = Math.min(longest, first * 2 ** this.#tries);
    this.#tries += 1;
    this.#again = setTimeout(
      () => {
        this.#client = this.#connect();
      },
      wait * (0.5 + Math.random() / 2),
    );
  }

  /** Once each time, however often it is so. */
  #say(message: string): void {
    if (message === this.#said) return;
    this.#said = message;
    this.#options.log.warn(message);
  }

  /** Once in a connection. */
  #refusedAt(topic: string): void {
    if (this.#hasRefused) return;
    this.#hasRefused = true;
    this.#options.log.warn(
      { topic },
      `The broker at ${this.#place} does not take all that the bridge publishes, by its rights or its packet size`,
    );
  }

  #takesCommandsAt(topic: string): boolean {
    for (const filter of this.#fresh) if (matches(filter, topic)) return true;
    return false;
  }

  #subscribe(all: readonly string[], { fresh }: Subscription): void {
    // A broker may send a message once for each subscription that fits, and a command would be done twice.
    const filters = fresh ? all : all.filter((filter) => !this.#takesCommandsAt(filter));
    if (filters.length === 0) return;
    const how = this.#version === 5 ? { qos: 1 as const, rh: fresh ? 2 : 0, nl: fresh === true } : { qos: 1 as const };
    this.#client.subscribe([...filters], how, (error, granted = []) => {
      const refused = granted.filter(({ qos }) => qos >= 128).map(({ topic }) => topic);
      if (error === null && refused.length === 0) return;
      if (this.#isConnected)
        this.#options.log.warn(
          `The broker at ${this.#place} does not let the bridge listen to ${(refused.length > 0 ? refused : filters).join(", ")}`,
        );
    });
  }

  #heard(topic: string, payload: Buffer, { retain, dup, properties }: IPublishPacket): void {
    const message: Message = {
      topic,
      payload,
      retained: retain,
      duplicate: dup,
      responseTopic: properties?.responseTopic ?? null,
      correlation: properties?.correlationData ?? null,
    };
    for (const [filter, listeners] of this.#listeners)
      if (matches(filter, topic)) for (const { heard } of listeners) heard(message);
  }
}

/** What ends a bridge whose place another has taken. */
export const anotherBridge = (place: string, clientId: string): RigbridgeError =>
  new RigbridgeError(
    "in.use",
    `Another bridge is at the broker at ${place} with the client id "${clientId}" or the same topics; this one stops. ` +
      "Give each its own clientId and base",
  );

/** What the broker takes: messages with QoS 1 under way at once, and bytes of a packet. */
interface Limits {
  readonly window: number;
  readonly packet: number;
}

/** Bytes of a packet beside topic and payload, generously. */
const envelope = 256;

function wireOf(client: MqttClient, version: Version, limits: Limits, refused: (topic: string) => void): Wire {
  return {
    send: ({ topic, payload, qos, retain, expiry, correlation }, arrived) => {
      // A broker cuts off who sends more than it takes.
      if (Buffer.byteLength(payload) + Buffer.byteLength(topic) + envelope > limits.packet) {
        refused(topic);
        queueMicrotask(arrived);
        return;
      }
      const properties =
        version === 5
          ? {
              properties: {
                ...(expiry === undefined ? {} : { messageExpiryInterval: expiry }),
                ...(correlation === undefined ? {} : { correlationData: correlation }),
              },
            }
          : {};
      client.publish(topic, payload, { qos, retain, ...properties }, (error) => {
        if (isRefusal(error)) refused(topic);
        arrived();
      });
    },
    get hasRoom() {
      return client.stream.writableLength < backlog;
    },
    window: Math.min(window, limits.window),
    // Acknowledgements of a broker that waits for ours come at once when there is something to send (Nagle).
    nudge: () => client.sendPing(),
  };
}

/** The broker has said no (MQTT 5), and not that nobody listens (16). */
const isRefusal = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "number" && error.code >= 128;

/** Host and port. */
export const placeOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url);
  const usual = { "mqtt:": 1883, "mqtts:": 8883, "ws:": 80, "wss:": 443 }[protocol];
  return `${hostname}:${port || usual}`;
};

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
