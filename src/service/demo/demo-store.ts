import {
  type Collection,
  type CommandLog,
  MayBeStored,
  type MoneyDays,
  type NotificationLog,
  type RuleLog,
  type RunLog,
  type Store,
  type Stored,
  type StoredCommand,
  type StoredNotification,
} from "../../store/index.ts";
import { isDemo } from "../miners/declared-miner.ts";

/** The store of a service with a demo: what the demo consists of, and what happens to it, is in memory alone. */
export interface StoreWithDemo extends Store {
  /** The demo has left: it is in no list any longer. Writes that are still under way for it do no harm. */
  leave(): void;
}

/** Commands in a list, as the log of commands has it. */
const listLimit = 1_000;

/**
 * Rows of the demo have ids of their own (`isDemo`), so that each call goes to the one store that knows its row. What users
 * add is not the demo's, and goes to `own`.
 */
export function overDemo(own: Store, demo: Store): StoreWithDemo {
  let isThere = true;
  const shown = (): boolean => isThere;
  const both = <T>(kind: (store: Store) => Collection<T>): Collection<T> => bothRows(kind(own), kind(demo), shown);
  return {
    ...own,
    miners: both((store) => store.miners),
    groups: both((store) => store.groups),
    pools: both((store) => store.pools),
    poolGroups: both((store) => store.poolGroups),
    hosts: both((store) => store.hosts),
    managedMiners: both((store) => store.managedMiners),
    agents: both((store) => store.agents),
    templates: both((store) => store.templates),
    rules: both((store) => store.rules),
    schedules: both((store) => store.schedules),
    maintenance: both((store) => store.maintenance),
    coins: both((store) => store.coins),
    notifications: bothNotifications(own.notifications, demo.notifications, shown),
    commands: bothCommands(own.commands, demo.commands, shown),
    runs: bothRuns(own.runs, demo.runs, shown),
    moneyDays: bothMoneyDays(own.moneyDays, demo.moneyDays, shown),
    ruleLog: bothRuleLogs(own.ruleLog, demo.ruleLog, shown),
    leave: () => {
      isThere = false;
    },
  };
}

function bothRows<T>(own: Collection<T>, demo: Collection<T>, shown: () => boolean): Collection<T> {
  const shownRows = new WeakMap<Stored<T>, Stored<T>>();
  /** Those of the demo can be changed like what users added. The same object for the same row. */
  const asAdded = (row: Stored<T>): Stored<T> => {
    const known = shownRows.get(row) ?? { ...row, owner: "store", key: null };
    shownRows.set(row, known);
    return known;
  };
  const of = (id: number): Collection<T> => (isDemo(id) ? demo : own);
  let last: readonly [readonly Stored<T>[], readonly Stored<T>[], readonly Stored<T>[]] | null = null;
  return {
    all: () => {
      const rows = own.all();
      if (!shown()) return rows;
      const ofDemo = demo.all();
      if (last?.[0] !== rows || last[1] !== ofDemo) last = [rows, ofDemo, [...rows, ...ofDemo.map(asAdded)]];
      return last[2];
    },
    get: (id) => {
      if (!isDemo(id)) return own.get(id);
      const row = shown() ? demo.get(id) : undefined;
      return row === undefined ? undefined : asAdded(row);
    },
    add: (value) => own.add(value),
    change: async (id, patch) => (isDemo(id) ? asAdded(await demo.change(id, patch)) : own.change(id, patch)),
    get lastId() {
      return own.lastId;
    },
    addAndChange: async (added, changes, first) => {
      const ofDemo = [...changes].filter(([id]) => isDemo(id));
      const ofOwn = [...changes].filter(([id]) => !isDemo(id));
      const rows = await own.addAndChange(added, new Map(ofOwn), first);
      return [...rows, ...(await demo.addAndChange([], new Map(ofDemo))).map(asAdded)];
    },
    remove: (id) => of(id).remove(id),
    // What is the demo's belongs to no centre.
    prepare: (changes) => own.prepare(changes),
    declare: (declared) => own.declare(declared),
  };
}

function bothNotifications(own: NotificationLog, demo: NotificationLog, shown: () => boolean): NotificationLog {
  let last: readonly (readonly StoredNotification[])[] | null = null;
  const idsOf = (ids: readonly number[] | "all", isOfDemo: boolean): readonly number[] | "all" =>
    ids === "all" ? ids : ids.filter((id) => isDemo(id) === isOfDemo);
  return {
    list: () => {
      const ofOwn = own.list();
      if (!shown()) return ofOwn;
      const ofDemo = demo.list();
      if (last?.[0] !== ofOwn || last[1] !== ofDemo)
        last = [ofOwn, ofDemo, [...ofOwn, ...ofDemo].sort((one, other) => other.time - one.time)];
      return last[2] ?? ofOwn;
    },
    open: (key) => demo.open(key) ?? own.open(key),
    raise: (notification) =>
      (notification.minerId !== null && isDemo(notification.minerId) ? demo : own).raise(notification),
    close: (key) => demo.close(key) ?? own.close(key),
    acknowledge: async (ids) => [
      ...(await own.acknowledge(idsOf(ids, false))),
      ...(await demo.acknowledge(idsOf(ids, true))),
    ],
    clear: async (ids) => [...(await own.clear(idsOf(ids, false))), ...(await demo.clear(idsOf(ids, true)))],
    flush: () => own.flush(),
  };
}

function bothCommands(own: CommandLog, demo: CommandLog, shown: () => boolean): CommandLog {
  const of = (id: number): CommandLog => (isDemo(id) ? demo : own);
  return {
    add: (command, request, forSafety) => of(command.minerId).add(command, request, forSafety),
    isWaiting: (id) => of(id).isWaiting(id),
    move: (id, state, message) => of(id).move(id, state, message),
    watchLate: (watcher) => own.watchLate(watcher),
    get: (id) => of(id).get(id),
    list: async (wanted) => {
      const rows = await own.list(wanted);
      if (!shown()) return rows;
      const byAge = (one: StoredCommand, other: StoredCommand): number => other.time - one.time || other.id - one.id;
      return [...rows, ...(await demo.list(wanted))].sort(byAge).slice(0, listLimit);
    },
    flush: () => own.flush(),
  };
}

function bothRuns(own: RunLog, demo: RunLog, shown: () => boolean): RunLog {
  const of = (id: number): RunLog => (isDemo(id) ? demo : own);
  return {
    add: (run, results) => of(results[0]?.minerId ?? 0).add(run, results),
    isBegun: async (occurrence) => (await own.isBegun(occurrence)) || (await demo.isBegun(occurrence)),
    get: (id) => of(id).get(id),
    list: async (userId) => {
      const runs = await own.list(userId);
      return shown() ? [...(await demo.list(userId)), ...runs].sort((one, other) => other.time - one.time) : runs;
    },
    results: (id) => of(id).results(id),
    turns: (id) => of(id).turns(id),
    running: async () => [...(await own.running()), ...(await demo.running())],
    claim: (id, minerId, commandId) => of(id).claim(id, minerId, commandId),
    bind: (id, minerId, commandId) => of(id).bind(id, minerId, commandId),
    note: (id, minerId, message) => of(id).note(id, minerId, message),
    end: (id, result) => of(id).end(id, result),
    next: (id, minerId, result, then) => of(id).next(id, minerId, result, then),
    cancel: (id, message) => of(id).cancel(id, message),
    finish: (id) => of(id).finish(id),
  };
}

/** A rule of the demo, and whatever rule acted on a rig of the demo, is the demo's. */
function bothRuleLogs(own: RuleLog, demo: RuleLog, shown: () => boolean): RuleLog {
  const isOfDemo = (row: { readonly ownerId: number; readonly minerId: number }): boolean =>
    isDemo(row.ownerId) || isDemo(row.minerId);
  const isOwn = (row: { readonly ownerId: number; readonly minerId: number }): boolean => !isOfDemo(row);
  return {
    eachState: async (take) => {
      await own.eachState(take);
      await demo.eachState(take);
    },
    save: async (states, gone, traces) =>
      (await demo.save(states.filter(isOfDemo), gone.filter(isOfDemo), traces.filter(isOfDemo))) &&
      own.save(states.filter(isOwn), gone.filter(isOwn), traces.filter(isOwn)),
    traces: async (kind, ownerId, limit) => {
      const traces = isDemo(ownerId) ? [] : await own.traces(kind, ownerId, limit);
      return shown() ? newest([...traces, ...(await demo.traces(kind, ownerId, limit))], limit) : traces;
    },
    recentTraces: async (filter) => {
      const traces = await own.recentTraces(filter);
      return shown() ? newest([...traces, ...(await demo.recentTraces(filter))], filter.limit) : traces;
    },
    get lastTraceId() {
      return Math.max(own.lastTraceId, demo.lastTraceId);
    },
    forget: async (kind, ownerId) => {
      await own.forget(kind, ownerId);
      await demo.forget(kind, ownerId);
    },
  };
}

function bothMoneyDays(own: MoneyDays, demo: MoneyDays, shown: () => boolean): MoneyDays {
  const days = (): readonly MoneyDays[] => (shown() ? [own, demo] : [own]);
  return {
    add: async (batch) => {
      const isOfDemo = Object.groupBy(batch, ([{ minerId }]) => (isDemo(minerId) ? "demo" : "own"));
      const addDemo = (): Promise<void> => demo.add(isOfDemo.demo ?? []);
      try {
        await own.add(isOfDemo.own ?? []);
      } catch (error) {
        // The caller does not add this batch again.
        if (error instanceof MayBeStored) await addDemo();
        throw error;
      }
      await addDemo();
    },
    settle: () => own.settle(),
    sums: async (query) => (await Promise.all(days().map((each) => each.sums(query)))).flat(),
    ofMiners: (date, minerIds, currency) => {
      const ids = Array.from(minerIds);
      return ids.some(isDemo) ? demo.ofMiners(date, ids, currency) : own.ofMiners(date, ids, currency);
    },
    dates: async () => {
      const spans = (await Promise.all(days().map((each) => each.dates()))).filter((span) => span !== null);
      const [first, last] = [
        spans.map((span) => span.first).sort()[0],
        spans
          .map((span) => span.last)
          .sort()
          .at(-1),
      ];
      return first === undefined || last === undefined ? null : { first, last };
    },
    costs: async (currency) =>
      new Map((await Promise.all(days().map((each) => each.costs(currency)))).flatMap((costs) => [...costs])),
    forget: (minerId) => (isDemo(minerId) ? demo : own).forget(minerId),
    prune: (date) => own.prune(date),
  };
}

const newest = <T extends { readonly id: number }>(rows: readonly T[], limit: number): T[] =>
  rows.toSorted((one, other) => other.id - one.id).slice(0, limit);
