import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { version } from "../version.ts";
import { bulkRequest } from "./automation/bulk-request.ts";
import { listOf } from "./automation/lists.ts";
import { refusals, reportDisabled } from "./automation/rights.ts";
import type { LiveRule } from "./automation/rules/live-rule.ts";
import { ruleOperations } from "./automation/rules/operations.ts";
import { templateOperations } from "./automation/templates.ts";
import type { Commands, Rules } from "./automation-parts.ts";
import { type Action, actionOperations } from "./commands/actions.ts";
import { commandOperations } from "./commands/commands.ts";
import type { Discoveries } from "./discovery/discovery.ts";
import { farmHistoryOperations } from "./history/farm-history.ts";
import { historyOperations } from "./history/history.ts";
import { hostOperations } from "./hosts/hosts.ts";
import { managedOperations } from "./hosts/managed.ts";
import { templateMistakes } from "./hosts/software.ts";
import { marketOperations } from "./market/market-operations.ts";
import { groupOperations } from "./miners/groups.ts";
import type { MinerContext, MinerOperations } from "./miners/miners.ts";
import { noNotices, type summaries } from "./miners/summary.ts";
import { moneyOperations } from "./money/money-operations.ts";
import { channelOperations } from "./notifications/channels.ts";
import { notificationOperations } from "./notifications/notifications.ts";
import type { Outbox } from "./notifications/outbox.ts";
import type { Base, Miners } from "./parts.ts";
import { roomOperations } from "./power/room-operations.ts";
import type { Calls } from "./users/guard.ts";
import { userOperations } from "./users/users.ts";

type ServiceParts = Base &
  Miners &
  Rules &
  Commands &
  MinerContext & {
    readonly ofMiners: MinerOperations & Pick<Calls, "listMinerRows">;
    readonly summary: ReturnType<typeof summaries>;
    readonly discoveries: Discoveries;
    readonly outbox: Outbox;
  };

/** Every operation but the stream of events, for callers whose access was checked. */
export function serviceOperations(parts: ServiceParts): Calls {
  const { config, store, now, format, coins, book, accessBook, shares, events, metaData } = parts;
  const { registry, executor, runOnRig, runOnLoop, runList, bulk, discoveries, automation, ruleNames } = parts;
  /** The change may show in any miner. */
  const changingAll =
    <I, R>(operation: (input: I, caller: Caller) => Promise<R>) =>
    async (input: I, caller: Caller): Promise<R> => {
      const reply = await operation(input, caller);
      registry.changeAll();
      return reply;
    };
  /** The limits and the guard of a rule hold for people too. */
  const manualRule = (action: Action, caller: Caller) => {
    const list = listOf(action, store, parts.usable, accessBook.of(caller));
    return list?.kind === "manual" ? automation.engine.find(list.id) : undefined;
  };
  /** Those of the miners that the rule applies to. Throws `nothing.to.do`. */
  const inScope = (rule: LiveRule, minerIds: readonly number[]): number[] => {
    const members = new Set(automation.engine.members(rule));
    const inside = minerIds.filter((id) => members.has(id));
    if (inside.length > 0) return inside;
    const which = minerIds.length === 1 ? "this miner" : `any of these ${minerIds.length} miners`;
    const reasons = new Set(minerIds.map((id) => automation.engine.whyNot(rule, id)));
    throw new RigbridgeError(
      "nothing.to.do",
      `The rule ${rule.settings.name} does not apply to ${which}: ${[...reasons].join("; ")}`,
    );
  };
  const runByHand: typeof runList = async (input, caller) => {
    registry.entryFor(input.id, accessBook.of(caller));
    const rule = manualRule(input, caller);
    const run = (begun?: (runId: number) => void) => runList(input, caller, begun);
    return rule === undefined
      ? run()
      : automation.firing.byHand(rule, inScope(rule, [input.id]), caller, run, (reply) => reply?.message ?? "");
  };
  const startBulkAction: typeof bulk.startBulkAction = async (body, caller) => {
    if (body.action !== "rule") return bulk.startBulkAction(body, caller);
    const { action, minerIds } = bulkRequest(body, registry, store, accessBook.of(caller));
    const rule = manualRule(action, caller);
    if (rule === undefined) return bulk.startBulkAction(body, caller);
    const miners = inScope(rule, minerIds);
    const { all: _, groups: __, ...rest } = body;
    const start = async (begun: (runId: number) => void = () => undefined) => {
      const started = await bulk.startBulkAction({ ...rest, miners }, caller);
      begun(started.id);
      return started;
    };
    return body.dryRun
      ? start()
      : automation.firing.byHand(
          rule,
          miners,
          caller,
          start,
          ({ id }) => `as action ${id} for ${miners.length} miners`,
        );
  };
  /** A notification that is cleared while it is open no longer counts as an alarm of its miner. */
  const clearing =
    <I, R>(operation: (input: I, caller: Caller) => Promise<R>) =>
    async (input: I, caller: Caller): Promise<R> => {
      const before = parts.alarms.counts();
      const reply = await operation(input, caller);
      for (const [minerId, count] of before) if (parts.alarms.of(minerId) !== count) events.row(minerId);
      return reply;
    };
  const ofNotifications = notificationOperations(
    store,
    parts.notices,
    (about, access) => registry.seesNotification(about, access),
    accessBook,
    format,
  );
  const usersChanged = (): void => {
    events.changed();
    reportDisabled(store, accessBook, (title, message) => parts.notices.setWarning(title, message));
  };
  const { agents, managed, targets } = parts;
  const hostContext = { store, accessBook, agents, managed };
  /** The same for the settings with which programs on hosts are started. */
  const changingPools =
    <I, R>(operation: (input: I, caller: Caller) => Promise<R>) =>
    async (input: I, caller: Caller): Promise<R> => {
      const reply = await operation(input, caller);
      managed.syncAll();
      return reply;
    };
  return {
    ...parts.ofMiners,
    ...actionOperations(registry, executor, runOnRig, accessBook, runOnLoop, runByHand),
    ...hostOperations(hostContext),
    ...managedOperations({ ...hostContext, coins, registry, switcher: parts.switcher, addReal: parts.addReal }),
    listBenchmarks: parts.benchmarks.listBenchmarks,
    deleteBenchmark: parts.benchmarks.deleteBenchmark,
    listNotifications: ofNotifications.listNotifications,
    allNotificationsAction: clearing(ofNotifications.allNotificationsAction),
    notificationsAction: clearing(ofNotifications.notificationsAction),
    notificationAction: clearing(ofNotifications.notificationAction),
    ...channelOperations({
      store,
      accessBook,
      book: parts.channels,
      outbox: parts.outbox,
      targets: parts.webTargets,
      notifying: () => automation.lists(),
    }),
    ...templateOperations(
      store,
      accessBook,
      { usable: parts.usable, targets },
      (fields) => templateMistakes(fields, agents.software(), coins),
      () => metaData(noNotices),
    ),
    ...groupOperations(
      store,
      accessBook,
      async (id, groupId) => registry.put(await store.miners.change(id, { groupId })),
      () => {
        managed.refresh();
        registry.arrange();
        events.reset();
      },
    ),
    listPools: book.listPools,
    getPool: book.getPool,
    savePool: changingPools(changingAll(book.savePool)),
    deletePool: changingAll(book.deletePool),
    listPoolGroups: book.listPoolGroups,
    savePoolGroup: changingPools(book.savePoolGroup),
    deletePoolGroup: book.deletePoolGroup,
    saveCoin: changingAll(coins.saveCoin),
    deleteCoin: changingAll(coins.deleteCoin),
    listAlgorithms: coins.listAlgorithms,
    getSummary: async (_input, caller) => parts.summary.of(caller),
    ...commandOperations(registry, store, accessBook, shares, executor),
    ...userOperations({ store, accessBook, serviceKey: config.http.key, changed: usersChanged }),
    ...historyOperations(
      (id, caller) => registry.entryFor(id, accessBook.of(caller)),
      parts.records.recorderOf,
      shares,
      now,
    ),
    ...farmHistoryOperations({
      store,
      accessBook,
      shares,
      now,
      currency: parts.rates.currency,
      history: config.history,
      demoStore: parts.records.demoStore,
      algorithmId: (name) => coins.algorithm(name)?.id,
    }),
    ...roomOperations({
      registry,
      accessBook,
      executor,
      runOnRig,
      runOnLoop,
      now,
      currency: parts.rates.currency,
      loops: parts.loops,
      power: parts.power,
      holds: parts.holds,
      localTime: parts.localTime,
      sumsOf: parts.ledgers.sumsOf,
    }),
    ...moneyOperations({
      store,
      coins,
      accessBook,
      shares,
      now,
      days: store.moneyDays,
      save: parts.ledgers.save,
      tariffs: parts.tariffs,
      currency: parts.rates.currency,
      localTime: parts.localTime,
      nameOf: (id) => registry.find(id)?.facts.name,
      idOf: (miner, caller) => registry.idFor(miner, accessBook.of(caller)),
    }),
    ...marketOperations(parts.market, coins, parts.rates, now),
    startBulkAction,
    listBulkActions: bulk.listBulkActions,
    getBulkAction: bulk.getBulkAction,
    cancelBulkAction: bulk.cancelBulkAction,
    startDiscovery: discoveries.startDiscovery,
    ...ruleOperations({
      automation,
      registry,
      store,
      accessBook,
      targets,
      now,
      names: ruleNames,
      stepMistakes: (steps, maker, path) => refusals(steps, maker, parts.limits, path),
    }),
    getDiscovery: discoveries.getDiscovery,
    cancelDiscovery: discoveries.cancelDiscovery,
    getVersion: async () => ({ name: "Rigbridge", version }),
  };
}
