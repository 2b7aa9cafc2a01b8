import { readFile } from "node:fs/promises";
import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from "mqtt";
import type { Logger } from "pino";
import { type BackOff, backOffMs, jittered } from "../async/index.ts";
import type { MqttSettings } from "../config/mqtt.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { matches } from "../contract/topic.ts";
import { type BrokerError, type ConnectFailure, connectFailureOf } from "./connect-failure.ts";
import type { Message, MqttLink, Publication, SubscribeOptions } from "./mqtt-link.ts";
import { Outgoing, type Wire } from "./outgoing.ts";
import { PacketWatch } from "./packet-watch.ts";

/** `ca`, `cert` and `key` are files. */
export type ConnectionSettings = Pick<MqttSettings, "clientId" | "username" | "password" | "ca" | "cert" | "key"> & {
  readonly url: string;
};

export interface ConnectionOptions {
  readonly settings: ConnectionSettings;
  /** Published by the broker, retained, when the connection is lost or closed; absent: nothing. */
  readonly will?: { readonly topic: string; readonly payload: string };
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly reconnectDelays?: BackOff;
}

const defaultReconnectDelays: BackOff = { firstMs: 1_000, longestMs: 60_000 };
const connectTimeoutMs = 10_000;
const keepaliveSeconds = 30;
/** QoS 1 messages under way at once, unless the broker accepts fewer. */
const maxInFlight = 1_000;
/** With more unsent bytes than this, telemetry to a slow broker is dropped. */
const maxBacklogBytes = 8 * 1024 * 1024;
/** Bytes of a packet from the broker. MQTT 5 announces the limit; the connection is closed for a larger one. */
export const largestPacket = 4 * 1024 * 1024;
/** Bytes of a WebSocket message, which may hold several packets. */
const largestFrame = 2 * largestPacket;
const sessionTakenOver = 142;
/** The code of ws for a message that is too long. */
const tooLongFrame = "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

/**
 * A connection by mqtt.js, with MQTT 5, or 3.1.1 if the broker refuses that. It reconnects for ever and logs each problem
 * once. Throws `config.invalid` if a file cannot be read.
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

interface Subscriber {
  readonly handle: (message: Message) => void;
  readonly options: SubscribeOptions;
}

type Version = 4 | 5;

export class MqttConnection implements MqttLink {
  readonly #options: ConnectionOptions;
  readonly #files: IClientOptions;
  readonly #place: string;
  readonly #outgoing: Outgoing;
  readonly #listeners = new Map<string, readonly Subscriber[]>();
  readonly #fresh = new Set<string>();
  readonly #connected: (() => void)[] = [];
  readonly #ended = Promise.withResolvers<RigbridgeError | null>();
  #client: MqttClient;
  #version: Version = 5;
  #isConnected = false;
  #isClosed = false;
  #failedAttempts = 0;
  /** Whether both versions were tried since the last connection. */
  #hasTriedBoth = false;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #hasWarnedOfRefusal = false;
  /** The connection was closed for what the broker sent; it may send the same first thing next time. */
  #brokerMisbehaved = false;
  #lastWarning: string | null = null;

  constructor(options: ConnectionOptions, files: IClientOptions) {
    this.#options = options;
    this.#files = files;
    this.#place = placeOf(options.settings.url);
    this.#outgoing = new Outgoing({
      now: options.now ?? Date.now,
      dropped: (count) =>
        options.log.warn(
          `${count} events and responses are lost because the broker at ${this.#place} was away or slow for too long`,
        ),
    });
    this.#client = this.#connect();
  }

  /** Whether a broker is connected. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** The version of MQTT in use: 5, or 4 for 3.1.1. */
  get version(): Version {
    return this.#version;
  }

  /** Resolves when it has ended: with the reason if another bridge has taken over, null once closed. */
  get ended(): Promise<RigbridgeError | null> {
    return this.#ended.promise;
  }

  publish(publication: Publication): void {
    if (this.#isClosed) return;
    // MQTT 3.1.1 has no "no local", and with MQTT 5 another own subscription would deliver it too.
    if (this.#takesCommandsAt(publication.topic))
      this.#options.log.warn(
        { topic: publication.topic },
        "A message is not published, because Rigbridge itself takes commands at this topic",
      );
    else this.#outgoing.publish(publication);
  }

  settled(): Promise<void> {
    return this.#outgoing.settled();
  }

  subscribe(filters: readonly string[], handle: Subscriber["handle"], options: SubscribeOptions = {}): void {
    for (const filter of filters) {
      this.#listeners.set(filter, [...(this.#listeners.get(filter) ?? []), { handle, options }]);
      if (options.fresh) this.#fresh.add(filter);
    }
    if (this.#isConnected) this.#subscribe(filters, options);
  }

  unsubscribe(filters: readonly string[], handle?: Subscriber["handle"]): void {
    for (const filter of filters) {
      const others = (this.#listeners.get(filter) ?? []).filter(
        (each) => handle !== undefined && each.handle !== handle,
      );
      if (others.length > 0) this.#listeners.set(filter, others);
      else {
        this.#listeners.delete(filter);
        this.#fresh.delete(filter);
      }
    }
    const unused = filters.filter((filter) => !this.#listeners.has(filter));
    if (this.#isConnected && unused.length > 0) this.#client.unsubscribe(unused, () => undefined);
  }

  connected(listener: () => void): void {
    this.#connected.push(listener);
    if (this.#isConnected) listener();
  }

  async close(why: RigbridgeError | null = null): Promise<void> {
    if (this.#isClosed) return;
    if (why !== null) this.#options.log.error(why.message);
    else if (this.#isConnected) {
      const { will } = this.#options;
      if (will !== undefined) this.publish({ ...will, qos: 1, retain: true });
      await Promise.race([this.settled(), elapsed(1_000)]);
    }
    this.#end(why);
  }

  #end(why: RigbridgeError | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#reconnectTimer);
    this.#isConnected = false;
    this.#outgoing.lost();
    // A regular DISCONNECT keeps the broker from publishing the will.
    const client = this.#client;
    if (client.connected) client.end(false, () => client.stream.destroy());
    else client.end(true);
    this.#ended.resolve(why);
  }

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
      keepalive: keepaliveSeconds,
      connectTimeout: connectTimeoutMs,
      reconnectPeriod: 0,
      resubscribe: false,
      queueQoSZero: false,
      wsOptions: { maxPayload: largestFrame },
      ...(will === undefined
        ? {}
        : { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true } }),
    });
    let error: BrokerError | null = null;
    let isClosed = false;
    const closed = (): void => {
      if (isClosed) return;
      isClosed = true;
      if (this.#client === client) this.#lost(error, fault);
    };
    const watch = new PacketWatch(largestPacket);
    let fault: string | null = null;
    client.stream.on("data", (bytes: Buffer) => {
      fault ??= watch.inspect(bytes);
      if (fault !== null) client.stream.destroy();
    });
    client.on("connect", ({ properties }) => {
      // Otherwise small messages would wait for acknowledgements (Nagle); a WebSocket's stream has no such method.
      if ("setNoDelay" in client.stream && typeof client.stream.setNoDelay === "function")
        client.stream.setNoDelay(true);
      const limits = {
        window: properties?.receiveMaximum ?? maxInFlight,
        packet: properties?.maximumPacketSize ?? Infinity,
      };
      this.#open(wireOf(client, version, limits, (topic) => this.#publishRefused(topic)));
    });
    client.on("error", (failure: BrokerError) => {
      error ??= failure;
      // The broker closes after a refusal, but not after a packet that cannot be parsed.
      if (this.#client === client) client.stream.destroy();
    });
    client.on("disconnect", ({ reasonCode }) => {
      if (reasonCode === sessionTakenOver && this.#client === client)
        void this.close(anotherBridge(this.#place, this.#options.settings.clientId));
    });
    client.on("message", (topic, payload, packet) => this.#dispatch(topic, payload, packet));
    client.on("close", closed);
    return client;
  }

  #open(wire: Wire): void {
    const { log } = this.#options;
    this.#isConnected = true;
    if (!this.#brokerMisbehaved) this.#failedAttempts = 0;
    this.#hasTriedBoth = false;
    this.#hasWarnedOfRefusal = false;
    this.#lastWarning = null;
    log.info(`Connected to the broker at ${this.#place} with MQTT ${this.#version === 5 ? "5" : "3.1.1"}`);
    this.#outgoing.open(wire);
    for (const [filter, [listener]] of this.#listeners)
      if (listener !== undefined) this.#subscribe([filter], listener.options);
    for (const listener of this.#connected) listener();
  }

  #lost(error: BrokerError | null, fault: string | null): void {
    if (this.#isClosed) return;
    if (this.#isConnected)
      this.#disconnected(error?.code === tooLongFrame ? `a frame of more than ${largestFrame} bytes` : fault);
    else this.#connectFailed(connectFailureOf(error, this.#place, this.#options.settings.username !== undefined));
  }

  #disconnected(fault: string | null): void {
    this.#isConnected = false;
    this.#brokerMisbehaved = fault !== null;
    this.#outgoing.lost();
    if (fault === null) this.#warnOnce(`The connection to the broker at ${this.#place} is lost; reconnecting`);
    else this.#warnOnce(`The broker at ${this.#place} sends ${fault}, so the connection is closed; reconnecting`);
    this.#scheduleReconnect();
  }

  /** Tries the other version at once, if the version may be the cause. */
  #connectFailed({ message, version }: ConnectFailure): void {
    if (version) this.#version = this.#version === 5 ? 4 : 5;
    if (version && !this.#hasTriedBoth) {
      this.#hasTriedBoth = true;
      this.#client = this.#connect();
      return;
    }
    this.#warnOnce(message);
    this.#scheduleReconnect();
  }

  #scheduleReconnect(): void {
    this.#failedAttempts += 1;
    const delayMs = backOffMs(this.#failedAttempts, this.#options.reconnectDelays ?? defaultReconnectDelays);
    this.#reconnectTimer = setTimeout(() => {
      this.#client = this.#connect();
    }, jittered(delayMs));
  }

  /** Not again while the problem stays the same. */
  #warnOnce(message: string): void {
    if (message === this.#lastWarning) return;
    this.#lastWarning = message;
    this.#options.log.warn(message);
  }

  /** Logs once per connection. */
  #publishRefused(topic: string): void {
    if (this.#hasWarnedOfRefusal) return;
    this.#hasWarnedOfRefusal = true;
    this.#options.log.warn(
      { topic },
      `The broker at ${this.#place} refuses some messages of the bridge; check the rights of its user and the broker's packet size`,
    );
  }

  #takesCommandsAt(topic: string): boolean {
    for (const filter of this.#fresh) if (matches(filter, topic)) return true;
    return false;
  }

  #subscribe(all: readonly string[], { fresh, qos = 1 }: SubscribeOptions): void {
    // A broker may deliver a message once per matching subscription, and a command would be executed twice.
    const filters = fresh ? all : all.filter((filter) => !this.#takesCommandsAt(filter));
    if (filters.length === 0) return;
    const options = this.#version === 5 ? { qos, rh: fresh ? 2 : 0, nl: fresh === true } : { qos };
    this.#client.subscribe([...filters], options, (error, granted = []) => {
      const refused = granted.filter(({ qos }) => qos >= 128).map(({ topic }) => topic);
      if (error === null && refused.length === 0) return;
      if (this.#isConnected)
        this.#options.log.warn(
          `The broker at ${this.#place} refuses the subscription to ${(refused.length > 0 ? refused : filters).join(", ")}; check the rights of its user`,
        );
    });
  }

  #dispatch(topic: string, payload: Buffer, { retain, dup, properties }: IPublishPacket): void {
    const message: Message = {
      topic,
      payload,
      retained: retain,
      duplicate: dup,
      responseTopic: properties?.responseTopic ?? null,
      correlation: properties?.correlationData ?? null,
    };
    for (const [filter, listeners] of this.#listeners)
      if (matches(filter, topic)) for (const { handle } of listeners) handle(message);
  }
}

/** Ends a bridge when another one has taken over. */
export const anotherBridge = (place: string, clientId: string): RigbridgeError =>
  new RigbridgeError(
    "in.use",
    `Another bridge uses the broker at ${place} with the client id "${clientId}" or the same topics, so this one stops; ` +
      "give each its own clientId and base",
  );

/** What the broker accepts: QoS 1 messages under way at once, and bytes of a packet. */
interface Limits {
  readonly window: number;
  readonly packet: number;
}

/** Bytes of a packet besides topic and payload, generously. */
const envelope = 256;

function wireOf(client: MqttClient, version: Version, limits: Limits, refused: (topic: string) => void): Wire {
  return {
    send: ({ topic, payload, qos, retain, expiry, correlation }, arrived) => {
      // A broker disconnects a client that sends a larger packet.
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
      return client.stream.writableLength < maxBacklogBytes;
    },
    window: Math.min(maxInFlight, limits.window),
    // A broker that delays acknowledgements (Nagle) sends them together with its response.
    nudge: () => client.sendPing(),
  };
}

/** A reason code of MQTT 5 from 128 is an error; 16 means only that there are no subscribers. */
const isRefusal = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "number" && error.code >= 128;

/** Host and port. */
export const placeOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url);
  const usual = { "mqtt:": 1883, "mqtts:": 8883, "ws:": 80, "wss:": 443 }[protocol];
  return `${hostname}:${port || usual}`;
};

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
