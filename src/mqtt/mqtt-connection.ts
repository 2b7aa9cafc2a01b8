import { readFile } from "node:fs/promises";
import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from "mqtt";
import type { Logger } from "pino";
import { type BackOff, backOffMs, jittered } from "../async/index.ts";
import type { MqttSettings } from "../config/mqtt.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { type BrokerError, type ConnectFailure, connectFailureOf } from "./connect-failure.ts";
import type { Handle, Message, MqttLink, Publication, SubscribeOptions } from "./mqtt-link.ts";
import { type Version, wireOf } from "./mqtt-wire.ts";
import { Outgoing, type Wire } from "./outgoing.ts";
import { PacketWatch } from "./packet-watch.ts";
import { Subscriptions } from "./subscriptions.ts";

/** `ca`, `cert` and `key` are files. */
export type ConnectionSettings = Pick<MqttSettings, "clientId" | "username" | "password" | "ca" | "cert" | "key"> & {
  readonly url: string;
};

export interface ConnectionOptions {
  readonly settings: ConnectionSettings;
  /** Published by the broker, retained, when the connection is lost or closed; absent: nothing. */
  readonly will?: { readonly topic: string; readonly payload: string };
  /**
   * Client id of a bridge that waits for its topics. With it, each connection starts without the topics and without a
   * will, until `lead`: only filters and messages marked `always` are used.
   */
  readonly waitingId?: string;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly reconnectDelays?: BackOff;
}

const defaultReconnectDelays: BackOff = { firstMs: 1_000, longestMs: 60_000 };
const connectTimeoutMs = 10_000;
const keepaliveSeconds = 30;
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

export class MqttConnection implements MqttLink {
  readonly #options: ConnectionOptions;
  readonly #files: IClientOptions;
  readonly #place: string;
  readonly #outgoing: Outgoing;
  readonly #subscriptions = new Subscriptions();
  readonly #connected: (() => void)[] = [];
  readonly #opened: (() => void)[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #client: MqttClient;
  #version: Version = 5;
  #isOpen = false;
  /** Whether it has the topics, or will have them once connected. */
  #isLeading: boolean;
  #isClosed = false;
  #failedAttempts = 0;
  /** Whether both versions were tried since the last connection. */
  #hasTriedBoth = false;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #hasWarnedOfRefusal = false;
  /** The cause of the last disconnection may recur at once. */
  #mayRecur = false;
  #lastWarning: string | null = null;

  constructor(options: ConnectionOptions, files: IClientOptions) {
    this.#options = options;
    this.#files = files;
    this.#place = placeOf(options.settings.url);
    this.#isLeading = options.waitingId === undefined;
    this.#outgoing = new Outgoing({
      now: options.now ?? Date.now,
      dropped: (count) =>
        options.log.warn(
          `${count} events and responses are lost because the broker at ${this.#place} was away or slow for too long`,
        ),
    });
    this.#client = this.#connect();
  }

  get isConnected(): boolean {
    return this.#isOpen && this.#isLeading;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The version of MQTT in use: 5, or 4 for 3.1.1. */
  get version(): Version {
    return this.#version;
  }

  /** Resolves once it is closed. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Takes over the topics. */
  lead(): void {
    this.#reconnectAs(true);
  }

  /** Leaves the topics to another bridge: `offline` is not published, because it would refer to that one. */
  wait(): void {
    this.#reconnectAs(false);
  }

  publish(publication: Publication): void {
    if (this.#isClosed || (this.#isOpen && !this.#isLeading && publication.always !== true)) return;
    // MQTT 3.1.1 has no "no local", and with MQTT 5 another subscription of this client would deliver it too.
    if (this.#subscriptions.takesCommandsAt(publication.topic))
      this.#options.log.warn(
        { topic: publication.topic },
        "A message is not published, because Rigbridge itself takes commands at this topic",
      );
    else this.#outgoing.publish(publication);
  }

  settled(): Promise<void> {
    return this.#outgoing.settled();
  }

  subscribe(filters: readonly string[], handle: Handle, options: SubscribeOptions = {}): void {
    this.#subscriptions.add(filters, { handle, options });
    if (this.#isOpen && this.#applies(options)) void this.#request(filters, [options]);
  }

  unsubscribe(filters: readonly string[], handle?: Handle): void {
    const unused = this.#subscriptions.remove(filters, handle);
    if (this.#isOpen && unused.length > 0) this.#client.unsubscribe(unused, () => undefined);
  }

  connected(listener: () => void): void {
    this.#connected.push(listener);
    if (this.isConnected) listener();
  }

  /** The listener is called after each connect, with the topics or without. */
  opened(listener: () => void): void {
    this.#opened.push(listener);
  }

  /** `isOffline`: the will's message was already published. */
  async close(isOffline = false): Promise<void> {
    if (this.#isClosed) return;
    const { will } = this.#options;
    if (this.isConnected && !isOffline && will !== undefined) this.publish({ ...will, qos: 1, retain: true });
    if (this.#isOpen) await Promise.race([this.settled(), elapsed(1_000)]);
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#reconnectTimer);
    // If the process ended before the DISCONNECT, the broker would publish the will too.
    await Promise.race([this.#end(), elapsed(1_000)]);
    this.#ended.resolve();
  }

  /** Whether a subscription holds now. */
  #applies({ always }: SubscribeOptions): boolean {
    return this.#isLeading || always === true;
  }

  #reconnectAs(isLeading: boolean): void {
    if (!this.#isOpen || this.#isLeading === isLeading) return;
    this.#isLeading = isLeading;
    void this.#end();
    this.#client = this.#connect();
  }

  /** Disconnects cleanly, which keeps the broker from publishing the will. */
  #end(): Promise<void> {
    this.#isOpen = false;
    this.#outgoing.lost();
    const client = this.#client;
    const ended = Promise.withResolvers<void>();
    client.end(!client.connected, () => {
      client.stream.destroy();
      ended.resolve();
    });
    return ended.promise;
  }

  #connect(): MqttClient {
    const { settings, will, waitingId } = this.#options;
    const { url, clientId, username, password } = settings;
    const version = this.#version;
    const isWaiting = !this.#isLeading;
    const client = connect(url, {
      ...this.#files,
      clientId: isWaiting && waitingId !== undefined ? waitingId : clientId,
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
      // Checking whether a message is to be logged would cost a tenth of sending it.
      ...(process.env.DEBUG === undefined ? { log: () => undefined } : {}),
      ...(isWaiting || will === undefined
        ? {}
        : { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true } }),
    });
    let error: BrokerError | null = null;
    let isClosed = false;
    let isTakenOver = false;
    const closed = (): void => {
      if (isClosed) return;
      isClosed = true;
      if (this.#client === client) this.#lost(error, fault, isTakenOver);
    };
    const watch = new PacketWatch({
      largest: largestPacket,
      qos2: "a message with QoS 2, although at most QoS 1 was requested",
    });
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
        window: properties?.receiveMaximum ?? Infinity,
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
      isTakenOver = reasonCode === sessionTakenOver;
    });
    client.on("message", (topic, payload, packet) => {
      if (this.#client === client) this.#dispatch(topic, payload, packet);
    });
    client.on("close", closed);
    return client;
  }

  #open(wire: Wire): void {
    this.#isOpen = true;
    if (this.#isLeading) this.#begin();
    this.#outgoing.open(wire, ({ always }) => this.#isLeading || always === true);
    for (const listener of this.#opened) listener();
    for (const [filter, subscribers] of this.#subscriptions) {
      const all = subscribers.map(({ options }) => options).filter((options) => this.#applies(options));
      void this.#request([filter], all);
    }
    if (this.#isLeading) for (const listener of this.#connected) listener();
  }

  #begin(): void {
    if (!this.#mayRecur) this.#failedAttempts = 0;
    this.#hasTriedBoth = false;
    this.#hasWarnedOfRefusal = false;
    this.#lastWarning = null;
    const version = this.#version === 5 ? "5" : "3.1.1";
    this.#options.log.info(`Connected to the broker at ${this.#place} with MQTT ${version}`);
  }

  #lost(error: BrokerError | null, fault: string | null, isTakenOver: boolean): void {
    if (this.#isClosed) return;
    if (this.#isOpen)
      this.#disconnected(
        error?.code === tooLongFrame ? `a frame of more than ${largestFrame} bytes` : fault,
        isTakenOver,
      );
    else this.#connectFailed(connectFailureOf(error, this.#place, this.#options.settings.username !== undefined));
  }

  #disconnected(fault: string | null, isTakenOver: boolean): void {
    this.#isOpen = false;
    this.#isLeading = this.#options.waitingId === undefined;
    this.#mayRecur = fault !== null || isTakenOver;
    this.#outgoing.lost();
    if (isTakenOver) this.#warnOnce(takenOver(this.#place, this.#options.settings.clientId));
    else if (fault === null) this.#warnOnce(`The connection to the broker at ${this.#place} is lost; reconnecting`);
    else this.#warnOnce(`The broker at ${this.#place} sends ${fault}, so the connection is closed; reconnecting`);
    this.#scheduleReconnect();
  }

  /** Tries the other version at once, if the version may be the cause. */
  #connectFailed({ message, version, client }: ConnectFailure): void {
    if (version) this.#version = this.#version === 5 ? 4 : 5;
    if (version && !this.#hasTriedBoth) {
      this.#hasTriedBoth = true;
      this.#client = this.#connect();
      return;
    }
    // Some brokers admit only the configured client id; then it is unknown whether another bridge has the topics.
    this.#isLeading = this.#options.waitingId === undefined || (client && !this.#isLeading);
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

  /** Warns once while the problem stays the same. */
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

  /** Subscribes to all filters with the options of the first, and passes the broker's answer to each. */
  async #request(filters: readonly string[], all: readonly SubscribeOptions[]): Promise<void> {
    const [first] = all;
    if (first === undefined) return;
    const client = this.#client;
    await this.#subscribe(filters, first);
    if (this.#isOpen && this.#client === client) for (const { answered } of all) answered?.();
  }

  /** Resolves with the broker's answer, or when the connection is lost. */
  #subscribe(all: readonly string[], { fresh, qos = 1 }: SubscribeOptions): Promise<void> {
    // A broker may deliver a message once per matching subscription, and a command would be executed twice.
    const filters = fresh ? all : all.filter((filter) => !this.#subscriptions.takesCommandsAt(filter));
    if (filters.length === 0) return Promise.resolve();
    const answered = Promise.withResolvers<void>();
    const options = this.#version === 5 ? { qos, rh: fresh ? 2 : 0, nl: fresh === true } : { qos };
    this.#client.subscribe([...filters], options, (error, granted = []) => {
      answered.resolve();
      const refused = granted.filter(({ qos }) => qos >= 128).map(({ topic }) => topic);
      if (error === null && refused.length === 0) return;
      if (this.#isOpen)
        this.#options.log.warn(
          `The broker at ${this.#place} refuses the subscription to ${(refused.length > 0 ? refused : filters).join(", ")}; check the rights of its user`,
        );
    });
    return answered.promise;
  }

  #dispatch(topic: string, payload: Buffer, { retain, dup, properties }: IPublishPacket): void {
    const message: Message = {
      topic,
      payload,
      retained: retain,
      duplicate: dup,
      responseTopic: properties?.responseTopic ?? null,
      correlation: properties?.correlationData ?? null,
      expiry: properties?.messageExpiryInterval ?? null,
    };
    for (const { handle, options } of this.#subscriptions.at(topic)) if (this.#applies(options)) handle(message);
  }
}

const takenOver = (place: string, clientId: string): string =>
  `Another client uses the client id "${clientId}" at the broker at ${place}, which ended this connection; give each its own mqtt.clientId`;

/** Host and port. */
export const placeOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url);
  const usual = { "mqtt:": 1883, "mqtts:": 8883, "ws:": 80, "wss:": 443 }[protocol];
  return `${hostname}:${port || usual}`;
};

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
