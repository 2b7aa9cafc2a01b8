import { setTimeout as sleep } from "node:timers/promises";
import { storeVersion } from "./migrations.ts";
import { PostgresSession } from "./postgres-session.ts";

/** Together in memory, and read without a pause for anything else. */
const pageRows = 100;

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
  readonly #values = new Map<unknown, V>();
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

  forget(): void {
    this.#values.clear();
    this.#isWhole = false;
  }

  /** Reads the rows that transactions from `since` on have written; null: all. */
  async follow(session: PostgresSession, since: string | null): Promise<void> {
    const newer = since !== null && this.#isWhole ? `and age(xmin) <= age('${since}'::xid)` : "";
    await session.run(`declare written no scroll cursor for ${this.#key}, * ${this.#from} ${newer}`);
    for (let isMore = true; isMore; ) {
      const [page] = await session.run(`fetch ${pageRows} from written`);
      for (const row of page?.rows ?? []) this.#values.set(row.row_key, this.#read(row));
      isMore = page?.rows.length === pageRows;
    }
    const [, counted] = await session.run(`close written; select count(*) as count ${this.#from}`);
    // All that are there are here, so others were deleted.
    if (this.#values.size !== counted?.rows[0]?.count) await this.#dropDeleted(session);
    this.#isWhole = true;
  }

  async #dropDeleted(session: PostgresSession): Promise<void> {
    const [present] = await session.run(`${this.#key} ${this.#from}`);
    const keys = new Set(present?.rows.map(({ row_key }) => row_key));
    for (const key of this.#values.keys()) if (!keys.has(key)) this.#values.delete(key);
  }
}

/** Of any kind. */
export type AnyStandbyRows = Pick<StandbyRows<unknown, unknown>, "forget" | "follow">;

const followMs = 5_000;
const timeoutMs = 10_000;

/**
 * Keeps what a waiting service has in memory as the database has it. PostgreSQL marks each row with the transaction that
 * wrote it (`xmin`), so the writer has nothing to do for this, and no notification can be lost. What cannot be followed is
 * forgotten, and read as in any start.
 */
export class StandbyReader {
  readonly #url: string;
  readonly #tables: readonly AnyStandbyRows[];
  readonly #ended = new AbortController();
  #session: PostgresSession | null = null;
  /** The oldest transaction that may not have been seen; null: nothing has been. */
  #since: string | null = null;
  #following: Promise<void> | null = null;

  constructor(url: string, tables: readonly AnyStandbyRows[]) {
    this.#url = url;
    this.#tables = tables;
  }

  /** Begins to follow, if it has not. */
  follow(): void {
    if (this.#tables.length > 0) this.#following ??= this.#follow();
  }

  /** Once nobody else writes: what has changed since the last look. Nothing is read if it has not begun to follow. */
  async finish(): Promise<void> {
    const hasFollowed = this.#following !== null;
    await this.#end();
    if (hasFollowed) await this.#look();
  }

  async close(): Promise<void> {
    await this.#end();
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

  async #look(): Promise<void> {
    try {
      if (this.#session?.isOpen !== true) {
        // It may lead to another server, which counts transactions of its own.
        this.#forget();
        const options = { url: this.#url, program: "rigbridge standby", readOnly: true, timeoutMs };
        this.#session = await PostgresSession.open(options);
      }
      await this.#read(this.#session);
    } catch {
      // Whatever it is: a start finds it too, and says so.
      this.#session?.destroy();
      this.#forget();
    }
  }

  async #read(session: PostgresSession): Promise<void> {
    const [, answer] = await session.run(
      "begin isolation level repeatable read; " +
        "select version, pg_snapshot_xmin(pg_current_snapshot())::xid as since from store_version",
    );
    const now = answer?.rows[0];
    // A store of another version is upgraded first.
    if (now?.version === storeVersion) {
      for (const table of this.#tables) await table.follow(session, this.#since);
      this.#since = now.since;
    } else this.#forget();
    await session.run("commit");
  }

  #forget(): void {
    this.#since = null;
    for (const table of this.#tables) table.forget();
  }
}
