import { AsyncLocalStorage } from "node:async_hooks";
import { type CompiledQuery, type DatabaseConnection, type Driver, Kysely, PostgresDialect, sql } from "kysely";
import type { QueryResult } from "pg";
import { Semaphore } from "../async/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import {
  type Database,
  type Dialect,
  type NewestCommands,
  type NumberedTable,
  type PlainStatement,
  plain,
  type Row,
  type Statement,
  writingBy,
} from "./database.ts";
import { sequenceOf } from "./migrations.ts";
import { awayReason, isRefusal, MayBeStored, refusal } from "./postgres-failures.ts";
import { PostgresReach } from "./postgres-reach.ts";
import { PostgresSession } from "./postgres-session.ts";
import { type Fence, numbered, storable } from "./postgres-text.ts";
import { PostgresWriter } from "./postgres-writer.ts";
import type { Tables } from "./tables.ts";

const readers = 4;

export interface PostgresOptions {
  readonly url: string;
  /** The address without its password. */
  readonly name: string;
  readonly now: () => number;
  /** For one statement, after which a call fails. */
  readonly timeoutMs: number;
  /** Refuses what this process still writes once another has the lease. Null: writes need none. */
  readonly fence?: Fence | null;
}

/**
 * A store in a PostgreSQL database, over two connections for writes and some for reads. They are opened when they are
 * needed, also again after they broke.
 */
export class PostgresConnection implements Database {
  readonly name: string;
  readonly tables: Kysely<Tables>;
  readonly recorder: Database;
  readonly #options: PostgresOptions;
  readonly #reach: PostgresReach;
  readonly #writers: Readonly<Record<"acknowledged" | "recorded", PostgresWriter>>;
  /** What the next write of this call stack stores first. */
  readonly #first = new AsyncLocalStorage<FirstWrite>();
  readonly #reads = new Semaphore(readers);
  readonly #idle: PostgresSession[] = [];
  #open = true;

  constructor(options: PostgresOptions) {
    const { name, now, timeoutMs, fence = null } = options;
    this.name = name;
    this.#options = options;
    this.#reach = new PostgresReach(name, now);
    const open = (program: string): Promise<PostgresSession> => this.#session(program, false);
    const writer = (): PostgresWriter => new PostgresWriter({ name, timeoutMs, fence, reach: this.#reach, open });
    this.#writers = { acknowledged: writer(), recorded: writer() };
    this.tables = new Kysely({ dialect: new ReadDialect((query) => this.#read(query.sql, query.parameters)) });
    this.recorder = writingBy(this, (statements) => this.#write("recorded", statements));
  }

  get isAway(): boolean {
    return this.#reach.isAway;
  }

  async write(statements: readonly Statement[]): Promise<readonly number[]> {
    const waiting = this.#first.getStore();
    const first = waiting?.statements;
    if (waiting === undefined || first == null || first.length === 0) return this.#write("acknowledged", statements);
    waiting.statements = [];
    try {
      const changed = await this.#write("acknowledged", [...first, ...statements]);
      return changed.slice(first.length);
    } catch (error) {
      // Not stored, so the next write does it.
      if (waiting.statements !== null && !(error instanceof MayBeStored)) waiting.statements = first;
      throw error;
    }
  }

  async withFirstWrite<T>(statements: readonly Statement[], work: () => Promise<T>): Promise<T> {
    const waiting: FirstWrite = { statements };
    try {
      return await this.#first.run(waiting, work);
    } finally {
      // What the work has left running writes without them.
      waiting.statements = null;
    }
  }

  async #write(by: "acknowledged" | "recorded", statements: readonly Statement[]): Promise<readonly number[]> {
    this.#checkOpen();
    return this.#writers[by].write(statements);
  }

  free(statements: readonly Statement[]): Promise<readonly number[]> {
    return this.write(statements);
  }

  async rows({ text, values }: PlainStatement): Promise<readonly Row[]> {
    const { rows } = await this.#read(numbered(text), values);
    return rows;
  }

  async lastId(table: NumberedTable): Promise<number> {
    const last = "case when is_called then last_value else 0 end";
    const [row] = await this.rows(plain(`select ${last} as last from ${sequenceOf(table)}`));
    return Number(row?.last ?? 0);
  }

  idTaken(table: NumberedTable, id: number): readonly Statement[] {
    const sequence = sequenceOf(table);
    return [plain(`select setval('${sequence}', greatest(?, last_value)) from ${sequence}`, id)];
  }

  readonly newestCommands: NewestCommands = async ({ minerIds, actor, since }, limit) => {
    const after = since === undefined ? 0 : await this.#lastBefore(since);
    const ofActor = actor === undefined ? "" : "and actor = ?";
    const newest = `id > ? ${ofActor} order by id desc limit ?`;
    const values = [after, ...(actor === undefined ? [] : [actor]), limit];
    const asked =
      minerIds === undefined
        ? plain(`select id from command where ${newest}`, ...values)
        : // From the end of each miner's range in the index, so that the commands of others cost nothing.
          plain(
            `select newest.id from (select distinct value::bigint as miner from jsonb_array_elements_text(?::jsonb)) as asked
              cross join lateral (select id from command where miner_id = asked.miner and ${newest}) as newest
              order by newest.id desc limit ?`,
            JSON.stringify(minerIds),
            ...values,
            limit,
          );
    return (await this.rows(asked)).map(({ id }) => Number(id));
  };

  async #lastBefore(time: number): Promise<number> {
    const last = "select id from command where time < ? order by time desc, id desc limit 1";
    const [row] = await this.rows(plain(last, time));
    return Number(row?.id ?? 0);
  }

  readonly dialect: Dialect = {
    isOneOf: (column, ids) =>
      sql<boolean>`${sql.ref(column)} in (select value::bigint from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`,
    oneOfList: "(select value::bigint from jsonb_array_elements_text(?::jsonb))",
    // As text, because jsonb refuses what JSON may hold: the character 0, and halves of surrogate pairs.
    appended: (column) => `left(${column}, -1) || case ${column} when '[]' then '' else ',' end || ? || ']'`,
    // The same characters are replaced; JSON.stringify writes them as escapes, and no other ones of this form.
    insertResults: `insert into bulk_result (bulk_action_id, miner_id, position, state, message, before)
      select ?, (value ->> 'minerId')::bigint, place - 1, value ->> 'state', value ->> 'message', value ->> 'before'
      from jsonb_array_elements(regexp_replace(?, '\\\\u(0000|d[89a-f]..)', '\\\\ufffd', 'g')::jsonb)
        with ordinality as result (value, place)`,
  };

  /** After the writes that have begun. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await Promise.all([...Object.values(this.#writers), ...this.#idle.splice(0)].map((each) => each.close()));
  }

  #checkOpen(): void {
    if (!this.#open) throw new RigbridgeError("service.not-ready", `The store ${this.name} is closed`);
  }

  #read(text: string, values: readonly unknown[]): Promise<QueryResult> {
    this.#checkOpen();
    return this.#reads.run(async () => {
      const session = this.#idleReader() ?? (await this.#session("rigbridge", true));
      try {
        const result = await session.query(text, values.map(storable));
        this.#reach.answered();
        return result;
      } catch (error) {
        if (isRefusal(error)) throw refusal(this.name, error, "read");
        session.destroy();
        throw this.#reach.away(awayReason(error));
      } finally {
        if (!this.#open) void session.close();
        else if (session.isOpen) this.#idle.push(session);
      }
    });
  }

  #idleReader(): PostgresSession | null {
    for (;;) {
      const session = this.#idle.pop();
      if (session === undefined) return null;
      if (session.isOpen) return session;
    }
  }

  async #session(program: string, readOnly: boolean): Promise<PostgresSession> {
    const { url, timeoutMs } = this.#options;
    try {
      return await PostgresSession.open({ url, program, readOnly, timeoutMs });
    } catch (error) {
      throw this.#reach.away(awayReason(error));
    }
  }
}

interface FirstWrite {
  /** None once they are written, or on their way; null once the work has ended. */
  statements: readonly Statement[] | null;
}

type Read = (query: CompiledQuery) => Promise<QueryResult>;

/** Builds queries, and runs them as reads, each on any connection: so there are no transactions. */
class ReadDialect extends PostgresDialect {
  readonly #read: Read;

  constructor(read: Read) {
    super({ pool: () => Promise.reject(new RigbridgeError("internal", "Reads have connections of their own")) });
    this.#read = read;
  }

  override createDriver(): Driver {
    const connection: DatabaseConnection = {
      executeQuery: async (query) => ({ rows: (await this.#read(query)).rows }),
      streamQuery: () => {
        throw new RigbridgeError("internal", "A store is not read in a stream");
      },
    };
    const noTransaction = (): Promise<never> =>
      Promise.reject(new RigbridgeError("internal", "Only `write` of a store makes transactions"));
    return {
      init: async () => undefined,
      acquireConnection: async () => connection,
      beginTransaction: noTransaction,
      commitTransaction: noTransaction,
      rollbackTransaction: noTransaction,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    };
  }
}
