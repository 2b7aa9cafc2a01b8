import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import { notFound, notYet } from "../contract/problems.ts";
import type { MetaData } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { openStore, type Store } from "../store/index.ts";
import { formatFor } from "../units/format.ts";
import { version } from "../version.ts";
import { actionOperations } from "./actions.ts";
import { Coins } from "./coins.ts";
import { declareAll, declareCoins } from "./declare.ts";
import { groupOperations } from "./groups.ts";
import { hostOperations } from "./hosts.ts";
import { encodedMiners, type MinerContext, minerOperations } from "./miners.ts";
import { notificationOperations } from "./notifications.ts";
import { PoolBook } from "./pool-book.ts";
import { Recorder } from "./recorder.ts";
import { type DemoMiner, Roster } from "./roster.ts";
import { Steering } from "./steering.ts";
import { present } from "./stored.ts";
import { presentSummary, type Totals, totalsOf } from "./summary.ts";
import { templateOperations } from "./templates.ts";

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

export type RunningService = MiningService & {
  /** Stops polling, writes what is left, and leaves the store open. */
  close(): Promise<void>;
};

/** The mining service itself: brings the store in line with the configuration and starts polling. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
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
  const roster = new Roster({
    store,
    demoStore,
    recorder,
    poll: config.poll,
    now,
    log,
    presentation: { format, coins, pools: book, prices, startedAt: now(), energyOf: (id) => recorder.energyOf(id) },
    notify: (notification) => {
      store.notifications.add(notification).catch((error: unknown) => log.error({ error }, "a notification was lost"));
    },
  });
  const steering = new Steering(roster.fleet, store, log);
  const totals = keptTotals(roster);
  const context: MinerContext = { roster, store, book, format, metaData, totals };
  const encoded = encodedMiners(context);

  const service: Omit<MiningService, "encoded"> = {
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
    getUser: async ({ username }) => {
      const user = present(store.users).find(({ name }) => name === username);
      if (user === undefined) throw notFound("user", username);
      return { userId: user.id };
    },
    listCommands: async ({ miner, actor, since }) => {
      const minerId = typeof miner === "string" ? (roster.idOfUid(miner) ?? 0) : miner;
      const sinceTime = since === undefined ? undefined : Date.parse(since);
      const rows = await store.commands.list({ minerId, actor, since: sinceTime });
      return {
        commandList: rows.map(({ time, updated, ...row }) => ({
          ...row,
          time: new Date(time).toISOString(),
          updated: new Date(updated).toISOString(),
        })),
      };
    },
  };
  roster.start(demo);
  return {
    ...filtered(service, store),
    encoded: (operation, input, caller) => {
      if (caller.userId !== undefined) return undefined;
      if (operation === "listMiners") return encoded.list();
      if (operation === "getMiner" && "id" in input && typeof input.id === "number") return encoded.one(input.id);
      return undefined;
    },
    close: async () => {
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

/** `user_id` is known but does not filter yet: nothing is shown that it may not see. */
function filtered(service: Omit<MiningService, "encoded">, { users }: Store): Omit<MiningService, "encoded"> {
  const check = ({ userId }: Caller): void => {
    if (userId === undefined) return;
    if (users.get(userId)?.disabled !== false) throw notFound("user", userId);
    throw notYet("Filtering by user_id");
  };
  const guarded = Object.entries(service).map(([name, method]) => [
    name,
    async (input: never, caller: Caller) => {
      check(caller);
      return method(input, caller);
    },
  ]);
  return Object.fromEntries(guarded) as Omit<MiningService, "encoded">;
}
