import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Logger } from "pino";
import type { BackOff } from "../async/index.ts";
import { homeAssistantSettings, type MqttSettings } from "../config/mqtt.ts";
import type { MqttStatus } from "../contract/mqtt-status.ts";
import type { OperationName } from "../contract/operations.ts";
import type { ManualAction } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { PoolNames, RigFaults, watchFarm } from "../farm/index.ts";
import type { Announcer } from "./announcer.ts";
import { BridgeCommands, type PrepareRestart } from "./bridge-commands.ts";
import { type BridgeRun, Claim, type ClaimDelays } from "./claim.ts";
import { CommandInbox, caller } from "./command-inbox.ts";
import { Commands } from "./commands.ts";
import { CurtailmentTopics } from "./curtailment.ts";
import { CurtailmentCommands } from "./curtailment-commands.ts";
import { DisplayUnits, type UnitsPlace, unitsIn } from "./display-units.ts";
import { FacilityTopics } from "./facility.ts";
import { handover, type StateLink } from "./handover.ts";
import { announcer as homeAssistant } from "./home-assistant/announcer.ts";
import { type MqttConnection, openConnection, placeOf } from "./mqtt-connection.ts";
import type { Message } from "./mqtt-link.ts";
import { PlaceTopics } from "./places.ts";
import { Publishing } from "./publishing.ts";
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
  /** URL of the service, for people. */
  readonly page?: string | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly reconnectDelays?: BackOff;
  /** File of this installation's id; absent: each run has its own id. */
  readonly instanceFile?: string | null;
  /** What the active services of a site go on with, one after another, in place of files; null: there is only one. */
  readonly pair?: PairOfBridges | null;
  readonly claimDelays?: ClaimDelays;
  /** Absent: the program cannot be restarted in this process. */
  readonly restart?: PrepareRestart;
}

export interface PairOfBridges {
  readonly instance: string;
  readonly epoch: number;
  readonly units: UnitsPlace;
}

export interface Bridge {
  readonly connection: MqttConnection;
  /** Resolves once it is closed. */
  readonly ended: Promise<void>;
  readonly status: MqttStatus;
  close(): Promise<void>;
}

const tickMs = 500;
/** Interval of reading the counts of notifications: no event reports that the service dropped old ones. */
const countsIntervalMs = 60_000;
/** Interval of reading the facility devices and the sums of places. */
const sumsIntervalMs = 10_000;
/** Interval of reading the curtailments. */
const curtailmentIntervalMs = 5_000;
/** Several reasons to read the counts within this time cause one read. */
const countsDelayMs = 300;

/**
 * Connects a mining service to an MQTT broker. Returns at once: broker and service are retried for ever. Throws
 * `config.invalid` if a certificate cannot be read.
 */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { settings, log, unitsFile, reconnectDelays, instanceFile = null, pair = null, now = Date.now } = options;
  const topics = topicsOf(settings.base);
  const units = await DisplayUnits.open(pair?.units ?? (unitsFile === null ? null : unitsIn(unitsFile)), log);
  const instance = pair?.instance ?? (await instanceIn(instanceFile));
  const epoch = pair === null ? {} : { epoch: pair.epoch };
  const run: BridgeRun = { instance, host: hostname(), started: new Date(now()).toISOString(), ...epoch };
  const will = { topic: topics.state, payload: "offline" };
  const connection = await openConnection({
    settings,
    will,
    log,
    now,
    waitingId: `${settings.clientId}-${digestOf(`${instance} ${run.host} ${run.started}`)}`,
    ...(reconnectDelays === undefined ? {} : { reconnectDelays }),
  });
  return new RunningBridge({ ...options, now }, topics, units, connection, run);
}

/** The id in this file, which is created if missing; a random id if the file cannot be used. */
async function instanceIn(file: string | null): Promise<string> {
  const id = randomUUID();
  if (file === null) return id;
  const kept = await readFile(file, "utf8").catch(() => "");
  if (/^[0-9a-f-]{36}\n$/.test(kept)) return kept.trim();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await writeFile(file, `${id}\n`, { mode: 0o600 }).catch(() => undefined);
  return id;
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

class RunningBridge implements Bridge {
  readonly connection: MqttConnection;
  readonly #options: BridgeOptions & { readonly now: () => number };
  readonly #topics: Topics;
  readonly #units: DisplayUnits;
  readonly #states: StateLink;
  readonly #publishing: Publishing;
  readonly #announcer: Announcer | null;
  readonly #facility: FacilityTopics;
  readonly #places: PlaceTopics;
  readonly #sumsTimer: NodeJS.Timeout;
  readonly #curtailments: CurtailmentTopics;
  readonly #curtailmentTimer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  readonly #tickTimer: NodeJS.Timeout;
  readonly #countsTimer: NodeJS.Timeout;
  readonly #run: BridgeRun;
  readonly #claim: Claim;
  #features: ReadonlySet<OperationName> = new Set();
  #rules: readonly ManualAction[] = [];
  #countsDelay: NodeJS.Timeout | undefined;
  /** Something may have changed since the counts were asked for. */
  #countsChanged = false;
  /** Null until the service has answered or failed to answer. */
  #state: "online" | "offline" | null = null;

  constructor(
    options: BridgeOptions & { readonly now: () => number },
    topics: Topics,
    units: DisplayUnits,
    connection: MqttConnection,
    run: BridgeRun,
  ) {
    const { service, settings, log, now, version, currency, page } = options;
    this.#options = options;
    this.#topics = topics;
    this.#units = units;
    this.connection = connection;
    this.#run = run;
    const pools = new PoolNames(service, caller, now);
    const faults = new RigFaults(log);
    this.#announcer =
      settings.homeAssistant === false
        ? null
        : homeAssistant({
            connection,
            topics,
            settings,
            version,
            currency,
            page,
            faults,
            canRestart: options.restart !== undefined,
            pools: () => pools.names,
            rules: () => this.#rules,
            warn: (message) => log.warn(message),
            announced: (device) => this.#publishing.announced(device),
            swept: () => staleTopics.sweep(),
          });
    const continued = options.pair == null ? null : handover(connection, topics);
    this.#states = continued ?? connection;
    this.#publishing = new Publishing({
      connection: this.#states,
      topics,
      units,
      faults,
      now,
      announcer: this.#announcer,
      qos: settings.qos,
      interval: settings.interval,
      notified: () => this.#publishCountsSoon(),
    });
    this.#facility = new FacilityTopics({
      service,
      connection: this.#states,
      topics,
      announcer: this.#announcer,
      qos: settings.qos,
      now,
    });
    this.#places = new PlaceTopics({
      service,
      connection: this.#states,
      topics,
      announcer: this.#announcer,
      unread: () => (this.#publishing.isRead ? this.#publishing.unread() : null),
      qos: settings.qos,
      interval: settings.interval,
      now,
    });
    this.#curtailments = new CurtailmentTopics({
      service,
      connection: this.#states,
      topics,
      isControllable: settings.curtailment,
      qos: settings.qos,
      now,
    });
    const responder = new Responder({
      connection,
      log,
      now,
      base: settings.base,
      responseTopics: settings.responseTopics,
    });
    const inbox = new CommandInbox({ responder, log, now });
    const shared = { service, inbox, topics, base: settings.base };
    const commands = new Commands({ ...shared, publishing: this.#publishing, pools });
    const requests = new Requests({ ...shared, changed: () => this.#publishCountsSoon() });
    const curtailments = new CurtailmentCommands({ ...shared, changed: () => void this.#curtailments.read() });
    const staleTopics = new StaleTopics(connection, topics, this.#publishing, this.#facility, this.#places);
    const { claimDelays: delays } = options;
    this.#claim = new Claim({
      connection,
      topics,
      run,
      log,
      place: placeOf(settings.url),
      ...(delays === undefined ? {} : { delays }),
      isOnline: () => this.#state === "online",
      publishAgain: () => {
        this.#publishState();
        this.#publishInfo();
      },
      waits: () => {
        this.#announcer?.reread();
        staleTopics.again();
      },
      changed: (conflict) => service.setWarning?.(conflictTitle, conflict),
    });
    const bridgeCommands = new BridgeCommands({
      inbox,
      topics,
      base: settings.base,
      log,
      restart: options.restart,
      changed: () => this.#publishInfo(),
    });
    const request = (message: Message): void => {
      void requests.handle(message);
      void bridgeCommands.handle(message);
    };
    if (settings.requests) connection.subscribe(topics.requests, request, { fresh: true });
    connection.subscribe(topics.commands, (message) => void commands.handle(message), { fresh: true });
    if (settings.curtailment)
      connection.subscribe(topics.curtailments, (message) => void curtailments.handle(message), { fresh: true });
    const { birthTopic } = homeAssistantSettings(settings);
    if (this.#announcer !== null) connection.subscribe([birthTopic], (message) => this.#homeAssistantStarted(message));
    connection.connected(() => {
      // Clears the warning of a run that was killed during a conflict.
      service.setWarning?.(conflictTitle, null);
      this.#publishAll();
    });
    this.#watching = watchFarm(
      { service, caller, log, signal: this.#closing.signal },
      {
        read: (lists) => {
          void pools.read();
          const isOther = lists.features !== this.#features;
          this.#rules = lists.rules;
          this.#features = lists.features;
          this.#publishing.read(lists);
          for (const each of [this.#facility, this.#places, this.#curtailments]) each.follow(lists.features);
          if (isOther) this.#publishInfo();
          this.#setState("online");
        },
        lost: () => this.#setState("offline"),
        back: () => this.#setState("online"),
        miner: (miner) => this.#publishing.miner(miner),
        removed: (id) => this.#publishing.removed(id),
        happened: (event) => this.#publishing.happened(event),
        summary: (summary) => this.#publishing.summary(summary),
        notification: (notification) => this.#publishing.notification(notification),
        notificationsHandled: () => this.#publishing.notificationsHandled(),
      },
    );
    this.#tickTimer = setInterval(() => {
      this.#publishing.tick();
      this.#places.tick();
      if (this.#announcer === null && this.#publishing.isComplete) staleTopics.sweep();
    }, tickMs);
    this.#sumsTimer = setInterval(() => {
      void this.#facility.read();
      void this.#places.read();
    }, sumsIntervalMs);
    this.#curtailmentTimer = setInterval(() => void this.#curtailments.read(), curtailmentIntervalMs);
    this.#countsTimer = setInterval(() => this.#publishCountsSoon(), countsIntervalMs);
    void this.ended.then(() => {
      continued?.end();
      this.#stop();
    });
  }

  get ended(): Promise<void> {
    return this.connection.ended;
  }

  get status(): MqttStatus {
    const { isConnected, isOpen } = this.connection;
    const { isWaiting, conflict } = this.#claim;
    // Without machine names, because anyone can read it.
    const detail = isWaiting ? "Another Rigbridge has the same topics" : "Another Rigbridge waits for the same topics";
    return {
      state: isConnected ? "connected" : isOpen && isWaiting ? "waiting" : "disconnected",
      detail: conflict === null ? null : `${detail}; the log and the notifications say more`,
    };
  }

  async close(): Promise<void> {
    this.#claim.close();
    await this.connection.close(this.#state === "offline");
    this.#stop();
    await this.#watching;
    await this.#units.close();
  }

  #stop(): void {
    this.#closing.abort();
    clearInterval(this.#tickTimer);
    clearInterval(this.#countsTimer);
    clearInterval(this.#sumsTimer);
    clearInterval(this.#curtailmentTimer);
    clearTimeout(this.#countsDelay);
    this.#announcer?.close();
  }

  /** Publishes everything retained, starting with the topics that others depend on. */
  #publishAll(): void {
    this.#publishState();
    this.#publishInfo();
    this.#announcer?.reannounce();
    this.#publishCountsSoon();
    void this.#publishing.publishAll();
    for (const each of [this.#facility, this.#places, this.#curtailments]) void each.read(true);
  }

  /** The state is "online" only while the service is watched: the published data may be outdated otherwise. */
  #setState(state: "online" | "offline"): void {
    const isOther = state !== this.#state;
    this.#state = state;
    if (isOther) this.#publishState();
  }

  #publishState(): void {
    const payload = this.#state;
    if (payload === null) return;
    this.connection.publish({ topic: this.#topics.state, payload, qos: 1, retain: true });
  }

  #publishInfo(): void {
    const { settings, version, log } = this.#options;
    const { base, qos, interval, homeAssistant, requests } = settings;
    const payload = JSON.stringify({
      name: "Rigbridge",
      version,
      ...this.#run,
      mqtt: this.connection.version === 5 ? "5" : "3.1.1",
      log_level: log.level,
      base,
      qos,
      interval,
      homeAssistant,
      operations: requests ? [...this.#features].sort() : [],
    });
    this.connection.publish({ topic: this.#topics.info, payload, qos: 1, retain: true });
  }

  #homeAssistantStarted({ payload }: Message): void {
    if (payload.toString() === "online") this.#publishAll();
  }

  #publishCountsSoon(): void {
    this.#countsChanged = true;
    if (this.#countsDelay !== undefined || this.#closing.signal.aborted) return;
    this.#countsDelay = setTimeout(async () => {
      this.#countsChanged = false;
      await this.#publishCounts().catch(() => undefined);
      this.#countsDelay = undefined;
      if (this.#countsChanged) this.#publishCountsSoon();
    }, countsDelayMs);
  }

  async #publishCounts(): Promise<void> {
    const list = await this.#options.service.listNotifications({}, caller);
    const { notificationList, notificationCount: count, unacknowledgedNotificationCount: unacknowledged } = list;
    const open = notificationList.filter(({ closedUtc }) => closedUtc === null);
    // Changes since the request are not included; the counts are read again for them.
    if (!this.#countsChanged) this.#publishing.openNotifications(open);
    const alarms = open.filter(({ isWarning }) => isWarning).length;
    const critical = open.filter(({ severity }) => severity === "critical").length;
    const payload = JSON.stringify({ count, unacknowledged, open: open.length, alarms, critical });
    this.#states.publish({ topic: this.#topics.notifications, payload, qos: 1, retain: true });
  }
}

/** Title of the notification about another Rigbridge at the same topics. */
const conflictTitle = "MQTT topics in use";
