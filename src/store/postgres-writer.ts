import { randomBytes } from "node:crypto";
import type { QueryResult } from "pg";
import { RigbridgeError } from "../contract/problems.ts";
import type { Statement } from "./database.ts";
import { awayReason, isFenced, isReadOnly, isRefusal, MayBeStored, notActive, refusal } from "./postgres-failures.ts";
import type { PostgresReach } from "./postgres-reach.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { type Fence, fencing, textsOf } from "./postgres-text.ts";

/** Characters of a message that holds several writes. */
const longestMessage = 1_000_000;

export interface WriterOptions {
  /** The address of the store without its password. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly fence: Fence | null;
  readonly reach: PostgresReach;
  /** Opens a connection that the server lists by this name. */
  readonly open: (program: string) => Promise<PostgresSession>;
}

/**
 * Writes over one connection, in the order of the calls; opened when it is needed, also again after it broke.
 *
 * A write is one message that holds all of its statements: the server begins with none before it has the last one, runs
 * them in one transaction, and waits for nobody in between. So a process that is stopped never holds a lock.
 */
export class PostgresWriter {
  readonly #options: WriterOptions;
  /** In the order of the calls. */
  readonly #waiting: Write[] = [];
  /** Until no write is waiting; null while none is. */
  #writing: Promise<void> | null = null;
  #session: PostgresSession | null = null;
  /** The name of the connection, by which the server finds the one before it. */
  #program = newProgram();
  /** A write was sent over the last connection and not answered; the server may still be about to run it. */
  #mayStillWrite = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  async write(statements: readonly Statement[]): Promise<readonly number[]> {
    const texts = statements.map(textsOf);
    if (texts.every((each) => each.length === 0)) return texts.map(() => 0);
    const write = { text: texts.flat().join(";\n"), lengths: texts.map(({ length }) => length) };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...write, resolve, reject });
      this.#writing ??= this.#writeWaiting();
    });
  }

  /** After the writes that have begun. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#session?.close();
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
      else if (writes.length === 1) writes[0]?.reject(refusal(this.#options.name, error, "write"));
      else for (const write of writes) await this.#writeTogether([write]);
    }
  }

  /** Throws the server's error if it has refused a statement, and so stored nothing. */
  async #send(text: string): Promise<readonly number[]> {
    const { fence } = this.#options;
    if (fence === null) return this.#sendAlone(text);
    const [, ...changed] = await this.#sendAlone(`${fencing(fence)};\n${text}`);
    return changed;
  }

  async #sendAlone(text: string): Promise<readonly number[]> {
    const { name, reach } = this.#options;
    const session = await this.#sessionNow();
    let results: readonly QueryResult[];
    try {
      results = await session.run(text);
    } catch (error) {
      if (isRefusal(error)) {
        reach.answered();
        if (isFenced(error)) throw notActive(name);
        if (isReadOnly(error)) session.destroy();
        throw error;
      }
      session.destroy();
      this.#mayStillWrite = true;
      throw new MayBeStored(reach.away(awayReason(error)));
    }
    reach.answered();
    return results.map(({ rowCount }) => rowCount ?? 0);
  }

  /** Nothing is written over a new connection while the server may still run what came over the last one. */
  async #sessionNow(): Promise<PostgresSession> {
    if (this.#session?.isOpen) return this.#session;
    const program = newProgram();
    const session = await this.#options.open(program);
    if (this.#mayStillWrite) await this.#endLast(session);
    this.#program = program;
    this.#session = session;
    return session;
  }

  async #endLast(session: PostgresSession): Promise<void> {
    const { reach, timeoutMs } = this.#options;
    // The server ends the statement after the whole time.
    const wait = Math.ceil(timeoutMs / 2);
    const text = `select pg_terminate_backend(pid, ${wait}) as ended from pg_stat_activity where application_name = $1`;
    try {
      const { rows } = await session.query(text, [this.#program]);
      if (rows.every(({ ended }) => ended === 1)) {
        this.#mayStillWrite = false;
        return;
      }
    } catch (error) {
      session.destroy();
      throw reach.away(awayReason(error));
    }
    session.destroy();
    throw reach.away("the server has not ended the connection that broke off");
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
