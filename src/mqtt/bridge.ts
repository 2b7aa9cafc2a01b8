import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { MqttSettings } from "../config/mqtt.ts";
import type { OperationName } from "../contract/operations.ts";
import type { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { PoolNames, RigFaults, watchFarm } from "../farm/index.ts";
import type { Announcer } from "./announcer.ts";
import { Answering } from "./answering.ts";
import { caller } from "./caller.ts";
import { CommandInbox } from "./command-inbox.ts";
import { Commands } from "./commands.ts";
import { DisplayUnits } from "./display-units.ts";
import { announcer as homeAssistant } from "./home-assistant/announcer.ts";
import { anotherBridge, type MqttConnection, openConnection, placeOf, type Waits } from "./mqtt-connection.ts";
import type { Message } from "./mqtt-link.ts";
import { objectIn, textOf } from "./payloads.ts";
import { Publishing } from "./publishing.ts";
import { Requests } from "./requests.ts";
import { StaleTopics } from "./stale-topics.ts";
import { type Topics, topicsOf } from "./topics.ts";

export interface BridgeOptions {
  readonly service: MiningService;
  readonly settings: MqttSettings & { readonly url: string };
  readonly log: Logger;
  readonly version: string;
  /** Where the units of hash rates are kept; null: nowhere. */
  readonly unitsFile: string | null;
  /** Display currency, "SEK". */
  readonly currency?: string | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly waits?: Waits;
}

export interface Bridge {
  readonly connection: MqttConnection;
  /** Resolves when it has ended for good: with why, where another has taken its place; null once closed. */
  readonly ended: Promise<RigbridgeError | null>;
  close(): Promise<void>;
}

/** ms between two looks at what is due. */
const pace = 500;
/** ms between two readings of the counts of notifications, of which nothing tells that they were acknowledged. */
const countsPace = 60_000;
/** ms that several reasons to read them are let come together. */
const countsPause = 300;

/**
 * Brings a mining service to an MQTT broker. Returns at once: broker and service are tried for ever. Throws
 * `config.invalid` for a certificate that cannot be read.
 */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { settings, log, unitsFile, waits, now = Date.now } = options;
  const topics = topicsOf(settings.base);
  const units = await DisplayUnits.open(unitsFile, log);
  const will = { topic: topics.state, payload: "offline" };
  const connection = await openConnection({ settings, will, log, now, ...(waits === undefined ? {} : { waits }) });
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
  readonly #ticking: NodeJS.Timeout;
  readonly #counting: NodeJS.Timeout;
  /** What tells this run from another at the same topics; of two the one that was started first gives way. */
  readonly #run: { readonly instance: string; readonly started: string };
  #features: ReadonlySet<OperationName> = new Set();
  #counts: NodeJS.Timeout | undefined;
  #connects = 0;
  /** The service is watched now. */
  #isHeard = false;

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
      notified: () => this.#countSoon(),
    });
    const answering = new Answering({
      ...{ connection, log, now },
      base: settings.base,
      responseTopics: settings.responseTopics,
    });
    const inbox = new CommandInbox({ answering, log, now });
    const shared = { service, inbox, topics, base: settings.base };
    const commands = new Commands({ ...shared, publishing: this.#publishing, pools });
    const requests = new Requests({ ...shared, changed: () => this.#countSoon() });
    const leftovers = new StaleTopics(connection, topics, this.#publishing);
    connection.subscribe([topics.info], (message) => this.#meet(message));
    if (settings.requests)
      connection.subscribe(topics.commands.filter(isRequest), (message) => void requests.heard(message), {
        fresh: true,
      });
    connection.subscribe(
      topics.commands.filter((filter) => !isRequest(filter)),
      (message) => void commands.heard(message),
      { fresh: true },
    );
    if (this.#announcer !== null) connection.subscribe([birthTopic(settings)], (message) => this.#born(message));
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
          leftovers.sweep();
          this.#say(true);
        },
        lost: () => this.#say(false),
        miner: (miner) => this.#publishing.miner(miner),
        removed: (id) => this.#publishing.removed(id),
        happened: (event) => this.#publishing.happened(event),
        summary: (summary) => this.#publishing.summary(summary),
        notification: (notification) => this.#publishing.notification(notification),
      },
    );
    this.#ticking = setInterval(() => this.#publishing.tick(), pace);
    this.#counting = setInterval(() => this.#countSoon(), countsPace);
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
    clearInterval(this.#ticking);
    clearInterval(this.#counting);
    clearTimeout(this.#counts);
    this.#announcer?.close();
  }

  /** Everything that brokers keep; what others hang on comes first. */
  #publishAll(): void {
    this.#publishState();
    this.#publishInfo();
    this.#announcer?.reannounce();
    this.#countSoon();
    void this.#publishing.publishAll();
  }

  /** "online" only while the service is heard: what was published before may be wrong by now. */
  #say(isHeard: boolean): void {
    const isOther = isHeard !== this.#isHeard;
    this.#isHeard = isHeard;
    if (isOther) this.#publishState();
  }

  #publishState(): void {
    const payload = this.#isHeard ? "online" : "offline";
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

  /** Home Assistant has started: it knows nothing yet. */
  #born({ payload }: Message): void {
    if (payload.toString() === "online") this.#publishAll();
  }

  /** What a bridge says of itself at these topics: this one, one before it, or another that has taken its place. */
  #meet({ payload, retained }: Message): void {
    // What is kept at the first connect is of an earlier run, whatever the clock said then.
    const other = retained && this.#connects === 1 ? null : infoIn(payload);
    if (other === null || other.instance === this.#run.instance) return;
    const { url, clientId } = this.#options.settings;
    const { started, instance } = this.#run;
    if (`${other.started} ${other.instance}` < `${started} ${instance}`) return;
    void this.connection.close(anotherBridge(placeOf(url), clientId));
  }

  #countSoon(): void {
    if (this.#counts !== undefined || this.#closing.signal.aborted) return;
    this.#counts = setTimeout(async () => {
      await this.#count().catch(() => undefined);
      this.#counts = undefined;
    }, countsPause);
  }

  async #count(): Promise<void> {
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
