import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { undoTimeoutMs } from "../../link/plugs/plugged-rig.ts";
import { UsableLists } from "../automation/usable-lists.ts";
import type { Core } from "../core.ts";
import { enabled } from "../crud.ts";
import { eventLimits } from "../events/events.ts";
import { outletsIn } from "../facility/devices.ts";
import { seriesOfPlace } from "../history/place-series.ts";
import { ManagedMiners } from "../hosts/managed-miners.ts";
import { isDemo } from "../miners/declared-miner.ts";
import { groupOperations } from "../miners/groups.ts";
import { noticeKeys } from "../miners/miner-notices.ts";
import { MinerRegistry } from "../miners/miner-registry.ts";
import { minerRows, rowsOfRegistry } from "../miners/miner-rows.ts";
import { encodedMiners, type MinerContext, minerOperations } from "../miners/miners.ts";
import { placeOperations } from "../miners/places.ts";
import { cachedTotals, summaries } from "../miners/summary.ts";
import { FarmNotices } from "../notifications/notices.ts";
import { presentNotification } from "../notifications/notifications.ts";
import { placeDefaults } from "../places/stored-locations.ts";
import { powerRules } from "../power/power-permission.ts";
import { PowerTargets } from "../power/power-targets.ts";
import type { ServiceRoom } from "../room.ts";
import { openLedgers } from "./ledgers.ts";
import { openMarket } from "./market.ts";

export type Miners = ReturnType<typeof openMiners>;

/**
 * The miners and everything they show: notices, hosts, money and power. These need the registry of miners in turn, and
 * look it up when something happens.
 */
export function openMiners(core: Core) {
  const { options, settings, store, log, now, format, prices, coins, book, accessBook, events, agents, records } = core;
  const notices = openNotices(core, () => registry);
  const cards = settings.part("managed programs", ["gpuSettings"]);
  const managed: ManagedMiners = new ManagedMiners({
    store,
    agents,
    coins,
    notices,
    log,
    benchmarks: core.benchmarks,
    settings: cards.now,
    registry: () => registry,
  });
  cards.onChange(() => managed.syncAll());
  const market = openMarket(core, notices, () => registry);
  const ledgers = openLedgers(core, (signal) => registry.readings.countMoney(signal));
  const limits = settings.part("limits of power", ["power"]).now;
  const power = new PowerTargets({
    memoriesOf: (id) => (isDemo(id) ? records.demoStore : store).power,
    now,
    rulesOf: (id, ofLoop) => powerRules({ ...limits.power, ...ofLoop }, store.miners.get(id)?.power),
    nameplateOf: (id) => store.miners.get(id)?.powerNameplate ?? null,
  });
  const shown = settings.part("miners", ["poll", "display", "electricity", "rates", "market", "logins", "defaults"]);
  const registry: MinerRegistry = new MinerRegistry({
    store,
    events,
    power,
    now,
    log,
    managed,
    places: core.places,
    notices,
    demoStore: records.demoStore,
    recorderOf: records.recorderOf,
    singleEvents: eventLimits.lag / 2,
    settings: shown.now,
    ownTopics: core.broker.ownTopics,
    outletNaming: (names) => core.devices.outletNaming(names),
    outlets: core.devices.outlets,
    monotonicNow: options.monotonicNow,
    messages: core.messages,
    ledgerOf: ledgers.of,
    alarmsOf: (id) => core.alarms.of(id),
    presentation: {
      format,
      coins,
      pools: book,
      prices,
      startedAt: now(),
      costOf: (id) => rounded(ledgers.of(id).costOf(id)),
      poolViewOf: market.poolViewOf,
    },
  });
  shown.onChange(({ poll, logins, defaults }, before) => {
    if (!isDeepStrictEqual({ logins, defaults }, { logins: before.logins, defaults: before.defaults }))
      registry.renew();
    if (!isDeepStrictEqual(poll, before.poll)) registry.adjust();
    registry.arrange();
    registry.changeAll();
    events.changed();
  });
  const rigLists = ["miners", "groups", "pools", "poolGroups", "algorithms", "coins", "users"] as const;
  settings.part("rigs of the file", rigLists).onChange(() => {
    registry.follow();
    managed.refresh();
    managed.syncAll();
    registry.arrange();
    registry.changeAll();
    events.reset();
  });
  settings.part("plugs that speak MQTT", ["mqtt"]).onChange(() => {
    // The allowed topics may have changed.
    for (const miner of enabled(store.miners)) if (miner.supply?.type === "mqtt") registry.put(miner);
    registry.arrange();
  });
  // An outlet may name another miner than before, or be used in another way.
  settings.part("rigs at outlets", ["facility"]).onChange((now, before) => {
    if (isDeepStrictEqual(outletsIn(now.facility), outletsIn(before.facility))) return;
    registry.renew();
    registry.arrange();
  });
  const placesChanged = async (moved: ReadonlySet<number> | null): Promise<void> => {
    if (moved !== null) {
      await placeDefaults(shown.now, store, core.places);
      registry.renewPlaced(moved);
      registry.arrange();
    }
    events.places();
  };
  const usable = new UsableLists({ store, accessBook, book, registry });
  const context = minerContext(core, registry, usable);
  const encoded = encodedMiners(context);
  const rows = minerRows({ ...context, listed: rowsOfRegistry(registry, store), changes: events });
  const summary = summaries({ ...core, ...context });
  return {
    registry,
    notices,
    managed,
    market,
    ledgers,
    power,
    usable,
    context,
    rows,
    operations: {
      ...minerOperations(context),
      listMinerRows: rows.listMinerRows,
      getSummary: async (_input, caller) => summary.of(caller),
      ...placeOperations({
        ...context,
        alarms: () => core.alarms.counts(),
        forget: (id) => store.farmSamples.forget(seriesOfPlace(id)),
        changed: placesChanged,
      }),
      ...groupOperations(
        store,
        accessBook,
        async (id, groupId) => registry.put(await store.miners.change(id, { groupId })),
        () => {
          managed.refresh();
          if (shown.now.defaults.length > 0) registry.renew();
          registry.arrange();
          events.reset();
        },
      ),
    },
    direct: {
      setWarning: (title, message) => notices.setWarning(title, message),
      workers: () => registry.workers(),
      *eachMiner(caller) {
        for (const { facts } of registry.entriesFor(accessBook.of(caller)))
          yield registry.display.present(facts.id).miner;
      },
      prepare: (operation, input, caller) => {
        if (operation === "listMiners") return encoded.prepare(input, caller);
        return operation === "listMinerRows" ? rows.prepare(input, caller) : undefined;
      },
      encoded: (operation, input, caller) => {
        if (operation === "getSummary") return summary.encoded(caller);
        if (operation === "listMiners") return encoded.list(input, caller);
        if (operation === "listMinerRows") return rows.encoded(input, caller);
        if (operation === "getMiner" && "id" in input && typeof input.id === "number")
          return encoded.one(input.id, caller);
        return undefined;
      },
    },
    start: async () => {
      await ledgers.start();
      await registry.start();
    },
    settled: () => registry.fleet.settled(),
    close: async (later: Promise<void>): Promise<void> => {
      // A command that must undo its first part needs its connection a moment longer.
      await Promise.race([later, sleep(undoTimeoutMs, null, { ref: false })]);
      await registry.close();
      await later;
      await ledgers.close();
    },
  } satisfies ServiceRoom;
}

function openNotices({ store, log, format, events }: Core, registry: () => MinerRegistry): FarmNotices {
  const presented = presentNotification(format);
  return new FarmNotices({
    log,
    notifications: store.notifications,
    minerOf: (id) => registry().noticeMiner(id),
    isCovered: (key, minerId) => {
      const entry = key === noticeKeys.disconnected(minerId) ? registry().find(minerId) : undefined;
      return entry !== undefined && registry().presence.outages.covers(entry);
    },
    changed: (notification) => {
      const { minerId, key, count, closed } = notification;
      events.notification(presented(notification), { minerId, key });
      // A repeat opens nothing, and a notification without a key closes at once.
      if (minerId !== null && key !== null && (count === 1 || closed !== null)) events.row(minerId);
    },
    handled: (what, notifications) =>
      events.notificationsHandled(
        what,
        notifications.map(({ id, minerId, key }) => ({ id, minerId, key })),
      ),
  });
}

/** Dependencies of the operations on miners. */
function minerContext(core: Core, registry: MinerRegistry, usable: UsableLists): MinerContext {
  const { settings, store, log, format, accessBook, book, shares, metaData, broker, places } = core;
  return {
    registry,
    store,
    places,
    book,
    accessBook,
    format,
    metaData,
    shares,
    ownTopics: broker.ownTopics,
    outletNaming: (names) => core.devices.outletNaming(names),
    totals: cachedTotals(registry),
    settings: settings.part("tests of logins", ["poll", "logins"]).now,
    manualRules: (access) => usable.manualRules(access),
    placed: ({ added }) => {
      if (added.length > 0) core.events.places();
    },
    addReal: async (add) => {
      const isFirst = registry.isDemoOnly;
      add();
      if (!isFirst) return;
      await registry.removeDemos();
      await core.demoHasLeft();
      log.info("the demo miners were removed: there is a real one now");
    },
    messages: core.messages,
  };
}

/** Rounded, so that rounding errors do not count as changes. */
const rounded = (amount: number | null): number | null => (amount === null ? null : Number(amount.toFixed(6)));
