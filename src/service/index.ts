import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import { type OperationName, operationNames } from "../contract/operations.ts";
import type { MetaData } from "../contract/resources.ts";
import type { Caller, CallName, MiningService } from "../contract/service.ts";
import { openStore, type Store } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { version } from "../version.ts";
import { AccessBook } from "./access.ts";
import { actionOperations } from "./actions.ts";
import { BulkActions } from "./bulk.ts";
import { Coins } from "./coins.ts";
import { commandOperations, shownCommand } from "./commands.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { Discoveries } from "./discovery.ts";
import { Events } from "./events.ts";
import { groupOperations } from "./groups.ts";
import { historyOperations } from "./history.ts";
import { hostOperations } from "./hosts.ts";
import { encodedMiners, type MinerContext, minerOperations } from "./miners.ts";
import { notificationOperations, shownNotification } from "./notifications.ts";
import { PoolBook } from "./pool-book.ts";
import { Recorder } from "./recorder.ts";
import { type DemoMiner, Roster } from "./roster.ts";
import { Steering } from "./steering.ts";
import { presentSummary, type Totals, totalsOf } from "./summary.ts";
import { templateOperations } from "./templates.ts";
import { keyHolders, userOperations } from "./users.ts";

export type { DemoMiner } from "./roster.ts";

export interface ServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now?: () => number;
  /** Virtual rigs beside those of the configuration and the store. */
  readonly demo?: readonly DemoMiner[];
}

/**
 * The mining service itself: brings the store in line with the configuration and starts polling. `close` stops
 * polling, writes what is left, and leaves the store open.
 */
export async function startService(options: ServiceOptions): Promise<MiningService> {
  const { config, store, log, now = Date.now, demo = [] } = options;
  const format = formatFor(config.display);
  const prices = { currency: config.display.currency, btc: config.rates.btc, electricity: config.electricity.price };
  const metaData = (): MetaData => ({
    updated: format.localTime(now()),
    edition: "Rigbridge",
    version,
    infoList: [],
    warningList: [],
  });

  await declareCoins(config, store);
  const worthChanged = (): void => roster.presentAll();
  const coins = new Coins(store, config, now, worthChanged);
  await declareAll(config, store, coins);
  const book = new PoolBook(store, coins, worthChanged);
  const recorder = new Recorder(store, config.history, now, log);
  const demoStore = await openStore({ file: ":memory:", now });
  const access = new AccessBook(store);
  const events = new Events();
  const shown = shownNotification(format);
  const roster = new Roster({
    store,
    demoStore,
    recorder,
    events,
    poll: config.poll,
    now,
    log,
    presentation: { format, coins, pools: book, prices, startedAt: now(), energyOf: (id) => recorder.energyOf(id) },
    notify: (notification) => {
      store.notifications.add(notification).then(
        (added) => events.notification(shown(added), added.minerId),
        (error: unknown) => log.error({ error }, "a notification was lost"),
      );
    },
  });
  const steering = new Steering(roster.fleet, store, log, (command) => events.command(shownCommand(command)));
  const totals = keptTotals(roster);
  const context: MinerContext = { roster, store, book, format, metaData, totals };
  const encoded = encodedMiners(context);

  const bulk = new BulkActions();
  const discoveries = new Discoveries();

  const calls: Calls = {
    ...minerOperations(context),
    ...actionOperations(roster, steering, store, book),
    ...hostOperations(store),
    ...notificationOperations(store, format),
    ...templateOperations(store, metaData),
    ...groupOperations(
      store,
      async (id, groupId) => roster.put(await store.miners.change(id, { groupId })),
      () => roster.arrange(),
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
    getSummary: async () => presentSummary(totals(), format, prices, metaData()),
    ...commandOperations(roster, store, access),
    ...userOperations(store),
    ...historyOperations(roster, store, access, now),
    startBulkAction: bulk.startBulkAction,
    getBulkAction: bulk.getBulkAction,
    cancelBulkAction: bulk.cancelBulkAction,
    startDiscovery: discoveries.startDiscovery,
    getDiscovery: discoveries.getDiscovery,
    cancelDiscovery: discoveries.cancelDiscovery,
  };
  roster.start(demo);
  bulk.resume();
  discoveries.start();
  return {
    ...guarded(calls, access),
    watchEvents: (input, caller, signal) => {
      access.check("watchEvents", caller);
      return events.watch(input, caller, signal);
    },
    encodedEvents: (input, caller, signal) => {
      access.check("watchEvents", caller);
      return events.encoded(input, caller, signal);
    },
    features: async () => everyOperation,
    *eachMiner(caller) {
      for (const { facts } of roster.entriesFor(access.of(caller))) yield roster.present(facts.id).miner;
    },
    keyHolder: keyHolders(store),
    encoded: (operation, input, caller) => {
      if (caller.userId !== undefined) return undefined;
      if (operation === "listMiners") return encoded.list();
      if (operation === "getMiner" && "id" in input && typeof input.id === "number") return encoded.one(input.id);
      return undefined;
    },
    close: async () => {
      events.close();
      await discoveries.close();
      await bulk.close();
      const steered = steering.close();
      roster.close();
      await steered;
      recorder.close();
      await demoStore.close();
    },
  };
}

/** Totals are made anew only when something has changed, and for large fleets a few times a second at most. */
function keptTotals(roster: Roster): () => Totals {
  let kept = totalsOf([]);
  let version = -1;
  let madeAt = 0;
  return () => {
    const isOld = performance.now() - madeAt > roster.fleet.size / 100;
    if (roster.views.version !== version && isOld) {
      version = roster.views.version;
      madeAt = performance.now();
      kept = totalsOf(roster.views.figures());
    }
    return kept;
  };
}

type Calls = Pick<MiningService, CallName>;

const everyOperation: ReadonlySet<OperationName> = new Set(operationNames);

/** Nobody gets to an operation that is not for them. */
function guarded(calls: Calls, access: AccessBook): Calls {
  const checked = operationNames.flatMap((name) => {
    if (name === "watchEvents") return [];
    const method = calls[name];
    return [
      [
        name,
        async (input: never, caller: Caller) => {
          access.check(name, caller);
          return method(input, caller);
        },
      ] as const,
    ];
  });
  return Object.fromEntries(checked) as unknown as Calls;
}
