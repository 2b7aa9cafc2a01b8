import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { BackOff } from "../async/index.ts";
import type { MqttSettings } from "../config/mqtt.ts";
import type { OperationName } from "../contract/operations.ts";
import type { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { PoolNames, RigFaults, watchFarm } from "../farm/index.ts";
import { CommandInbox, caller, objectIn, textOf } from "./command-inbox.ts";
import { Commands } from "./commands.ts";
import { DisplayUnits } from "./display-units.ts";
import { announcer as homeAssistant } from "./home-assistant/announcer.ts";
import { anotherBridge, type MqttConnection, openConnection, placeOf } from "./mqtt-connection.ts";
import type { Message } from "./mqtt-link.ts";
import { type Announcer, Publishing } from "./publishing.ts";
import { Requests } from "./requests.ts";
import { Responder } from "./responder.ts";
import { StaleTopics } from "./stale-topics.ts";
import { type Topics, topicsOf } from "./topics.ts";

export interface BridgeOptions {
  readonly service: MiningService;
  readonly settings: MqttSettings & { readonly url: string };
  readonly log: Logger;
  readonly version: string;
  /** File of the display units of hash rates; null: none. */
  readonly unitsFile: string | null;
  /** Display currency, "SEK". */
  readonly currency?: string | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly reconnectDelays?: BackOff;
}

export interface Bridge {
  readonly connection: MqttConnection;
  /** Resolves when it has ended: with the reason if another bridge has taken over, null once closed. */
  readonly ended: Promise<RigbridgeError | null>;
  close(): Promise<void>;
}

const tickMs = 500;
/** Between two reads of the counts of notifications: no event says that one was acknowledged. */
const countsIntervalMs = 60_000;
/** Several reasons to read the counts within this cause one read. */
const countsDelayMs = 300;

/**
 * Connects a mining service to an MQTT broker. Returns at once: broker and service are retried for ever. Throws
 * `config.invalid` if a certificate cannot be read.
 */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { settings, log, unitsFile, reconnectDelays, now = Date.now } = options;
  const topics = topicsOf(settings.base);
  const units = await DisplayUnits.open(unitsFile, log);
  const will = { topic: topics.state, payload: "offline" };
  const connection = await openConnection({
    settings,
    will,
    log,
    now,
    ...(reconnectDelays === undefined ? {} : { reconnectDelays }),
  });
  return new RunningBridge({ ...options, now }, topics, units, connection);
}

class RunningBridge implements Bridge {
  readonly connection: MqttConnection;
  readonly #options: BridgeOptions & { readonly now: () => number };
  readonly #topics: Topics;
  readonly #units: DisplayUnits;
  readonly #publishing: Publishing;
  readonly #announcer: Announcer | null;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #tickTimer: NodeJS.Timeout;
  readonly #countsTimer: NodeJS.Timeout;
  /** Identifies this run among others at the same topics; of two, the one started first stops. */
  readonly #run: { readonly instance: string; readonly started: string };
  #features: ReadonlySet<OperationName> = new Set();
  #countsDelay: NodeJS.Timeout | undefined;
  #connects = 0;
  #isWatching = false;

  constructor(
    options: BridgeOptions & { readonly now: () => number },
    topics: Topics,
    units: DisplayUnits,
    connection: MqttConnection,
  ) {
    const { service, settings, log, now, version, currency } = options;
    this.#options = options;
    this.#topics = topics;
    this.#units = units;
    this.connection = connection;
    this.#run = { instance: randomUUID(), started: new Date(now()).toISOString() };
    const pools = new PoolNames(service, caller, now);
    const faults = new RigFaults(log);
    this.#announcer =
      settings.homeAssistant === false
        ? null
        : homeAssistant({
            ...{ connection, topics, settings, version, currency, faults },
            pools: () => pools.names,
            warn: (message) => log.warn(message),
          });
    this.#publishing = new Publishing({
      ...{ connection, topics, units, faults, now },
      announcer: this.#announcer,
      qos: settings.qos,
      interval: settings.interval,
      notified: () => this.#publishCountsSoon(),
    });
    const responder = new Responder({
      ...{ connection, log, now },
      base: settings.base,
      responseTopics: settings.responseTopics,
    });
    const inbox = new CommandInbox({ responder, log, now });
    const shared = { service, inbox, topics, base: settings.base };
    const commands = new Commands({ ...shared, publishing: this.#publishing, pools });
    const requests = new Requests({ ...shared, changed: () => this.#publishCountsSoon() });
    const staleTopics = new StaleTopics(connection, topics, this.#publishing);
    connection.subscribe([topics.info], (message) => this.#yieldToNewerBridge(message));
    if (settings.requests)
      connection.subscribe(topics.commands.filter(isRequest), (message) => void requests.handle(message), {
        fresh: true,
      });
    connection.subscribe(
      topics.commands.filter((filter) => !isRequest(filter)),
      (message) => void commands.handle(message),
      { fresh: true },
    );
    if (this.#announcer !== null)
      connection.subscribe([birthTopic(settings)], (message) => this.#homeAssistantStarted(message));
    connection.connected(() => {
      this.#connects += 1;
      this.#publishAll();
    });
    this.#watching = watchFarm(
      { service, caller, log, signal: this.#closing.signal },
      {
        read: (lists) => {
          void pools.read();
          const isOther = lists.features !== this.#features;
          this.#features = lists.features;
          this.#publishing.read(lists);
          if (isOther) this.#publishInfo();
          staleTopics.sweep();
          this.#setWatching(true);
        },
        lost: () => this.#setWatching(false),
        back: () => this.#setWatching(true),
        miner: (miner) => this.#publishing.miner(miner),
        removed: (id) => this.#publishing.removed(id),
        happened: (event) => this.#publishing.happened(event),
        summary: () => undefined,
        notification: (notification) => this.#publishing.notification(notification),
      },
    );
    this.#tickTimer = setInterval(() => this.#publishing.tick(), tickMs);
    this.#countsTimer = setInterval(() => this.#publishCountsSoon(), countsIntervalMs);
    void this.ended.then(() => this.#stop());
  }

  get ended(): Promise<RigbridgeError | null> {
    return this.connection.ended;
  }

  async close(): Promise<void> {
    await this.connection.close();
    this.#stop();
    await this.#watching;
    await this.#units.close();
  }

  #stop(): void {
    this.#closing.abort();
    clearInterval(this.#tickTimer);
    clearInterval(this.#countsTimer);
    clearTimeout(this.#countsDelay);
    this.#announcer?.close();
  }

  /** Publishes everything retained; what other topics depend on comes first. */
  #publishAll(): void {
    this.#publishState();
    this.#publishInfo();
    this.#announcer?.reannounce();
    this.#publishCountsSoon();
    void this.#publishing.publishAll();
  }

  /** The state is "online" only while the service is watched: what was published before may be outdated. */
  #setWatching(isWatching: boolean): void {
    const isOther = isWatching !== this.#isWatching;
    this.#isWatching = isWatching;
    if (isOther) this.#publishState();
  }

  #publishState(): void {
    const payload = this.#isWatching ? "online" : "offline";
    this.connection.publish({ topic: this.#topics.state, payload, qos: 1, retain: true });
  }

  #publishInfo(): void {
    const { settings, version } = this.#options;
    const { base, qos, interval, homeAssistant, requests } = settings;
    const payload = JSON.stringify({
      name: "Rigbridge",
      version,
      ...this.#run,
      mqtt: this.connection.version === 5 ? "5" : "3.1.1",
      ...{ base, qos, interval, homeAssistant },
      operations: requests ? [...this.#features].sort() : [],
    });
    this.connection.publish({ topic: this.#topics.info, payload, qos: 1, retain: true });
  }

  #homeAssistantStarted({ payload }: Message): void {
    if (payload.toString() === "online") this.#publishAll();
  }

  /** Stops this bridge if the info topic names one that was started later. */
  #yieldToNewerBridge({ payload, retained }: Message): void {
    // At the first connect a retained message is from an earlier run, whatever its clock said.
    const other = retained && this.#connects === 1 ? null : infoIn(payload);
    if (other === null || other.instance === this.#run.instance) return;
    const { url, clientId } = this.#options.settings;
    const { started, instance } = this.#run;
    if (`${other.started} ${other.instance}` < `${started} ${instance}`) return;
    void this.connection.close(anotherBridge(placeOf(url), clientId));
  }

  #publishCountsSoon(): void {
    if (this.#countsDelay !== undefined || this.#closing.signal.aborted) return;
    this.#countsDelay = setTimeout(async () => {
      await this.#publishCounts().catch(() => undefined);
      this.#countsDelay = undefined;
    }, countsDelayMs);
  }

  async #publishCounts(): Promise<void> {
    const list = await this.#options.service.listNotifications({}, caller);
    const { notificationCount: count, unacknowledgedNotificationCount: unacknowledged } = list;
    const payload = JSON.stringify({ count, unacknowledged });
    this.connection.publish({ topic: this.#topics.notifications, payload, qos: 1, retain: true });
  }
}

const isRequest = (filter: string): boolean => filter.endsWith("/bridge/request/+");

const birthTopic = ({ homeAssistant }: MqttSettings): string =>
  `${typeof homeAssistant === "object" ? homeAssistant.prefix : "homeassistant"}/status`;

function infoIn(payload: Buffer): { readonly instance: string; readonly started: string } | null {
  try {
    const { instance, started } = objectIn(textOf(payload));
    return typeof instance === "string" && typeof started === "string" ? { instance, started } : null;
  } catch {
    return null;
  }
}
