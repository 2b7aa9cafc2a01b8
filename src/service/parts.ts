import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import type { Messages } from "../contract/messages.ts";
import type { RigState } from "../fleet/state.ts";
import type { PoolReading } from "../link/driver.ts";
import type { Interfaces } from "../link/networks.ts";
import { type NewNotification, openStore, type Store, type StoredCommand } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { actionSteps, loopAction, rigAction } from "./commands/actions.ts";
import { BulkActions } from "./commands/bulk.ts";
import { CommandExecutor } from "./commands/command-executor.ts";
import { presentCommand } from "./commands/commands.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { Events, eventLimits } from "./events/events.ts";
import { presentNotification } from "./events/notifications.ts";
import { Recorder } from "./history/recorder.ts";
import { Market } from "./market/market.ts";
import { type DemoMiner, isDemo, MinerRegistry } from "./miners/miner-registry.ts";
import { cachedTotals, metaDataWith } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import type { Prices, PricesFor } from "./money/earnings.ts";
import { type BestInput, economicsOf } from "./money/economics.ts";
import { Ledger } from "./money/ledger.ts";
import { type LocalClock, localTimeIn } from "./money/local-time.ts";
import { PoolBook } from "./money/pool-book.ts";
import { Rates } from "./money/rates.ts";
import type { Tariff } from "./money/tariff.ts";
import { Tariffs } from "./money/tariffs.ts";
import { declareHeatings } from "./power/heating.ts";
import { byTimer, Loops, type Repeat } from "./power/loops.ts";
import { PowerTargets, powerRules } from "./power/power-targets.ts";
import { AccessBook } from "./users/access.ts";
import { ReadShares } from "./users/read-shares.ts";

export interface ServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never jumps, for reads and commands; by default `performance.now`. */
  readonly monotonicNow?: () => number;
  /**
   * Virtual rigs to try things out. They are removed when the first real miner is added, unless there were miners in the
   * configuration or the store from the start.
   */
  readonly demo?: readonly DemoMiner[];
  /** Called when the demo miners have been removed. */
  readonly demoLeft?: () => void;
  /** The machine's networks, searched unless a search names others; by default `os.networkInterfaces`. */
  readonly interfaces?: () => Interfaces;
  /** Runs the loops that control power; by default a timer. */
  readonly repeat?: Repeat;
  /** Where plugs and sensors publish, such as an MQTT broker; absent = no such plugs and sensors. */
  readonly messages?: Messages;
  /**
   * Events kept for subscribers that resume, of some 150 bytes each; by default 10,000. 1,000 do where no connection can
   * break, which is how far a subscriber may fall behind.
   */
  readonly eventsKept?: number;
}

export type Base = Awaited<ReturnType<typeof openBase>>;
export type Miners = ReturnType<typeof openMiners>;
export type Commands = ReturnType<typeof openCommands>;

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
  const notify = (notification: NewNotification): void => {
    store.notifications.add(notification).then(
      (added) => events.notification(presented(added), added.minerId),
      (error: unknown) => log.error({ err: error }, "a notification was lost"),
    );
  };
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
    notify,
    setWarning: warnings(store, notify, log),
  };
}

/** Exchange rates, tariffs, and the prices that follow from them now. */
function pricing(config: Config, store: Store, rates: Rates, now: () => number) {
  const tariffs = new Tariffs(config, store, (currency) => rates.of(currency));
  const pricesWith = (tariff: Tariff | undefined): Prices => ({
    currency: rates.currency,
    btc: rates.btc?.value,
    usd: rates.of("USD") ?? undefined,
    electricity: tariff?.at(now()).price,
  });
  const prices: PricesFor = (minerId) => pricesWith(tariffs.ofMiner(minerId));
  return { rates, tariffs, prices, generalPrices: () => pricesWith(tariffs.ofGroup(0)) };
}

/** One notification for each state of the service, acknowledged once the state has ended, also after a restart. */
const warnings =
  ({ notifications }: Store, notify: (notification: NewNotification) => void, log: Logger) =>
  (title: string, message: string | null): void => {
    const open = notifications
      .list()
      .find((each) => each.minerId === null && each.title === title && !each.isAcknowledged);
    if (message !== null && open === undefined)
      notify({ minerId: null, minerName: "", title, source: "System", message, isWarning: true });
    if (message === null && open !== undefined)
      notifications
        .acknowledge([open.id])
        .catch((error: unknown) => log.error({ err: error }, "a notification could not be acknowledged"));
  };

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
export function openMiners({ monotonicNow, messages }: ServiceOptions, base: Base) {
  const { config, store, log, now, format, prices, coins, book, events, notify, rates, tariffs } = base;
  const { demoStore, recorderOf } = base.records;
  const closing = new AbortController();
  const market: Market = new Market(config, {
    ...{ coins, rates, tariffs, book, now, log, kept: store.keptValues, closing: closing.signal },
    messages: messages ?? null,
    activePools: () => activePools(registry),
    isDemo: () => registry.isDemoOnly,
    changed: () => registry.changeAll(),
    warn: base.setWarning,
  });
  const localTime = localTimeIn(config.display.timeZone);
  const ledgers = openLedgers(base, localTime);
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
    ledgerOf: ledgers.of,
    presentation: {
      ...{ format, coins, pools: book, prices, startedAt: now() },
      costOf: (id) => rounded(ledgers.of(id).costOf(id)),
      poolViewOf: (pool) => market.poolViews.of(pool),
    },
    notify,
  });
  const economics = economicsOf({
    ...{ tariffs, prices },
    profitOf: (id) => registry.jsonCache.current(id)?.figures.earnings.profitPerDay ?? null,
    bestInputOf: (id) => bestInput(registry.find(id)?.rig.state, id, power, book),
  });
  return { power, registry, market, ledgers, localTime, economics, stopSources: () => closing.abort() };
}

/** So that the digits of a float do not pass for a change. */
const rounded = (amount: number | null): number | null => (amount === null ? null : Number(amount.toFixed(6)));

function* activePools(registry: MinerRegistry): Iterable<PoolReading> {
  for (const { facts, rig } of registry.all()) {
    if (facts.demo) continue;
    const active = rig.state.reading?.pools.find((pool) => pool.active);
    if (active !== undefined) yield active;
  }
}

/** What a stopped rig would earn follows from the pool that it would use. */
function bestInput(
  state: RigState | undefined,
  id: number,
  power: PowerTargets,
  book: PoolBook,
): BestInput | undefined {
  const known = state === undefined ? undefined : power.rungs(id, state);
  const pools = state?.reading?.pools ?? [];
  const pool = pools.find(({ active }) => active) ?? pools.find(({ status }) => status === "enabled") ?? pools[0];
  if (known === undefined || pool === undefined) return undefined;
  return { ...known, coin: book.definitionOf(pool, state?.reading?.readings.algorithm ?? null).coin };
}

/** What demo miners earn ends with the process. */
function openLedgers({ config, store, now, log, rates, tariffs, records }: Base, localTime: LocalClock) {
  const open = ({ moneyDays: days }: Store): Ledger =>
    new Ledger({
      ...{ days, localTime, now, log, currency: rates.currency, keepDays: config.history.hourly },
      tariffOf: (minerId) => tariffs.ofMiner(minerId),
      btc: () => rates.btc?.value,
    });
  const [own, demo] = [open(store), open(records.demoStore)];
  return {
    of: (minerId: number): Ledger => (isDemo(minerId) ? demo : own),
    save: (): void => own.save(),
    close: (): void => {
      own.close();
      demo.close();
    },
  };
}

/** What writes to rigs: single commands, the loops that control power, and bulk actions. */
export function openCommands({ repeat = byTimer, messages }: ServiceOptions, base: Base, { power, registry }: Miners) {
  const { config, store, log, now, accessBook, book, shares, events, notify } = base;
  const { heating, follow } = config;
  const executor = new CommandExecutor(registry.fleet, store, log);
  const stepsOf = actionSteps(store, book, power);
  const runOnRig = rigAction(registry, executor, stepsOf, accessBook);
  const loops = new Loops({
    ...{ registry, store, power, now, log, notify, runOnRig, heating, follow, repeat },
    messages: messages ?? null,
  });
  const runOnLoop = loopAction(loops, executor);
  const bulk = new BulkActions({ registry, executor, store, accessBook, stepsOf, loops, runOnLoop, shares, log });
  executor.watch((command) => {
    loops.onCommand(command);
    logEnd(log, command);
    events.command(presentCommand(command));
  });
  return { executor, runOnRig, runOnLoop, loops, bulk };
}

/** What the operations on miners take. */
export function minerContext({ messages, demoLeft }: ServiceOptions, base: Base, { registry }: Miners) {
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
    demoLeft: () => {
      log.info("the demo miners have left: there is a real one now");
      demoLeft?.();
    },
    hasMessages: messages !== undefined,
    ownTopics: ownTopics(config.mqtt),
  };
}

/** Logs a line for each command that has ended. */
function logEnd(log: Logger, { id, minerId, minerName, actor, action, state, message }: StoredCommand): void {
  if (state === "queued" || state === "sent") return;
  const line = { command: id, miner: minerId, name: minerName, action, actor, state, message };
  if (state === "done") log.info(line, "a command is done");
  else log.warn(line, "a command is not done");
}
