import { randomBytes } from "node:crypto";
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
} from "./database.ts";
import { sequenceOf } from "./migrations.ts";
import {
  awayReason,
  isFenced,
  isReadOnly,
  isRefusal,
  MayBeStored,
  notActive,
  refusal,
  storeAway,
} from "./postgres-failures.ts";
import { PostgresSession } from "./postgres-session.ts";
import { type Fence, fencing, numbered, storable, textsOf } from "./postgres-text.ts";
import type { Tables } from "./tables.ts";

const readers = 4;
/** Characters of a message that holds several writes. */
const longestMessage = 1_000_000;

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
 * A store in a PostgreSQL database, over one connection for writes and some for reads. They are opened when they are
 * needed, also again after they broke.
 *
 * A write is one message that holds all of its statements: the server begins with none before it has the last one, runs
 * them in one transaction, and waits for nobody in between. So a process that is stopped never holds a lock.
 */
export class PostgresConnection implements Database {
  readonly name: string;
  readonly tables: Kysely<Tables>;
  readonly #options: PostgresOptions;
  /** In the order of the calls. */
  readonly #waiting: Write[] = [];
  /** Until no write is waiting; null while none is. */
  #writing: Promise<void> | null = null;
  readonly #reads = new Semaphore(readers);
  #writer: PostgresSession | null = null;
  readonly #idle: PostgresSession[] = [];
  /** The name of the connection for writes, by which the server finds the one before it. */
  #program = newProgram();
  /** A write was sent over the last connection and not answered; the server may still be about to run it. */
  #mayStillWrite = false;
  /** When it was first not reached; null while it answers. */
  #awaySince: number | null = null;
  #open = true;

  constructor(options: PostgresOptions) {
    this.name = options.name;
    this.#options = options;
    this.tables = new Kysely({ dialect: new ReadDialect((query) => this.#read(query.sql, query.parameters)) });
  }

  get isAway(): boolean {
    return this.#awaySince !== null;
  }

  async write(statements: readonly Statement[]): Promise<readonly number[]> {
    this.#checkOpen();
    const texts = statements.map(textsOf);
    if (texts.every((each) => each.length === 0)) return texts.map(() => 0);
    const write = { text: texts.flat().join(";\n"), lengths: texts.map(({ length }) => length) };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...write, resolve, reject });
      this.#writing ??= this.#writeWaiting();
    });
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
    await this.#writing;
    const sessions = [this.#writer, ...this.#idle.splice(0)].filter((session) => session !== null);
    await Promise.all(sessions.map((session) => session.close()));
  }

  #checkOpen(): void {
    if (!this.#open) throw new RigbridgeError("service.not-ready", `The store ${this.name} is closed`);
  }

  async #writeWaiting(): Promise<void> {
    for (let writes = this.#next(); writes.length > 0; writes = this.#next()) await this.#writeTogether(writes);
    this.#writing = null;
  }

  /** The writes that waited for the last ones, up to a limit. */
  #next(): readonly Write[] {
    let length = 0;
    const end = this.#waiting.findIndex(({ text }) => {
      length += text.length;
      return length > longestMessage;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(1, end));
  }

  /** Writes in one transaction, because each one takes a round trip and a flush of a disk. If it is refused, each alone. */
  async #writeTogether(writes: readonly Write[]): Promise<void> {
    try {
      const changed = await this.#send(writes.map(({ text }) => text).join(";\n"));
      let at = 0;
      for (const { lengths, resolve } of writes)
        resolve(
          lengths.map((length) => {
            const counts = changed.slice(at, at + length);
            at += length;
            return counts.reduce((sum, count) => sum + count, 0);
          }),
        );
    } catch (error) {
      if (error instanceof RigbridgeError) for (const { reject } of writes) reject(error);
      else if (writes.length === 1) writes[0]?.reject(refusal(this.name, error, "write"));
      else for (const write of writes) await this.#writeTogether([write]);
    }
  }

  /** Throws the server's error if it has refused a statement, and so stored nothing. */
  async #send(text: string): Promise<readonly number[]> {
    const fence = this.#options.fence ?? null;
    if (fence === null) return this.#sendAlone(text);
    const [, ...changed] = await this.#sendAlone(`${fencing(fence)};\n${text}`);
    return changed;
  }

  async #sendAlone(text: string): Promise<readonly number[]> {
    const session = await this.#writerNow();
    let results: readonly QueryResult[];
    try {
      results = await session.run(text);
    } catch (error) {
      if (isRefusal(error)) {
        this.#awaySince = null;
        if (isFenced(error)) throw notActive(this.name);
        if (isReadOnly(error)) session.destroy();
        throw error;
      }
      session.destroy();
      this.#mayStillWrite = true;
      throw new MayBeStored(this.#away(awayReason(error)));
    }
    this.#awaySince = null;
    return results.map(({ rowCount }) => rowCount ?? 0);
  }

  /** Nothing is written over a new connection while the server may still run what came over the last one. */
  async #writerNow(): Promise<PostgresSession> {
    if (this.#writer?.isOpen) return this.#writer;
    const program = newProgram();
    const session = await this.#session(program, false);
    if (this.#mayStillWrite) await this.#endLast(session);
    this.#program = program;
    this.#writer = session;
    return session;
  }

  async #endLast(session: PostgresSession): Promise<void> {
    // The server ends the statement after the whole time.
    const wait = Math.ceil(this.#options.timeoutMs / 2);
    const text = `select pg_terminate_backend(pid, ${wait}) as ended from pg_stat_activity where application_name = $1`;
    try {
      const { rows } = await session.query(text, [this.#program]);
      if (rows.every(({ ended }) => ended === 1)) {
        this.#mayStillWrite = false;
        return;
      }
    } catch (error) {
      session.destroy();
      throw this.#away(awayReason(error));
    }
    session.destroy();
    throw this.#away("the server has not ended the connection that broke off");
  }

  #read(text: string, values: readonly unknown[]): Promise<QueryResult> {
    this.#checkOpen();
    return this.#reads.run(async () => {
      const session = this.#idleReader() ?? (await this.#session("rigbridge", true));
      try {
        const result = await session.query(text, values.map(storable));
        this.#awaySince = null;
        return result;
      } catch (error) {
        if (isRefusal(error)) throw refusal(this.name, error, "read");
        session.destroy();
        throw this.#away(awayReason(error));
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
      throw this.#away(awayReason(error));
    }
  }

  #away(why: string): RigbridgeError {
    this.#awaySince ??= this.#options.now();
    return storeAway(this.name, this.#awaySince, why);
  }
}

interface Write {
  readonly text: string;
  /** The number of SQL statements for each given one. */
  readonly lengths: readonly number[];
  resolve(changed: readonly number[]): void;
  reject(error: unknown): void;
}

const newProgram = (): string => `rigbridge ${randomBytes(8).toString("hex")}`;

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
