import { Semaphore } from "../../async/index.ts";
import type { PoolViewSettings } from "../../config/money.ts";
import type { PoolSettings } from "../../config/schema.ts";
import type { PoolView } from "../../contract/resources.ts";
import type { PoolBook } from "../money/pool-book.ts";
import { Feed, type FeedContext } from "./feed.ts";
import { PoolFacts, poolViewSources, type WorkerView } from "./pool-view-sources.ts";

/** A pool on a rig. */
interface RigPool {
  readonly url: string;
  readonly worker: string;
}

export interface PoolViewContext extends Omit<FeedContext, "kept"> {
  readonly book: Pick<PoolBook, "definition">;
  /** The active pools of all rigs. */
  readonly activePools: () => Iterable<RigPool>;
}

interface Account {
  readonly feed: Feed<PoolViewSettings, PoolFacts>;
  readonly facts: () => PoolFacts;
}

/** Not kept: such a value is minutes old, and each start requests it again. */
const notKept: FeedContext["kept"] = {
  get: () => undefined,
  save: async () => undefined,
  keep: async () => undefined,
};
/** Limit of accounts and workers that are queried; each takes a request every few minutes. */
const mostAccounts = 1_000;
/** ms between two checks of which pools rigs use. */
const lookEveryMs = 60_000;
const requestsAtOnce = 4;

/** The pools' own data about the workers of rigs. Only pools with `view` in the configuration are queried. */
export class PoolViews {
  readonly #context: PoolViewContext;
  /** By the name of the pool, which is its key in the store. */
  readonly #settings: ReadonlyMap<string, PoolViewSettings>;
  readonly #accounts = new Map<string, Account>();
  readonly #requests = new Semaphore(requestsAtOnce);
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(pools: readonly PoolSettings[], context: PoolViewContext) {
    this.#context = context;
    this.#settings = new Map(pools.flatMap(({ name, view }) => (view === undefined ? [] : [[name, view] as const])));
  }

  get isUsed(): boolean {
    return this.#settings.size > 0;
  }

  /** Queries what is due; true if something is new. */
  async turn(): Promise<boolean> {
    if (!this.isUsed) return false;
    this.#look();
    const polled = await Promise.all(
      [...this.#accounts.values()].map(({ feed }) =>
        feed.isDue ? this.#requests.run(() => feed.poll()) : Promise.resolve(false),
      ),
    );
    return polled.some((isNew) => isNew);
  }

  /** Null if the pool is not queried, or does not know the worker. */
  of(pool: RigPool): PoolView | null {
    if (!this.isUsed) return null;
    const address = this.#addressOf(pool);
    const account = address === null ? undefined : this.#accounts.get(address.url);
    if (address === null || account === undefined || account.feed.at === null) return null;
    const view = viewOf(account.facts(), pool.worker, address.isOfWorker);
    if (view === null) return null;
    const { hashrate, rejected, balance, lastShare } = view;
    return {
      hashrate,
      rejected,
      balance,
      source: account.feed.host,
      at: new Date(account.feed.at).toISOString(),
      lastShareUtc: lastShare === null ? null : new Date(lastShare).toISOString(),
    };
  }

  #look(): void {
    const now = this.#context.now();
    if (now >= this.#lookedAt && now < this.#lookedAt + lookEveryMs) return;
    this.#lookedAt = now;
    const wanted = new Map<string, PoolViewSettings>();
    for (const pool of this.#context.activePools()) {
      const address = this.#addressOf(pool);
      if (address !== null && wanted.size < mostAccounts) wanted.set(address.url, address.settings);
    }
    for (const url of this.#accounts.keys()) if (!wanted.has(url)) this.#accounts.delete(url);
    for (const [url, settings] of wanted)
      if (!this.#accounts.has(url)) this.#accounts.set(url, this.#open(url, settings));
  }

  #open(url: string, settings: PoolViewSettings): Account {
    let known: PoolFacts = [];
    const feed = new Feed(
      {
        shape: poolViewSources[settings.type],
        settings,
        url,
        everyMs: settings.every * 1000,
        schema: PoolFacts,
        identity: ["pool", settings.type],
        take: (facts: PoolFacts) => {
          known = facts;
          return facts;
        },
      },
      { ...this.#context, kept: notKept },
    );
    return { feed, facts: () => known };
  }

  /** The address for a rig's pool; null if its definition has none, or nothing is known to fill in. */
  #addressOf({ url, worker }: RigPool): { url: string; settings: PoolViewSettings; isOfWorker: boolean } | null {
    const definition = this.#context.book.definition(url, worker);
    const settings = definition?.owner === "file" ? this.#settings.get(definition.key ?? "") : undefined;
    if (definition === undefined || settings === undefined) return null;
    const [account = "", ...rest] = worker.split(".");
    const values: Record<string, string> = {
      address: definition.walletAddress || account,
      worker: rest.join(".") || account,
    };
    let isEmpty = false;
    const filled = settings.url.replaceAll(/\{(address|worker)\}/g, (_all, name: string) => {
      // Dots alone would lead to another path.
      isEmpty ||= /^\.*$/.test(values[name] ?? "");
      return encodeURIComponent((values[name] ?? "").toWellFormed());
    });
    return isEmpty ? null : { url: filled, settings, isOfWorker: settings.url.includes("{worker}") };
  }
}

/** The pool's row for a worker, listed with or without the account as prefix; the balance may be the account's. */
export function viewOf(facts: PoolFacts, worker: string, isOfWorker: boolean): WorkerView | null {
  const account = facts.find((row) => row.worker === null);
  const short = worker.split(".").slice(1).join(".");
  const names = [worker, ...(short === "" ? [] : [short])];
  const own = facts.find((row) => row.worker !== null && names.includes(row.worker));
  const named = facts.filter((row) => row.worker !== null);
  // An answer about a single worker need not name it.
  const found = own ?? (isOfWorker || named.length === 0 ? (account ?? named[0]) : undefined);
  return found === undefined ? null : { ...found, balance: found.balance ?? account?.balance ?? null };
}
