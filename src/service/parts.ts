import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import type { Messages } from "../contract/messages.ts";
import { briefOf, type RigState } from "../fleet/state.ts";
import type { PoolReading } from "../link/driver.ts";
import type { Interfaces } from "../link/networks.ts";
import { openStore, type Store, type StoredCommand } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { BulkActions } from "./automation/bulk.ts";
import type { Effects } from "./automation/effects.ts";
import { runProgram } from "./automation/programs.ts";
import { Automation } from "./automation/rules/index.ts";
import { listRunner } from "./automation/run-list.ts";
import type { Runs } from "./automation/run-types.ts";
import { RunExecutor } from "./automation/runs.ts";
import { StepRunner } from "./automation/step-runner.ts";
import { sendWebHook } from "./automation/web-hook.ts";
import { actionSteps, loopAction, rigAction } from "./commands/actions.ts";
import { CommandExecutor } from "./commands/command-executor.ts";
import { presentCommand } from "./commands/commands.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { Events, eventLimits } from "./events/events.ts";
import { Recorder } from "./history/recorder.ts";
import { Benchmarks } from "./hosts/benchmarks.ts";
import { HostAgents } from "./hosts/host-agents.ts";
import { ManagedMiners } from "./hosts/managed-miners.ts";
import { managedSteps } from "./hosts/managed-steps.ts";
import { Switcher } from "./hosts/switcher.ts";
import { nameHosts } from "./hosts/uids.ts";
import { Market } from "./market/market.ts";
import { type DemoMiner, isDemo, MinerRegistry } from "./miners/miner-registry.ts";
import { cachedTotals, metaDataWith } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import type { Prices, PricesFor } from "./money/earnings.ts";
import { type BestInput, type Economics, economicsOf } from "./money/economics.ts";
import { Ledger } from "./money/ledger.ts";
import { type LocalClock, localTimeIn } from "./money/local-time.ts";
import { PoolBook } from "./money/pool-book.ts";
import { Rates } from "./money/rates.ts";
import type { Tariff } from "./money/tariff.ts";
import { Tariffs } from "./money/tariffs.ts";
import { Hooks } from "./notifications/hooks.ts";
import { FarmNotices } from "./notifications/notices.ts";
import { presentNotification } from "./notifications/notifications.ts";
import { Outbox, turnMs } from "./notifications/outbox.ts";
import { isAddressOf } from "./own-address.ts";
import { declareHeatings } from "./power/heating.ts";
import { byTimer, Loops, type Repeat } from "./power/loops.ts";
import { PowerHolds, powerGuard } from "./power/power-holds.ts";
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
  /** Runs the loops that control power and the outbox of channels; by default a timer. */
  readonly repeat?: Repeat;
  /** Runs what rules and schedules do; by default the executor. */
  readonly runs?: Runs;
  /** Runs the turns of rules, once a second; by default a timer. */
  readonly ruleTurns?: Repeat;
  /** Where plugs and sensors publish, such as an MQTT broker; absent = no such plugs and sensors. */
  readonly messages?: Messages;
  /**
   * Events kept for subscribers that resume, of some 150 bytes each; by default 10,000. 1,000 do where no connection can
   * break, which is how far a subscriber may fall behind.
   */
  readonly eventsKept?: number;
}

/** The groups of a miner by name, the innermost first. */
const groupNames =
  ({ groups }: Store, groupOf: (minerId: number) => number | undefined) =>
  (minerId: number): readonly string[] => {
    const names: string[] = [];
    let group = groups.get(groupOf(minerId) ?? 0);
    // A group is above another at most as often as there are groups.
    for (let depth = 0; group !== undefined && depth < 100; depth += 1) {
      names.push(group.name);
      group = groups.get(group.parentId);
    }
    return names;
  };

/** Tells channels of what is raised; undefined where none is configured. */
export function openOutbox({ repeat = byTimer }: ServiceOptions, base: Base, { registry }: Miners) {
  const { config, store, format, now, log, notices } = base;
  const outbox = new Outbox({
    ...{ channels: config.channels, rows: store.outbox, format, now, log },
    timeZone: config.display.timeZone,
    groupsOf: groupNames(store, (minerId) => registry.noticeMiner(minerId)?.groupId),
  });
  notices.watch(outbox);
  outbox.start();
  const stop = config.channels.length === 0 ? () => undefined : repeat(() => outbox.turn(), turnMs);
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
export type Commands = ReturnType<typeof openCommands>;
export type Rules = ReturnType<typeof openAutomation>;

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
  const agents = new HostAgents(store, log, now);
  const benchmarks = new Benchmarks(store.benchmarks, now);
  await nameHosts(store.hosts);
  const notices = new FarmNotices({
    log,
    notifications: store.notifications,
    changed: (notification) => events.notification(presented(notification), notification.minerId),
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
    hooks: new Hooks(config.hooks),
    agents,
    benchmarks,
    managed: new ManagedMiners({ store, agents, coins, notices, benchmarks, gpuSettings: config.gpuSettings, log }),
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
  const { config, store, log, now, format, prices, coins, book, events, notices, rates, tariffs } = base;
  const { managed } = base;
  const { demoStore, recorderOf } = base.records;
  const closing = new AbortController();
  const market: Market = new Market(config, {
    ...{ coins, rates, tariffs, book, now, log, kept: store.keptValues, closing: closing.signal },
    messages: messages ?? null,
    activePools: () => activePools(registry),
    isDemo: () => registry.isDemoOnly,
    changed: () => registry.changeAll(),
    warn: (title, message) => notices.setWarning(title, message),
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
    managed,
    ledgerOf: ledgers.of,
    presentation: {
      ...{ format, coins, pools: book, prices, startedAt: now() },
      costOf: (id) => rounded(ledgers.of(id).costOf(id)),
      poolViewOf: (pool) => market.poolViews.of(pool),
    },
    notices,
  });
  notices.useMiners((id) => registry.noticeMiner(id));
  managed.useRegistry(registry);
  const switcher = new Switcher({
    ...{ store, managed, coins, prices, now, log, benchmarks: base.benchmarks },
    monotonicNow: monotonicNow ?? (() => performance.now()),
    stateOf: (id) => registry.find(id)?.rig.state,
  });
  const economics = economicsOf({
    ...{ tariffs, prices },
    profitOf: (id) => registry.jsonCache.current(id)?.figures.earnings.profitPerDay ?? null,
    bestInputOf: (id) => bestInput(registry.find(id)?.rig.state, id, power, book),
  });
  return { power, registry, market, ledgers, localTime, economics, switcher, stopSources: () => closing.abort() };
}

/** So that the digits of a float do not pass for a change. */
const rounded = (amount: number | null): number | null => (amount === null ? null : Number(amount.toFixed(6)));

function* activePools(registry: MinerRegistry): Iterable<Pick<PoolReading, "url" | "worker">> {
  for (const { facts, rig } of registry.all()) {
    if (facts.demo) continue;
    const active = briefOf(rig.state)?.pools.find((pool) => pool.active);
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

/** What writes to rigs: single commands, the loops that control power, and runs of steps, such as bulk actions. */
export function openCommands(options: ServiceOptions, base: Base, { power, registry, economics }: Miners) {
  const { repeat = byTimer, messages } = options;
  const { config, store, log, now, accessBook, book, shares, events, notices } = base;
  const { heating, follow } = config;
  const executor = new CommandExecutor(registry.fleet, store, log);
  const stepsOf = actionSteps(book, power, managedSteps(store, base.coins, base.managed));
  const holds = new PowerHolds({ store, power, now });
  const runOnRig = rigAction(registry, executor, stepsOf, accessBook, powerGuard(holds));
  const loops = new Loops({
    ...{ registry, store, power, holds, now, log, notices, runOnRig, heating, follow, repeat },
    messages: messages ?? null,
  });
  const runOnLoop = loopAction(loops, executor);
  const limits = {
    ownTopics: ownTopics(config.mqtt),
    programs: config.automation.programs,
    hasMessages: messages !== undefined,
    isOwnAddress: isAddressOf(config.http),
  };
  const runner = new StepRunner({
    ...{ store, registry, executor, accessBook, book, stepsOf, loops, runOnLoop, holds },
    limits,
    effects: effectsOf(options, base, economics),
  });
  const runs = new RunExecutor({ store, runner, now, log });
  const bulk = new BulkActions({ registry, store, accessBook, stepsOf, runs, runner, shares });
  const runList = listRunner({ store, registry, accessBook, runs, runner });
  executor.watch((command) => {
    holds.onCommand(command);
    loops.onCommand(command);
    logEnd(log, command);
    events.command(presentCommand(command));
  });
  return { executor, runOnRig, runOnLoop, loops, runs, runner, limits, bulk, runList };
}

/** What steps do elsewhere than on rigs. */
const effectsOf = ({ messages }: ServiceOptions, { config, notices }: Base, economics: Economics): Effects => ({
  notify: ({ key, isEnd, minerId, severity, title, text: message, channel }) => {
    const channels = channel === "all" ? "all" : [channel];
    if (isEnd && key !== null) notices.close(key, message);
    else notices.raise({ key, minerId, title, source: "Rules", message, severity, channels });
  },
  ...(messages === undefined ? {} : { publish: (topic, payload, retain) => messages.publish(topic, payload, retain) }),
  post: (request, signal) => sendWebHook(request, isAddressOf(config.http), signal),
  best: (minerId) => economics.best(minerId)?.watts ?? null,
  program: runProgram,
});

/** ms between two turns of rules. */
const ruleTurnMs = 1_000;

/** Rules, schedules and maintenance windows. */
export function openAutomation(options: ServiceOptions, base: Base, { registry, economics }: Miners, runs: Runs) {
  const { config, store, log, now, accessBook, format, records, notices, hooks } = base;
  const automation = new Automation({
    ...{ registry, store, accessBook, now, format, log },
    runs,
    notices,
    values: {
      price: economics.priceAt,
      lastOutput: (minerId) => base.managed.lastOutputOf(minerId),
      outside: (minerId, name) => {
        const { money, poolView } = registry.jsonCache.current(minerId)?.miner ?? {};
        if (name === "poolHashrate") return poolView?.hashrate ?? null;
        if (name === "poolRejected") return poolView?.rejected ?? null;
        if (name === "poolBalance") return poolView?.balance ?? null;
        return money?.[`${name}PerDay`] ?? null;
      },
    },
    messages: options.messages ?? null,
    each: (minerId, from, to, take) => records.recorderOf(minerId).each(minerId, from, to, take),
    monotonicNow: options.monotonicNow ?? (() => performance.now()),
    zone: config.display.timeZone,
    rawDays: config.history.raw,
  });
  let stop = (): void => undefined;
  notices.silence((minerId) => {
    const entry = registry.find(minerId);
    return entry !== undefined && automation.maintenance.over(entry) !== null;
  });
  const unwatch = hooks.watchHooks(({ name }) => automation.hook(name));
  return {
    automation,
    ruleNames: ruleNames(config, options.messages),
    startRules: (): void => {
      automation.start();
      stop = (options.ruleTurns ?? byTimer)(async () => automation.turn(), ruleTurnMs);
    },
    closeRules: async (): Promise<void> => {
      stop();
      unwatch();
      await automation.close();
    },
  };
}

/** Names of the configuration file that rules over the API may refer to. */
const ruleNames = (config: Config, messages: Messages | undefined) => ({
  channels: new Set(config.channels.map(({ key }) => key)),
  hooks: new Set(config.hooks.map(({ name }) => name)),
  hasMessages: messages !== undefined,
  programs: config.automation.programs,
});

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
