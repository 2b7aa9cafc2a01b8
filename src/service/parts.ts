import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import { openStore, type Store } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { UsableLists } from "./automation/usable-lists.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { Events, eventLimits } from "./events/events.ts";
import { Recorder } from "./history/recorder.ts";
import { Benchmarks } from "./hosts/benchmarks.ts";
import { HostAgents } from "./hosts/host-agents.ts";
import { ManagedMiners } from "./hosts/managed-miners.ts";
import { Switcher } from "./hosts/switcher.ts";
import { nameHosts } from "./hosts/uids.ts";
import { KnownDevices } from "./known-devices.ts";
import { Market } from "./market/market.ts";
import { noticeKeys } from "./miners/miner-notices.ts";
import { isDemo, MinerRegistry } from "./miners/miner-registry.ts";
import { cachedTotals, metaDataWith } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import { economicsOf } from "./money/economics.ts";
import { localTimeIn } from "./money/local-time.ts";
import { PoolBook } from "./money/pool-book.ts";
import { Rates } from "./money/rates.ts";
import { activePools, bestInput, openLedgers, pricing, rounded } from "./money-parts.ts";
import { Alarms } from "./notifications/alarms.ts";
import { ChannelBook } from "./notifications/channel-book.ts";
import { Hooks } from "./notifications/hooks.ts";
import { FarmNotices } from "./notifications/notices.ts";
import { presentNotification } from "./notifications/notifications.ts";
import { Outbox, turnMs } from "./notifications/outbox.ts";
import type { ServiceOptions } from "./options.ts";
import { isAddressOf } from "./own-address.ts";
import { declareHeatings } from "./power/heating.ts";
import { byTimer } from "./power/loops.ts";
import { powerRules } from "./power/power-permission.ts";
import { PowerTargets } from "./power/power-targets.ts";
import { type Access, AccessBook } from "./users/access.ts";
import { ReadShares } from "./users/read-shares.ts";
import { brokerPlace, openWebTargets } from "./web-targets.ts";

/** The groups of a miner by name, the innermost first. */
const groupNames =
  ({ groups }: Store, groupOf: (minerId: number) => number | undefined) =>
  (minerId: number): readonly string[] => {
    const names: string[] = [];
    let group = groups.get(groupOf(minerId) ?? 0);
    // No chain of groups is longer than the number of groups, which ends cycles.
    for (let depth = 0; group !== undefined && depth < 100; depth += 1) {
      names.push(group.name);
      group = groups.get(group.parentId);
    }
    return names;
  };

/** Tells channels of what is raised; with none it waits for one to be added. */
export function openOutbox({ repeat = byTimer }: ServiceOptions, base: Base, { registry, webTargets }: Miners) {
  const { config, store, format, now, log, notices, channels } = base;
  const outbox = new Outbox({
    rows: store.outbox,
    format,
    now,
    log,
    timeZone: config.display.timeZone,
    targets: webTargets,
    groupsOf: groupNames(store, (minerId) => registry.noticeMiner(minerId)?.groupId),
  });
  outbox.use(channels.used());
  notices.watch(outbox);
  outbox.start();
  const stop = repeat(() => outbox.turn(), turnMs);
  return {
    outbox,
    close: async (): Promise<void> => {
      stop();
      await outbox.close();
    },
  };
}

export type Base = Awaited<ReturnType<typeof openBase>>;
export type Miners = ReturnType<typeof openMiners>;

/** Everything that knows no miner: the declared rows, users, money, records and events. */
export async function openBase({ config, store, log, monotonicNow, now = Date.now, ...options }: ServiceOptions) {
  await declareCoins(config, store);
  const rates = new Rates(config.display.currency, config.rates);
  const coins = new Coins(store, config, rates, now);
  await declareAll(config, store, coins);
  await declareHeatings(config.heating, store);
  const accessBook = new AccessBook(store);
  const format = formatFor(config.display);
  const events = new Events({ now, limits: { ...eventLimits, kept: options.eventsKept ?? eventLimits.kept } });
  const presented = presentNotification(format);
  const agents = new HostAgents(store, log, now, options.agentGraceMs);
  const benchmarks = new Benchmarks(store.benchmarks, now);
  await nameHosts(store.hosts);
  const notices = new FarmNotices({
    log,
    notifications: store.notifications,
    changed: (notification) => {
      const { minerId, key, count, closed } = notification;
      events.notification(presented(notification), { minerId, key });
      // A repeat opens nothing, and what has no key is over at once.
      if (minerId !== null && key !== null && (count === 1 || closed !== null)) events.row(minerId);
    },
    handled: (what, notifications) =>
      events.notificationsHandled(
        what,
        notifications.map(({ id, minerId, key }) => ({ id, minerId, key })),
      ),
  });
  return {
    config,
    store,
    log,
    now,
    format,
    coins,
    ...pricing(config, store, rates, now),
    accessBook,
    book: new PoolBook(store, coins, accessBook),
    shares: new ReadShares(monotonicNow ?? (() => performance.now())),
    records: await openRecords(config, store, now, log),
    events,
    notices,
    alarms: new Alarms(store.notifications),
    hooks: new Hooks(config.hooks),
    channels: new ChannelBook(store, config),
    agents,
    benchmarks,
    managed: new ManagedMiners({ store, agents, coins, notices, benchmarks, gpuSettings: config.gpuSettings, log }),
  };
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

/** The miners, and the power that each can be set to. */
export function openMiners({ monotonicNow, messages, ownPort }: ServiceOptions, base: Base) {
  const { config, store, log, now, format, prices, coins, book, events, notices, rates, tariffs } = base;
  const { managed } = base;
  const { demoStore, recorderOf } = base.records;
  const closing = new AbortController();
  const market: Market = new Market(config, {
    coins,
    rates,
    tariffs,
    book,
    now,
    log,
    kept: store.keptValues,
    closing: closing.signal,
    messages: messages ?? null,
    activePools: () => activePools(registry),
    isDemo: () => registry.isDemoOnly,
    changed: () => registry.changeAll(),
    warn: (title, message) => notices.setWarning(title, message),
  });
  const localTime = localTimeIn(config.display.timeZone);
  const ledgers = openLedgers({
    config,
    store,
    demoStore,
    now,
    log,
    rates,
    tariffs,
    localTime,
    takeRest: (signal) => registry.countMoney(signal),
  });
  const power = new PowerTargets({
    memoriesOf: (id) => (isDemo(id) ? demoStore : store).power,
    now,
    rulesOf: (id, ofLoop) => powerRules({ ...config.power, ...ofLoop }, store.miners.get(id)?.power),
    nameplateOf: (id) => store.miners.get(id)?.powerNameplate ?? null,
  });
  const registry: MinerRegistry = new MinerRegistry({
    store,
    demoStore,
    recorderOf,
    events,
    singleEvents: eventLimits.lag / 2,
    power,
    poll: config.poll,
    groups: config.display.groups,
    ownTopics: ownTopics(config.mqtt),
    now,
    monotonicNow,
    log,
    messages: messages ?? null,
    managed,
    ledgerOf: ledgers.of,
    alarmsOf: (id) => base.alarms.of(id),
    presentation: {
      format,
      coins,
      pools: book,
      prices,
      startedAt: now(),
      costOf: (id) => rounded(ledgers.of(id).costOf(id)),
      poolViewOf: (pool) => market.poolViews.of(pool),
    },
    notices,
  });
  notices.useMiners((id) => registry.noticeMiner(id));
  notices.leaveOut((key, minerId) => {
    const entry = key === noticeKeys.disconnected(minerId) ? registry.find(minerId) : undefined;
    return entry !== undefined && registry.outages.covers(entry);
  });
  managed.useRegistry(registry);
  const switcher = new Switcher({
    store,
    managed,
    coins,
    prices,
    now,
    log,
    benchmarks: base.benchmarks,
    monotonicNow: monotonicNow ?? (() => performance.now()),
    stateOf: (id) => registry.find(id)?.rig.state,
  });
  const economics = economicsOf({
    tariffs,
    prices,
    profitOf: (id) => registry.jsonCache.current(id)?.figures.earnings.profitPerDay ?? null,
    bestInputOf: (id) => bestInput(registry.find(id)?.rig.state, id, power, book),
  });
  const webTargets = openWebTargets({
    devices: new KnownDevices({
      registry,
      managed,
      broker: brokerPlace(config.mqtt),
      isOfFile: (id) => store.miners.get(id)?.owner === "file",
    }),
    isOwnAddress: isAddressOf(config.http, ownPort),
    nameOf: (id) => registry.find(id)?.facts.name,
  });
  const usable = new UsableLists({ store, accessBook: base.accessBook, book, registry });
  const stopSources = () => closing.abort();
  return { power, registry, market, ledgers, localTime, economics, switcher, webTargets, usable, stopSources };
}

/** What the operations on miners take. */
export function minerContext({ messages, demoLeft }: ServiceOptions, base: Base, { registry, usable }: Miners) {
  const { config, store, log, now, format, accessBook, book, shares } = base;
  return {
    registry,
    store,
    book,
    accessBook,
    format,
    metaData: metaDataWith(format, now),
    totals: cachedTotals(registry),
    shares,
    makersLogins: config.poll.makersLogins,
    manualRules: (access: Access) => usable.manualRules(access),
    addReal: async (add: () => void) => {
      const isFirst = registry.isDemoOnly;
      add();
      if (!isFirst) return;
      await registry.removeDemos();
      log.info("the demo miners have left: there is a real one now");
      demoLeft?.();
    },
    hasMessages: messages !== undefined,
    ownTopics: ownTopics(config.mqtt),
  };
}
