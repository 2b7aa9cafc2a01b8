import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import { openStore, type Store } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { version } from "../version.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { Events, eventLimits } from "./events/events.ts";
import { Recorder } from "./history/recorder.ts";
import { Benchmarks } from "./hosts/benchmarks.ts";
import { HostAgents } from "./hosts/host-agents.ts";
import { nameHosts } from "./hosts/uids.ts";
import { isDemo } from "./miners/declared-miner.ts";
import { metaDataWith } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import { localTimeIn } from "./money/local-time.ts";
import { PoolBook } from "./money/pool-book.ts";
import { pricing } from "./money/pricing.ts";
import { Rates } from "./money/rates.ts";
import { Alarms } from "./notifications/alarms.ts";
import { ChannelBook } from "./notifications/channel-book.ts";
import { Hooks } from "./notifications/hooks.ts";
import type { ServiceOptions } from "./options.ts";
import { declareHeatings } from "./power/heating.ts";
import { byTimer } from "./repeat.ts";
import type { ServiceRoom } from "./room.ts";
import { AccessBook } from "./users/access.ts";
import { ReadShares } from "./users/read-shares.ts";

export type Core = Awaited<ReturnType<typeof openCore>>;

/** The first room: everything that knows no miner. Brings the store in line with the configuration. */
export async function openCore(options: ServiceOptions) {
  const { config, store, log, now = Date.now, monotonicNow = () => performance.now(), repeat = byTimer } = options;
  await declareCoins(config, store);
  const rates = new Rates(config.display.currency, config.rates);
  const coins = new Coins(store, config, rates, now);
  await declareAll(config, store, coins);
  await declareHeatings(config.heating, store);
  await nameHosts(store.hosts);
  const accessBook = new AccessBook(store);
  const format = formatFor(config.display);
  const agents = new HostAgents(store, log, now, options.agentGraceMs);
  const records = await openRecords(config, store, now, log);
  return {
    options,
    config,
    store,
    log,
    now,
    monotonicNow,
    repeat,
    messages: options.messages ?? null,
    ownTopics: ownTopics(config.mqtt),
    format,
    localTime: localTimeIn(config.display.timeZone),
    metaData: metaDataWith(format, now),
    coins,
    ...pricing(config, store, rates, now),
    accessBook,
    book: new PoolBook(store, coins, accessBook),
    shares: new ReadShares(monotonicNow),
    records,
    events: new Events({ now, limits: { ...eventLimits, kept: options.eventsKept ?? eventLimits.kept } }),
    alarms: new Alarms(store.notifications),
    hooks: new Hooks(config.hooks),
    channels: new ChannelBook(store, config),
    agents,
    benchmarks: new Benchmarks(store.benchmarks, now),
    operations: {
      listAlgorithms: coins.listAlgorithms,
      getVersion: async () => ({ name: "Rigbridge", version }),
    },
    close: async (later: Promise<void>): Promise<void> => {
      await later;
      agents.close();
      await records.close();
    },
  } satisfies ServiceRoom;
}

/** What is stored of miners; what is stored of demo miners ends with the process. */
async function openRecords(config: Config, store: Store, now: () => number, log: Logger) {
  const demoStore = await openStore({ file: ":memory:", now });
  const recorder = new Recorder(store, config.history, now, log);
  const demoRecorder = new Recorder(demoStore, config.history, now, log);
  return {
    demoStore,
    recorderOf: (minerId: number): Recorder => (isDemo(minerId) ? demoRecorder : recorder),
    /** Wh of a group, as stored last. */
    energyOfGroup: (groupId: number): number | null => {
      const [own, demo] = [recorder.energyOfGroup(groupId), demoRecorder.energyOfGroup(groupId)];
      return own === null || demo === null ? (own ?? demo) : own + demo;
    },
    close: async (): Promise<void> => {
      recorder.close();
      demoRecorder.close();
      await demoStore.close();
    },
  };
}
