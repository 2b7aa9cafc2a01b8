import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Config, defaultConfig, exposed, readConfig, resolved } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import type { AnnounceOptions } from "../discovery/announce.ts";
import { reachableHosts } from "../discovery/own-machine.ts";
import { type HttpServer, startHttpServer } from "../http/index.ts";
import { hostForUrl } from "../http/security.ts";
import type { BridgeOptions, PairOfBridges } from "../mqtt/index.ts";
import {
  openDemo,
  present,
  type RunningService,
  SettingsBook,
  type SettingsPart,
  type SettingsSource,
  startService,
} from "../service/index.ts";
import { mqttUnits, type Store } from "../store/index.ts";
import { version } from "../version.ts";
import { LiveAnnouncement } from "./live-announcement.ts";
import { LiveBridge } from "./live-bridge.ts";
import { LiveCentreLink } from "./live-centre-link.ts";
import { LiveRemoteWrite } from "./live-remote-write.ts";
import { openLog } from "./log.ts";
import { askAgainMs, openServiceStore, passes } from "./open-store.ts";
import { LiveOwnAgent } from "./own-agent.ts";
import { showWelcome } from "./show-welcome.ts";
import { Shutdown } from "./shutdown.ts";
import { configFileOf, filesBeside, ownKeyFile, type PlaceOptions, storeWithoutConfig } from "./store-place.ts";
import { placesOf, type Served } from "./welcome.ts";

export interface ServeOptions extends PlaceOptions {
  readonly demo?: true;
  readonly makeKey?: true;
  /** Turns off all rules and schedules. */
  readonly withoutRules?: true;
  /** Uses a database that is older than the service has seen it. */
  readonly acceptRestored?: true;
  /** Listens on all addresses, with a key that is created if none is set. */
  readonly lan?: true;
  readonly host?: string;
  readonly port?: number;
}

interface Place {
  /** Where a configuration file would be. */
  readonly usualFile: string;
  /** The addresses at which other machines reach this one. */
  readonly ownHosts: () => readonly string[];
  /** Called once the store is open. */
  readonly opened: () => void;
  /** Closes everything, reads the configuration again and restarts in this process. */
  readonly restart: NonNullable<BridgeOptions["restart"]>;
}

/** A configuration to start with, and its file. */
interface Start {
  readonly file: string | null;
  readonly source: SettingsSource;
  /** Without what the store holds. */
  readonly config: Config;
  readonly warnings: readonly string[];
}

interface Running {
  readonly service: MiningService;
  readonly served: Served;
  readonly listening: HttpServer["address"];
  readonly announced: SettingsPart<"http">;
  readonly loginCode: HttpServer["loginCode"];
  /** Resolves once another service has the lease of the store; undefined if the store is this one's alone. */
  readonly lost: Promise<void> | undefined;
}

/** Announces the service elsewhere than on the machine's networks at the port of mDNS. */
type OtherNetwork = Pick<AnnounceOptions, "interfaces" | "udpPort">;

/** Starts everything and returns; the process then runs until a signal stops it. */
export async function runService(options: ServeOptions, otherNetwork: OtherNetwork = {}): Promise<void> {
  const { usual: usualFile } = configFileOf(options);
  const read = async (): Promise<Start> => startWith(configFileOf(options).file, usualFile, options);
  const first = await read();
  const log = await openLog();
  const shutdown = new Shutdown();
  /** Null while it starts, for the first time or again. */
  let running: MiningService | null = null;
  let wasSignalled = false;
  /** Of the first start only: a database that is restored later is refused. */
  let { acceptRestored } = options;
  /** Once a store was opened. */
  let isAgain = false;
  shutdown.takeSignals(log, () => {
    if (running === null) wasSignalled = true;
    else void reload(running, log);
  });
  const runAgain = (next: Start): void => {
    running = null;
    void shutdown.restart(log, () => runWithStore(next));
  };
  const run = async (begin: Start): Promise<void> => {
    for (const warning of begin.warnings) log.warn(warning);
    const place: Place = {
      usualFile,
      ownHosts: otherNetwork.interfaces ?? reachableHosts,
      restart: async () => {
        const next = await read();
        return () => runAgain(next);
      },
      opened: () => {
        isAgain = true;
        acceptRestored = undefined;
      },
    };
    const started = await start(begin, place, { ...options, acceptRestored, isAgain }, log, shutdown);
    const { service, served, listening, announced, loginCode, lost } = started;
    running = service;
    if (wasSignalled) void reload(service, log);
    wasSignalled = false;
    await showWelcome(served, loginCode, log);
    const announcement = new LiveAnnouncement({ ...otherNetwork, address: listening, version, log }, announced);
    await announcement.start();
    shutdown.add("announcement", () => announcement.close());
    // Not before everything is started, since nothing is started twice at a time.
    void lost?.then(async () => {
      log.error("Another service of the site has taken over; this one waits from now on");
      runAgain(await read().catch((error: unknown) => unread(error, begin, log)));
    });
  };
  /** Waits for a store that goes away, or to another service, during the start. */
  const runWithStore = async (begin: Start): Promise<void> => {
    for (;;)
      try {
        return await run(begin);
      } catch (error) {
        if (!isAgain || !passes(error)) throw error;
        log.warn({ err: error }, "The store was lost while this service started; it starts again");
        await shutdown.closeParts(log);
        await sleep(askAgainMs);
        if (shutdown.isClosing) return;
      }
  };
  try {
    await runWithStore(first);
  } catch (error) {
    await shutdown.close(log);
    throw withAdvice(error, first.file);
  }
}

function unread(error: unknown, begin: Start, log: Logger): Start {
  log.error({ err: error }, "The configuration was not read again; this service waits with the one that it had");
  return begin;
}

/** On SIGHUP. A file with mistakes changes nothing. */
async function reload(service: MiningService, log: Logger): Promise<void> {
  try {
    const { message } = await service.reloadSettings({}, { actor: "SIGHUP" });
    log.info(message);
  } catch (error) {
    const mistakes = error instanceof RigbridgeError ? error.errors : [];
    const list = mistakes.map(({ path, message }) => `${path}: ${message}`).join("\n");
    const why = error instanceof Error ? error.message : String(error);
    log.error(
      { mistakes },
      `The configuration was not read again: ${[why, list].filter((each) => each !== "").join("\n")}`,
    );
  }
}

/** The server's message names configuration keys; this adds the file, if there is one, and the option. */
function withAdvice(error: unknown, file: string | null): unknown {
  if (!(error instanceof RigbridgeError) || !(error.cause instanceof Error) || !("code" in error.cause)) return error;
  if (error.cause.code !== "EADDRINUSE") return error;
  const where = file === null ? "" : ` in ${file}`;
  return new RigbridgeError(error.code, `${error.message}${where}, or choose another with --port`, { cause: error });
}

/** The configuration of the file, or the defaults without one, overridden by the options. */
async function startWith(file: string | null, usualFile: string, options: ServeOptions): Promise<Start> {
  const read = file === null ? null : await readConfig(file);
  const base = read?.file ?? { ...noFile, config: unconfigured(options.data) };
  const given = read?.config ?? base.config;
  const ownKeyOf =
    given.http.key === undefined && (options.makeKey ?? options.lan) === true
      ? await ownKey(filesBeside(given.store.url, file ?? usualFile, options.data))
      : undefined;
  const finish = (config: Config): Config => {
    const { host = options.lan === true ? "0.0.0.0" : config.http.host, port = config.http.port } = options;
    const key = config.http.key ?? ownKeyOf;
    const http = { ...config.http, host, port, ...(key === undefined ? {} : { key }) };
    const why = exposed(http);
    if (why !== null)
      throw new RigbridgeError("config.invalid", `--host: ${why} (in ${file ?? usualFile}), or use --make-key`);
    const folder = file === null ? dirname(config.store.url) : dirname(file);
    return { ...resolved(config, folder), store: given.store, http };
  };
  const source: SettingsSource = {
    base,
    reread: async () => (file === null ? base : (await readConfig(file)).file),
    finish,
  };
  return { file, source, config: finish(base.config), warnings: read?.warnings ?? [] };
}

const noFile = { name: "", written: {}, lineOf: () => null } as const;

const unconfigured = (data: string | undefined): Config => ({
  ...defaultConfig(),
  store: { url: storeWithoutConfig(data) },
});

interface StartOptions {
  readonly data?: string;
  readonly demo?: boolean;
  readonly withoutRules?: boolean;
  readonly acceptRestored?: boolean | undefined;
  /** Not the first start of this process. */
  readonly isAgain: boolean;
}

async function start(
  { file, source, config: { store: place, http: listened } }: Start,
  { usualFile, ownHosts, restart, opened }: Place,
  { demo: wantsDemo, withoutRules = false, acceptRestored = false, isAgain, data }: StartOptions,
  log: Logger,
  shutdown: Shutdown,
): Promise<Running> {
  if (file === null) await mkdir(dirname(place.url), { recursive: true, mode: 0o700 });
  const { url: address } = placesOf(
    { url: `http://${hostForUrl(listened.host)}:${listened.port}`, address: listened },
    ownHosts(),
  );
  const files = filesBeside(place.url, file ?? usualFile, data);
  const storeOptions = { address, files, acceptRestored, isAgain };
  const store = await openServiceStore({ store: place, http: listened }, storeOptions, version, log, shutdown);
  shutdown.add("store", () => store.close());
  opened();
  const { miners, sites } = source.base.config;
  const isAlone = miners.length + sites.length + minersIn(store) === 0 && !hasSites(store);
  const running = wantsDemo === true || (file === null && isAlone) ? await demoOf(isAlone, store) : undefined;
  if (running !== undefined) shutdown.addFirst("demo", () => running.close());
  const settings = new SettingsBook({ ...source, demo: running?.sections }, running?.demo.store ?? store, log);
  const { config } = settings;
  const bridge = new LiveBridge(settings.live, files, pairOf(store));
  const remoteWrite = new LiveRemoteWrite(settings.live.part("remote write", ["history"]), files);
  const access = settings.live.part("HTTP server", ["http"]).now;
  const announced = settings.live.part("announcement", ["http"]);
  let ownPort: number | null = null;
  const service = await startService({
    config,
    settings,
    restart,
    store,
    log,
    messages: bridge.messages,
    tryBroker: async (mqtt, signal) => (await import("../mqtt/trial.ts")).tryBroker(mqtt, signal),
    tryReceiver: async (remoteWrite, signal) =>
      (await import("../remote-write/trial.ts")).tryReceiver(remoteWrite, signal),
    findTopics: async (mqtt, signal) => (await import("../mqtt/find-topics.ts")).findTopics(mqtt, signal),
    withoutRules,
    ownPort: () => ownPort,
    ...(running === undefined ? {} : { demo: { ...running.demo, left: () => leaveDemo(running, settings, log) } }),
  });
  shutdown.add("service", () => service.close());
  const front = await withSites(service, settings, store, log, restart, shutdown);
  running?.connect(service, running.demo.rows.managedMiners.all());
  const agent = new LiveOwnAgent(settings.live.part("own agent", ["agent", "software"]), files, log);
  await agent.start(service);
  shutdown.add("agent", () => agent.close());
  const http = await startHttpServer({
    service: front,
    settings: present(() => access.http),
    log,
    version,
    sessions: store.sessions,
    lease: store.lease,
    waiting: () => store.waiting(),
    mqtt: () => bridge.status,
    remoteWrite: () => remoteWrite.status,
  });
  ownPort = http.address.port;
  shutdown.add("HTTP server", () => http.close());
  const link = new LiveCentreLink(settings.live.part("connection to the centre", ["centre"]), {
    http,
    instance: store.instance,
    log,
  });
  await link.start(settings.state("centre").owner === "file");
  shutdown.add("connection to the centre", () => link.close());
  const places = placesOf(http, ownHosts());
  const isOfFile = settings.state("mqtt").owner === "file";
  await bridge.start({ service: front, log, restart, page: places.url }, isOfFile);
  shutdown.add("MQTT bridge", () => bridge.close());
  await remoteWrite.start({ service: front, log });
  shutdown.add("remote write", () => remoteWrite.close());
  const served = {
    ...places,
    version,
    miners: minersIn(store),
    demoMiners: running?.miners ?? 0,
    wantsKey: config.http.key !== undefined,
    file: file ?? usualFile,
  };
  return { service, served, listening: http.address, announced, loginCode: http.loginCode, lost: store.lease?.lost };
}

/** What the MQTT bridge of the next active service goes on with; null: no other service has this store. */
function pairOf({ lease, instance, keptValues }: Store): PairOfBridges | null {
  if (lease === null) return null;
  const units = {
    name: "the store",
    read: async () => keptValues.get(mqttUnits)?.value,
    write: (chosen: object) => keptValues.save(mqttUnits, chosen, Date.now()),
  };
  return { instance, epoch: lease.epoch, units };
}

/** ms in which the answer to the change reaches its sender. */
const answeredMs = 250;

/** The service with the rigs of other sites, if the configuration has any. The centre is loaded only then. */
async function withSites(
  own: RunningService,
  { config, live }: SettingsBook,
  store: Store,
  log: Logger,
  restart: Place["restart"],
  shutdown: Shutdown,
): Promise<MiningService> {
  // Every front end is built over the sites, so another list of them is a new start, in this process.
  live.part("other sites", ["sites"]).onChange(async () => {
    const again = await restart();
    setTimeout(again, answeredMs);
  });
  if (config.sites.length === 0) return own;
  const { openCentre } = await import("../centre/centre.ts");
  const { SiteLine } = await import("../centre/site-line.ts");
  const { connectService } = await import("../client/index.ts");
  const { connectThrough } = await import("../client/through.ts");
  const places = config.sites.map(({ name, url, urls = [], connectsOut, key, locale = "en-US" }) => {
    if (connectsOut) {
      const line = new SiteLine();
      return { name, url: null, line, service: connectThrough(line.dial, { name, isCentre: true, poll: 5, log }) };
    }
    const all = url === undefined ? urls : [url];
    const service = connectService({ url: all, name, key, locale, isCentre: true, poll: 5, log });
    return { name, url: all[0] ?? "", service };
  });
  const { now } = live.part("display at the centre", ["display"]);
  const centre = await openCentre({ own, places, store, display: () => now.display, log });
  shutdown.add("sites", () => centre.close());
  return centre;
}

/** Whether other sites were saved over the API. */
const hasSites = ({ settings }: Store): boolean =>
  settings
    .all()
    .some(({ section, isSaved, value }) => section === "sites" && isSaved && Array.isArray(value) && value.length > 0);

const minersIn = ({ miners, managedMiners }: Store): number =>
  [...miners.all(), ...managedMiners.all()].filter(({ disabled }) => !disabled).length;

/** Virtual rigs in this process, over the store. The simulator is loaded only here. */
async function demoOf(isAlone: boolean, store: Store) {
  const { startDemo } = await import("./demo.ts");
  const { sections, connect, close, ...parts } = await startDemo(isAlone);
  const demo = await openDemo({ ...parts, over: store, hasPast: true, now: Date.now });
  const miners = parts.config.miners.length + (parts.host === undefined ? 0 : 1);
  return { demo, miners, sections, connect, close };
}

/** The first real rig has been added, whatever fails here. */
async function leaveDemo(
  { close }: { readonly close: () => Promise<void> },
  settings: SettingsBook,
  log: Logger,
): Promise<void> {
  try {
    await settings.leaveDemo();
    await close();
  } catch (error) {
    log.error({ err: error }, "The demo could not be closed");
  }
}

/**
 * The API key generated by the first start. It is printed only then, and stored beside the store, readable only by its
 * owner. Throws `config.invalid` if there is no file for it, or that file does not contain a key.
 */
async function ownKey(store: string): Promise<string> {
  if (store === ":memory:")
    throw new RigbridgeError("config.invalid", "--make-key needs a store in a file, and store.url is :memory:");
  const file = ownKeyFile(store);
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new RigbridgeError("config.invalid", `The key file ${file} cannot be read (${error.code})`, { cause: error });
  });
  if (kept === null) return newKey(file);
  const key = kept.trim();
  if (/^[\x21-\x7e]{16,200}$/.test(key)) return key;
  throw new RigbridgeError(
    "config.invalid",
    `${file} does not hold a key of 16 or more characters; delete it to get a new one`,
  );
}

async function newKey(file: string): Promise<string> {
  const key = randomBytes(24).toString("base64url");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  console.log(`Your API key, shown only this once and kept in ${file}:\n\n  ${key}\n`);
  return key;
}
