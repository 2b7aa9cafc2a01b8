import type { Caller } from "../contract/service.ts";
import { actionOperations } from "./commands/actions.ts";
import { commandOperations } from "./commands/commands.ts";
import { templateOperations } from "./commands/templates.ts";
import type { Discoveries } from "./discovery/discovery.ts";
import { notificationOperations } from "./events/notifications.ts";
import { historyOperations } from "./history/history.ts";
import { marketOperations } from "./market/market-operations.ts";
import { groupOperations } from "./miners/groups.ts";
import { hostOperations } from "./miners/hosts.ts";
import type { MinerContext, MinerOperations } from "./miners/miners.ts";
import { noNotices, type summaries } from "./miners/summary.ts";
import { moneyOperations } from "./money/money-operations.ts";
import type { Base, Commands, Miners } from "./parts.ts";
import type { Calls } from "./users/guard.ts";
import { userOperations } from "./users/users.ts";

type ServiceParts = Base &
  Miners &
  Commands &
  MinerContext & {
    readonly ofMiners: MinerOperations;
    readonly summary: ReturnType<typeof summaries>;
    readonly discoveries: Discoveries;
  };

/** Every operation but the stream of events, for callers whose access was checked. */
export function serviceOperations(parts: ServiceParts): Calls {
  const { config, store, now, format, coins, book, accessBook, shares, events, metaData } = parts;
  const { registry, executor, runOnRig, runOnLoop, bulk, discoveries } = parts;
  /** The change may show in any miner. */
  const changingAll =
    <I, R>(operation: (input: I, caller: Caller) => Promise<R>) =>
    async (input: I, caller: Caller): Promise<R> => {
      const reply = await operation(input, caller);
      registry.changeAll();
      return reply;
    };
  return {
    ...parts.ofMiners,
    ...actionOperations(registry, executor, runOnRig, accessBook, runOnLoop),
    ...hostOperations(store, coins, accessBook),
    ...notificationOperations(store, (id, access) => registry.visible(id, access) !== undefined, accessBook, format),
    ...templateOperations(store, () => metaData(noNotices)),
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
    savePool: changingAll(book.savePool),
    deletePool: changingAll(book.deletePool),
    listPoolGroups: book.listPoolGroups,
    savePoolGroup: book.savePoolGroup,
    deletePoolGroup: book.deletePoolGroup,
    saveCoin: changingAll(coins.saveCoin),
    deleteCoin: changingAll(coins.deleteCoin),
    listAlgorithms: coins.listAlgorithms,
    getSummary: async (_input, caller) => parts.summary.of(caller),
    ...commandOperations(registry, store, accessBook, shares, executor),
    ...userOperations({ store, accessBook, serviceKey: config.http.key, changed: () => events.changed() }),
    ...historyOperations(
      (id, caller) => registry.entryFor(id, accessBook.of(caller)),
      parts.records.recorderOf,
      shares,
      now,
    ),
    ...moneyOperations({
      ...{ store, coins, accessBook, shares, now, days: store.moneyDays, save: parts.ledgers.save },
      ...{ tariffs: parts.tariffs, currency: parts.rates.currency, localTime: parts.localTime },
      nameOf: (id) => registry.find(id)?.facts.name,
      idOf: (miner, caller) => registry.idFor(miner, accessBook.of(caller)),
    }),
    ...marketOperations(parts.market, coins, parts.rates, now),
    startBulkAction: bulk.startBulkAction,
    listBulkActions: bulk.listBulkActions,
    getBulkAction: bulk.getBulkAction,
    cancelBulkAction: bulk.cancelBulkAction,
    startDiscovery: discoveries.startDiscovery,
    getDiscovery: discoveries.getDiscovery,
    cancelDiscovery: discoveries.cancelDiscovery,
  };
}
