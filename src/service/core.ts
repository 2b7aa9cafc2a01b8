import type { Logger } from "pino";
import { type OwnTopics, ownTopics } from "../config/plug-topics.ts";
import { noMessages } from "../contract/messages.ts";
import { openStore, type Store } from "../store/index.ts";
import { type Format, formatFor } from "../units/format.ts";
import { version } from "../version.ts";
import { declareAll, declareCoins, declareLists } from "./declare.ts";
import { DefinitionTurns } from "./definitions.ts";
import type { Demo } from "./demo/demo.ts";
import { declareDemo } from "./demo/demo-rows.ts";
import { Events, eventLimits } from "./events/events.ts";
import { Devices } from "./facility/devices.ts";
import { Recorder } from "./history/recorder.ts";
import { Benchmarks } from "./hosts/benchmarks.ts";
import { HostAgents } from "./hosts/host-agents.ts";
import { nameHosts } from "./hosts/uids.ts";
import { isDemo } from "./miners/declared-miner.ts";
import { metaDataWith } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import { type LocalClock, localTimeIn } from "./money/local-time.ts";
import { PoolBook } from "./money/pool-book.ts";
import { pricing } from "./money/pricing.ts";
import { Rates } from "./money/rates.ts";
import { NewestVersion } from "./newest-version.ts";
import { Alarms } from "./notifications/alarms.ts";
import { ChannelBook } from "./notifications/channel-book.ts";
import { Hooks } from "./notifications/hooks.ts";
import type { ServiceOptions } from "./options.ts";
import { placesOf } from "./places/place-book.ts";
import { placeDefaults, placeStoredLocations } from "./places/stored-locations.ts";
import { declareHeatings } from "./power/heating.ts";
import { byTimer } from "./repeat.ts";
import type { ServiceRoom } from "./room.ts";
import { liveLists, type Sections, type SettingsPart } from "./settings/live-settings.ts";
import { SettingsBook, sourceOf } from "./settings/settings-book.ts";
import { SiteTokens } from "./site-tokens.ts";
import { AccessBook } from "./users/access.ts";
import { ReadShares } from "./users/read-shares.ts";
import { brokerPlace } from "./web-targets.ts";

export type Core = Awaited<ReturnType<typeof openCore>>;

/** The first room: everything that does not depend on miners. Brings the store in line with the configuration. */
export async function openCore(options: ServiceOptions) {
  const { log, now = Date.now, monotonicNow = () => performance.now(), repeat = byTimer, demo } = options;
  const store: Store = demo?.store ?? options.store;
  const book = options.settings ?? new SettingsBook(sourceOf(options.config), store, log);
  const { config, live: settings } = book;
  await declareCoins(config, store);
  const rates = new Rates(settings.part("exchange rates", ["display", "rates"]).now);
  const coins = new Coins(store, config, rates, now);
  const places = placesOf(store);
  const events = new Events({ now, limits: { ...eventLimits, kept: options.eventsKept ?? eventLimits.kept } });
  await placeStoredLocations(options.store, places);
  await declareAll(config, store, coins, places);
  await placeDefaults(config, store, places);
  if (demo !== undefined) await declareDemo(demo, coins);
  await declareHeatings(config.heating, store);
  await nameHosts(store.hosts);
  const accessBook = new AccessBook(store);
  const pools = new PoolBook(store, coins, accessBook, settings.part("checks of pools", ["sites"]).now);
  settings.part("lists of the file", liveLists).onChange(async (lists) => {
    await declareCoins(lists, store);
    coins.follow(lists);
    await declareLists(lists, store, coins, places);
    pools.renew();
  });
  settings.part("places of defaults", ["defaults"]).onChange(async (defaults) => {
    if (await placeDefaults(defaults, store, places)) events.places();
  });
  const hooks = new Hooks(settings.part("web hooks", ["hooks"]).now);
  const format = liveFormat(settings.part("formats", ["display"]));
  const agents = new HostAgents(store, log, now, options.agentGraceMs);
  const records = await openRecords(settings.part("samples", ["history"]).now, store, demo, now, log);
  const newest = new NewestVersion({ settings: config.updates, log, repeat });
  const siteTokens = new SiteTokens();
  const messages = options.messages ?? noMessages;
  const facility = settings.part("facility devices", ["facility"]);
  const devices = new Devices(facility.now.facility, { messages, now, monotonicNow });
  facility.onChange((now) => devices.follow(now.facility));
  const demoListeners: (() => Promise<void>)[] = [];
  return {
    options,
    settingsBook: book,
    settings,
    store,
    definitions: new DefinitionTurns(),
    log,
    now,
    monotonicNow,
    repeat,
    messages,
    devices,
    broker: liveBroker(settings.part("topics of the MQTT bridge", ["mqtt"])),
    format,
    localTime: liveLocalTime(settings.part("local dates", ["display"])),
    metaData: metaDataWith(format, now),
    coins,
    ...pricing(settings.part("tariffs", ["electricity", "display", "miners", "groups"]), store, rates, now),
    accessBook,
    places,
    book: pools,
    shares: new ReadShares(monotonicNow),
    records,
    events,
    siteTokens,
    /** Calls the listener once the rigs of the demo are gone, for what else belongs to it. */
    onDemoLeft: (listener: () => Promise<void>): void => {
      demoListeners.push(listener);
    },
    demoHasLeft: async (): Promise<void> => {
      for (const listener of demoListeners) await listener();
    },
    alarms: new Alarms(store.notifications),
    hooks,
    channels: new ChannelBook(store, settings.part("channels of the file", ["channels"]).now),
    agents,
    benchmarks: new Benchmarks(store.benchmarks, now),
    operations: {
      listAlgorithms: coins.listAlgorithms,
      /** A service alone has no other sites. */
      listSites: async () => [],
      ...siteTokens.operations,
      getVersion: async () => ({ name: "Rigbridge", version, newest: newest.known }),
    },
    start: () => newest.start(),
    settled: () => newest.settled(),
    close: async (later: Promise<void>): Promise<void> => {
      newest.close();
      await later;
      devices.close();
      agents.close();
      await records.close();
    },
  } satisfies ServiceRoom;
}

/** Formats for the present locale, currency and time zone. */
function liveFormat(part: SettingsPart<"display">): Format {
  let present = formatFor(part.now.display);
  part.onChange(({ display }) => {
    present = formatFor(display);
  });
  return {
    hashrate: (perSecond, unit) => present.hashrate(perSecond, unit),
    temperatures: (celsius) => present.temperatures(celsius),
    power: (watts) => present.power(watts),
    duration: (seconds) => present.duration(seconds),
    money: (amount) => present.money(amount),
    count: (number) => present.count(number),
    grouped: (number) => present.grouped(number),
    decimal: (number) => present.decimal(number),
    localTime: (time) => present.localTime(time),
  };
}

/** The broker in the present MQTT settings. */
function liveBroker(part: SettingsPart<"mqtt">) {
  let place = brokerPlace(part.now.mqtt);
  let own = ownTopics(part.now.mqtt);
  part.onChange(({ mqtt }) => {
    place = brokerPlace(mqtt);
    own = ownTopics(mqtt);
  });
  return {
    /** The same object until the settings change; null without a broker. */
    place: () => place,
    ownTopics: (): OwnTopics => own,
  };
}

/** Dates in the present time zone. */
function liveLocalTime(part: SettingsPart<"display">): LocalClock {
  let present = localTimeIn(part.now.display.timeZone);
  part.onChange(({ display }) => {
    present = localTimeIn(display.timeZone);
  });
  return (time) => present(time);
}

/** The records of miners; those of demo miners end with the process. */
async function openRecords(
  settings: Sections<"history">,
  store: Store,
  demo: Demo | undefined,
  now: () => number,
  log: Logger,
) {
  const demoStore = demo?.rows ?? (await openStore({ file: ":memory:", now }));
  const recorder = new Recorder(store, settings, now, log);
  const demoRecorder = new Recorder(demoStore, settings, now, log);
  for (const each of [recorder, demoRecorder]) await each.start();
  return {
    demoStore,
    recorderOf: (minerId: number): Recorder => (isDemo(minerId) ? demoRecorder : recorder),
    /** Last stored Wh of a group. */
    energyOfGroup: (groupId: number): number | null => {
      const [own, demo] = [recorder.energyOfGroup(groupId), demoRecorder.energyOfGroup(groupId)];
      return own === null || demo === null ? (own ?? demo) : own + demo;
    },
    close: async (): Promise<void> => {
      await recorder.close();
      await demoRecorder.close();
      await demoStore.close();
    },
  };
}
