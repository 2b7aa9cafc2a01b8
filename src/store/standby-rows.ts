import { setTimeout as sleep } from "node:timers/promises";
import type { Own } from "./lease.ts";
import { storeVersion } from "./migrations.ts";
import { PostgresSession } from "./postgres-session.ts";

/** Fewer rows, those of some 10,000 rigs, are read within a second: not worth their memory. */
const leastRows = 50_000;
/** Together in memory, and read without a pause for anything else. */
const pageRows = 100;

/** A connection, without types of pg, which programs that use the package do not have. */
interface RowReader {
  run<R>(text: string): Promise<readonly { readonly rows: readonly R[] }[]>;
}

export interface StandbyTable<R, V> {
  readonly from: string;
  /** Which of its rows, in SQL. */
  readonly where?: string;
  /** What no two of these rows share, in SQL. */
  readonly key: string;
  /** What the store keeps of a row in memory. */
  readonly read: (row: R) => V;
}

/** The rows of a table that a waiting service has in memory, so that it need not read them when it becomes active. */
export class StandbyRows<R, V> {
  readonly #from: string;
  readonly #key: string;
  readonly #read: (row: R) => V;
  #values = new Map<unknown, V>();
  #isWhole = false;

  constructor({ from, where = "true", key, read }: StandbyTable<R, V>) {
    this.#from = `from ${from} where ${where}`;
    this.#key = `select ${key} as row_key`;
    this.#read = read;
  }

  /** Null: they were not read. */
  take(): readonly V[] | null {
    const values = this.#isWhole ? [...this.#values.values()] : null;
    this.forget();
    return values;
  }

  /** Also what a reading under way will have found. */
  forget(): void {
    this.#values = new Map();
    this.#isWhole = false;
  }

  async count(session: RowReader): Promise<number> {
    const [counted] = await session.run<{ readonly count: number }>(`select count(*) as count ${this.#from}`);
    return counted?.rows[0]?.count ?? 0;
  }

  /** Reads the rows that transactions from `since` on have written; null: all. `count`: how many there are now. */
  async follow(session: RowReader, since: string | null, count: number): Promise<void> {
    const values = this.#values;
    const newer = since !== null && this.#isWhole ? `and age(xmin) <= age('${since}'::xid)` : "";
    await session.run(`declare written no scroll cursor for ${this.#key}, * ${this.#from} ${newer}`);
    for (let isMore = true; isMore; ) {
      const [page] = await session.run<R & { readonly row_key: unknown }>(`fetch ${pageRows} from written`);
      for (const row of page?.rows ?? []) values.set(row.row_key, this.#read(row));
      isMore = page?.rows.length === pageRows;
    }
    await session.run("close written");
    // All that are there are here, so others were deleted.
    if (values.size !== count) await this.#dropDeleted(session, values);
    this.#isWhole = values === this.#values;
  }

  async #dropDeleted(session: RowReader, values: Map<unknown, V>): Promise<void> {
    const [present] = await session.run<{ readonly row_key: unknown }>(`${this.#key} ${this.#from}`);
    const keys = new Set(present?.rows.map(({ row_key }) => row_key));
    for (const key of values.keys()) if (!keys.has(key)) values.delete(key);
  }
}

/** Of any kind. */
export type AnyStandbyRows = Pick<StandbyRows<unknown, unknown>, "count" | "forget" | "follow">;

/** What is to be seen of a store, by a transaction that sees all from `since` on. */
interface Seen extends Own {
  readonly version: number;
  readonly since: string;
}

const followMs = 5_000;
const timeoutMs = 10_000;
/** The last look takes no longer: then all is read as in any start. */
const finishMs = 1_500;

/**
 * Keeps what a waiting service has in memory as the database has it. PostgreSQL marks each row with the transaction that
 * wrote it (`xmin`), so the writer has nothing to do for this, and no notification can be lost. What cannot be followed is
 * forgotten, and read as in any start.
 */
export class StandbyReader {
  readonly #url: string;
  readonly #tables: readonly AnyStandbyRows[];
  readonly #least: number;
  readonly #ended = new AbortController();
  #session: PostgresSession | null = null;
  /** The oldest transaction that may not have been seen; null: nothing has been. */
  #since: string | null = null;
  #following: Promise<void> | null = null;

  /** Nothing is read while the tables have fewer than `least` rows together. */
  constructor(url: string, tables: readonly AnyStandbyRows[], least = leastRows) {
    this.#url = url;
    this.#tables = tables;
    this.#least = least;
  }

  /** Begins to follow, if it has not. */
  follow(): void {
    if (this.#tables.length > 0) this.#following ??= this.#follow();
  }

  /**
   * Once this service has the lease, so that nobody else writes: what has changed since the last look. Nothing is read if it
   * has not begun to follow, or over a connection to a server that has lost its place to another.
   */
  async finish(lease: Own): Promise<void> {
    if (this.#following === null) return;
    const late = sleep(finishMs, true, { ref: false });
    if (await Promise.race([late, this.#finish(lease).then(() => false)])) this.#giveUp();
  }

  async #finish(lease: Own): Promise<void> {
    await this.#end();
    if (this.#session?.isOpen !== true) this.#giveUp();
    else await this.#look(lease);
  }

  #giveUp(): void {
    this.#session?.destroy();
    this.#forget();
  }

  async close(): Promise<void> {
    // A look that is under way, or still connecting, ends by itself.
    this.#ended.abort();
    await this.#session?.close();
  }

  async #end(): Promise<void> {
    this.#ended.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await this.#look();
      await sleep(followMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(lease?: Own): Promise<void> {
    try {
      if (this.#session?.isOpen !== true) {
        // It may lead to another server, which counts transactions of its own.
        this.#forget();
        const options = { url: this.#url, program: "rigbridge standby", readOnly: true, timeoutMs };
        this.#session = await PostgresSession.open(options);
        if (this.#ended.signal.aborted) return this.#giveUp();
      }
      await this.#read(this.#session, lease);
    } catch {
      // Whatever it is: a start finds it too, and says so.
      this.#giveUp();
    }
  }

  async #read(session: RowReader, lease: Own | undefined): Promise<void> {
    const [, answer] = await session.run<Seen>(
      "begin isolation level repeatable read; " +
        "select version, holder, epoch, pg_snapshot_xmin(pg_current_snapshot())::xid as since from store_version, lease",
    );
    const now = answer?.rows[0];
    const isHere = lease === undefined || (now?.holder === lease.holder && now?.epoch === lease.epoch);
    // A store of another version is upgraded first.
    if (isHere && now?.version === storeVersion) await this.#followAll(session, now.since);
    else this.#forget();
    await session.run("commit");
  }

  async #followAll(session: RowReader, now: string): Promise<void> {
    const tables = [];
    for (const table of this.#tables) tables.push({ table, count: await table.count(session) });
    if (tables.reduce((rows, { count }) => rows + count, 0) < this.#least) {
      this.#forget();
      return;
    }
    for (const { table, count } of tables) await table.follow(session, this.#since, count);
    this.#since = now;
  }

  #forget(): void {
    this.#since = null;
    for (const table of this.#tables) table.forget();
  }
}
