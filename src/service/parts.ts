import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import type { Messages } from "../contract/messages.ts";
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
import { type DemoMiner, isDemo, MinerRegistry } from "./miners/miner-registry.ts";
import { cachedTotals, metaDataWith } from "./miners/summary.ts";
import { Coins } from "./money/coins.ts";
import { PoolBook } from "./money/pool-book.ts";
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
  const coins = new Coins(store, config, now);
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
    prices: { currency: config.display.currency, btc: config.rates.btc, electricity: config.electricity.price },
    coins,
    accessBook,
    book: new PoolBook(store, coins, accessBook),
    shares: new ReadShares(monotonicNow ?? (() => performance.now())),
    records: await openRecords(config, store, now, log),
    events,
    notify,
    setWarning: warnings(store, notify, log),
  };
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
  const { config, store, log, now, format, prices, coins, book, events, notify } = base;
  const { demoStore, recorderOf } = base.records;
  const power = new PowerTargets({
    memoriesOf: (id) => (isDemo(id) ? demoStore : store).power,
    now,
    rulesOf: (id, ofLoop) => powerRules({ ...config.power, ...ofLoop }, store.miners.get(id)?.power),
    nameplateOf: (id) => store.miners.get(id)?.powerNameplate ?? null,
  });
  const registry = new MinerRegistry({
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
    presentation: { format, coins, pools: book, prices, startedAt: now() },
    notify,
    setWarning: base.setWarning,
  });
  return { power, registry };
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
