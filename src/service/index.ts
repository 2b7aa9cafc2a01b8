import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import type { Messages } from "../contract/messages.ts";
import { type OperationName, operationNames } from "../contract/operations.ts";
import type { MetaData } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { Interfaces } from "../link/networks.ts";
import { undoTimeoutMs } from "../link/plugs/plugged-rig.ts";
import { type NewNotification, openStore, type Store, type StoredCommand } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { version } from "../version.ts";
import { actionOperations, actionSteps, loopTelling } from "./commands/actions.ts";
import { BulkActions } from "./commands/bulk.ts";
import { CommandExecutor } from "./commands/command-executor.ts";
import { commandOperations, shownCommand } from "./commands/commands.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { Discoveries } from "./discovery/discovery.ts";
import { Events, eventLimits } from "./events/events.ts";
import { historyOperations } from "./history/history.ts";
import { ReadShares } from "./history/read-shares.ts";
import { Recorder } from "./history/recorder.ts";
import { hostOperations } from "./hosts.ts";
import { groupOperations } from "./miners/groups.ts";
import { type DemoMiner, type Entry, MinerRegistry } from "./miners/miner-registry.ts";
import { encodedMiners, type MinerContext, minerOperations } from "./miners/miners.ts";
import { presentSummary, type Remarked, remarksOf, type Totals, totalsOf } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import { PoolBook } from "./money/pool-book.ts";
import { notificationOperations, shownNotification } from "./notifications.ts";
import { declareHeatings } from "./power/heating.ts";
import { byTimer, Loops, type Repeat } from "./power/loops.ts";
import { PowerTargets, powerRules } from "./power/power-targets.ts";
import { templateOperations } from "./templates.ts";
import { type Access, AccessBook } from "./users/access.ts";
import { type Calls, guarded } from "./users/guard.ts";
import { keyHolders, namedCaller, userOperations } from "./users/users.ts";

export { Config, checkedConfig, defaultConfig, readConfig } from "../config/index.ts";
export { formatAddress, parseAddress } from "../link/address.ts";
export { openStore, type Store, type StoreOptions } from "../store/index.ts";
export type { DemoMiner } from "./miners/miner-registry.ts";

export interface ServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never jumps, for reads and commands; `performance.now` unless given. */
  readonly monotonicNow?: () => number;
  /**
   * Virtual rigs to try things out. They leave when the first real miner is added; beside miners of the configuration or
   * the store they stay.
   */
  readonly demo?: readonly DemoMiner[];
  /** Called when the demo miners have left. */
  readonly demoLeft?: () => void;
  /** The machine's networks, searched when nobody names others; as `os.networkInterfaces`. */
  readonly interfaces?: () => Interfaces;
  /** What turns the loops that steer power; a timer. */
  readonly repeat?: Repeat;
  /** Where plugs and sensors speak by messages, as an MQTT broker; absent = nowhere. */
  readonly messages?: Messages;
  /**
   * Events kept for who resumes, of some 8 KB each; 10,000 unless said. Where nobody can be cut off, 1,000 do, which is
   * how far who watches may fall behind.
   */
  readonly eventsKept?: number;
}

/**
 * The mining service itself: brings the store in line with the configuration and starts polling. `close` stops
 * polling, writes what is left, and leaves the store open.
 */
export async function startService(options: ServiceOptions): Promise<MiningService> {
  const { config, store, log, now = Date.now, demo = [], messages = null, eventsKept = eventLimits.kept } = options;
  const format = formatFor(config.display);
  const prices = { currency: config.display.currency, btc: config.rates.btc, electricity: config.electricity.price };
  const metaData = (remarked: Remarked): MetaData => ({
    updated: format.localTime(now()),
    edition: "Rigbridge",
    version,
    ...remarksOf(remarked),
  });

  await declareCoins(config, store);
  const worthChanged = (): void => registry.presentAll();
  const coins = new Coins(store, config, now, worthChanged);
  await declareAll(config, store, coins);
  await declareHeatings(config.heating, store);
  const accessBook = new AccessBook(store);
  const book = new PoolBook(store, coins, accessBook, worthChanged);
  const demoStore = await openStore({ file: ":memory:", now });
  const recorder = new Recorder(store, config.history, now, log);
  const demoRecorder = new Recorder(demoStore, config.history, now, log);
  const recorderOf = (minerId: number): Recorder => (registry.isDemo(minerId) ? demoRecorder : recorder);
  const events = new Events({
    accessBook,
    now,
    sees: (minerId, access) => registry.seen(minerId, access) !== undefined,
    summaryFor: (caller) => calls.getSummary({}, caller),
    limits: { ...eventLimits, kept: eventsKept },
  });
  const shown = shownNotification(format);
  const notify = (notification: NewNotification): void => {
    store.notifications.add(notification).then(
      (added) => events.notification(shown(added), added.minerId),
      (error: unknown) => log.error({ err: error }, "a notification was lost"),
    );
  };
  const power = new PowerTargets({
    memoriesOf: (id) => (registry.isDemo(id) ? demoStore : store).power,
    now,
    rulesOf: (id) => powerRules({ ...config.power, ...loops.rulesOf(id) }, store.miners.get(id)?.power),
    nameplateOf: (id) => store.miners.get(id)?.powerNameplate ?? null,
  });
  const registry = new MinerRegistry({
    store,
    demoStore,
    recorderOf,
    events,
    poll: config.poll,
    groups: config.display.groups,
    ownTopics: ownTopics(config.mqtt),
    now,
    monotonicNow: options.monotonicNow,
    log,
    messages,
    presentation: {
      format,
      coins,
      pools: book,
      prices,
      startedAt: now(),
      energyOf: (id) => recorderOf(id).energyOf(id),
      powerTarget: (id, state) => power.control(id, state),
      heatingOf: (id) => loops.heatingOf(id),
      stoppedBy: (id) => loops.stoppedBy(id),
    },
    notify,
    observe: (id, reading) => power.observe(id, reading),
  });
  const loops = new Loops({
    registry,
    store,
    power,
    now,
    log,
    notify,
    act: (input, caller) => calls.minerAction(input, caller),
    heating: config.heating,
    follow: config.follow,
    messages,
    repeat: options.repeat ?? byTimer,
  });
  const executor = new CommandExecutor(registry.fleet, store, log, (command) => {
    loops.heard(command);
    logEnd(log, command);
    events.command(shownCommand(command));
  });
  const tellLoop = loopTelling(loops, executor);
  const totals = keptTotals(registry);
  const shares = new ReadShares(options.monotonicNow ?? (() => performance.now()));
  const context: MinerContext = {
    registry,
    store,
    book,
    accessBook,
    format,
    metaData,
    totals,
    shares,
    makersLogins: config.poll.makersLogins,
    demoLeft: () => {
      log.info("the demo miners have left: there is a real one now");
      options.demoLeft?.();
    },
    hasMessages: messages !== null,
    ownTopics: ownTopics(config.mqtt),
  };
  const encoded = encodedMiners(context);

  const stepsOf = actionSteps(store, book, power);
  const bulk = new BulkActions({ registry, executor, store, accessBook, stepsOf, loops, tellLoop, shares, log });
  const discoveries = new Discoveries({
    settings: config.scan,
    accessBook,
    rigs: () => registry.fleet.all(),
    add: (address) => calls.addMiner({ address }, { actor: "service" }),
    notify,
    interfaces: options.interfaces ?? networkInterfaces,
    now,
    log,
  });

  const calls: Calls = {
    ...minerOperations(context),
    ...actionOperations(registry, executor, stepsOf, accessBook, tellLoop),
    ...hostOperations(store, coins, accessBook),
    ...notificationOperations(store, registry, accessBook, format),
    ...templateOperations(store, () => metaData({ total: 0, demos: 0, costUnknown: 0, logins: 0, login: null })),
    ...groupOperations(
      store,
      accessBook,
      async (id, groupId) => registry.put(await store.miners.change(id, { groupId })),
      () => {
        registry.arrange();
        events.reset();
      },
    ),
    listPools: book.listPools,
    getPool: book.getPool,
    savePool: book.savePool,
    deletePool: book.deletePool,
    listPoolGroups: book.listPoolGroups,
    savePoolGroup: book.savePoolGroup,
    deletePoolGroup: book.deletePoolGroup,
    saveCoin: coins.saveCoin,
    deleteCoin: coins.deleteCoin,
    listAlgorithms: coins.listAlgorithms,
    getSummary: async (_input, caller) => {
      const sums = totals(accessBook.of(caller));
      return presentSummary(sums, format, prices, metaData(sums));
    },
    ...commandOperations(registry, store, accessBook, shares, executor),
    ...userOperations({ store, accessBook, serviceKey: config.http.key, changed: () => events.look() }),
    ...historyOperations(registry, accessBook, recorderOf, shares, now),
    startBulkAction: bulk.startBulkAction,
    listBulkActions: bulk.listBulkActions,
    getBulkAction: bulk.getBulkAction,
    cancelBulkAction: bulk.cancelBulkAction,
    startDiscovery: discoveries.startDiscovery,
    getDiscovery: discoveries.getDiscovery,
    cancelDiscovery: discoveries.cancelDiscovery,
  };
  registry.start(demo);
  // Nobody can have heard of the start.
  events.reset();
  await bulk.resume();
  discoveries.start();
  loops.start();
  return {
    ...guarded(calls, accessBook, namedCaller(store)),
    checkAccess: (name, caller) => accessBook.check(name, caller),
    watchEvents: (input, caller, signal) => {
      accessBook.check("watchEvents", caller);
      return events.watch(input, caller, signal);
    },
    encodedEvents: (input, caller, signal) => {
      accessBook.check("watchEvents", caller);
      return events.encoded(input, caller, signal);
    },
    features: async () => everyOperation,
    *eachMiner(caller) {
      for (const { facts } of registry.entriesFor(accessBook.of(caller))) yield registry.present(facts.id).miner;
    },
    keyHolder: keyHolders(store),
    encoded: (operation, input, caller) => {
      if (operation === "listMiners") return encoded.list(input, caller);
      if (operation === "getMiner" && "id" in input && typeof input.id === "number")
        return encoded.one(input.id, caller);
      return undefined;
    },
    close: async () => {
      events.close();
      await discoveries.close();
      const finished = bulk.close();
      const looped = loops.close();
      const steered = executor.close();
      // What a command has begun and must put back needs its connection a moment longer.
      await Promise.race([steered, sleep(undoTimeoutMs, null, { ref: false })]);
      registry.close();
      await steered;
      await looped;
      await finished;
      recorder.close();
      demoRecorder.close();
      await demoStore.close();
    },
  };
}

/** A line for each command that has ended. */
function logEnd(log: Logger, { id, minerId, minerName, actor, action, state, message }: StoredCommand): void {
  if (state === "queued" || state === "sent") return;
  const line = { command: id, miner: minerId, name: minerName, action, actor, state, message };
  if (state === "done") log.info(line, "a command is done");
  else log.warn(line, "a command is not done");
}

/** Totals are made anew only when something has changed, and for large fleets a few times a second at most. */
function keptTotals(registry: MinerRegistry): (access: Access) => Totals {
  const known = new WeakMap<Access, { readonly totals: Totals; readonly version: number; readonly madeAt: number }>();
  return (access) => {
    const kept = known.get(access);
    const isOld = kept === undefined || performance.now() - kept.madeAt > registry.fleet.size / 100;
    if (kept !== undefined && (kept.version === registry.jsonCache.version || !isOld)) return kept.totals;
    const ids = access.all ? undefined : idsOf(registry.entriesFor(access));
    const totals = totalsOf(registry.jsonCache.figures(ids));
    known.set(access, { totals, version: registry.jsonCache.version, madeAt: performance.now() });
    return totals;
  };
}

function* idsOf(entries: Iterable<Entry>): Iterable<number> {
  for (const { facts } of entries) yield facts.id;
}

const everyOperation: ReadonlySet<OperationName> = new Set(operationNames);
