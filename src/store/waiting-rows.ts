import { randomBytes } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Mutex } from "../async/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { StoreWaiting } from "../contract/store-waiting.ts";
import { checkedLine, checkedValues } from "./checked-lines.ts";
import { type Database, type RowsStatement, type Statement, type Upsert, writingBy } from "./database.ts";
import { isAway } from "./failures.ts";

/** How long rows wait, and how many bytes; the oldest are dropped first. */
const keptMs = 3_600_000;
const keptBytes = 512 << 20;
/** A file of this size or age is followed by another: whole files are dropped. */
const fileBytes = 4 << 20;
const fileMs = 60_000;

export interface WaitingOptions {
  /** For samples only; created if it does not exist. A store has a folder of its own in it. */
  readonly folder: string;
  /** For commands that are sent for safety; the file of a store ends with its name. */
  readonly commands: string;
  readonly log: { info(text: string): void; warn(text: string): void };
}

type WaitingRowsOptions = Pick<WaitingOptions, "folder" | "log">;

interface WaitingFile {
  readonly name: string;
  bytes: number;
  /** By `performance.now`; null: an earlier process began it. */
  readonly begun: number | null;
}

const fileName = /^\d{15}-[0-9a-f]{8}\.rows$/;

/**
 * Rows for a database that is away, in files beside the service. Only for rows that have a time in their key: whether they
 * are written twice, or later than others, then makes no difference.
 */
export class WaitingRows {
  readonly #options: WaitingRowsOptions;
  readonly #upserts: ReadonlyMap<string, Upsert>;
  readonly #turns = new Mutex();
  /** Oldest first. */
  #files: WaitingFile[] = [];
  /** The file that takes more rows. */
  #last: WaitingFile | null = null;
  #dropped = 0;

  private constructor(options: WaitingRowsOptions, upserts: readonly Upsert[]) {
    this.#options = options;
    this.#upserts = new Map(upserts.map((each) => [each.table, each]));
  }

  /** Takes up what an earlier process left. `upserts`: of the tables whose rows may wait. */
  static async open(options: WaitingRowsOptions, upserts: readonly Upsert[]): Promise<WaitingRows> {
    const waiting = new WaitingRows(options, upserts);
    await waiting.#take();
    return waiting;
  }

  get status(): StoreWaiting {
    return { bytes: this.#bytes, dropped: this.#dropped };
  }

  get isEmpty(): boolean {
    return this.#files.length === 0;
  }

  get #bytes(): number {
    return this.#files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Throws the system's error, such as for a full disk. */
  keep(statements: readonly RowsStatement[]): Promise<void> {
    return this.#turns.run(async () => {
      const text = statements.map(({ upsert: { table }, rows }) => checkedLine([table, rows])).join("");
      const file = this.#fileFor(performance.now());
      const isNew = !this.#files.includes(file);
      try {
        await appendFile(this.#path(file), text, { mode: 0o600 });
      } catch (error) {
        // A part of it may be there; the next rows begin another file.
        this.#last = null;
        if (isNew) await rm(this.#path(file), { force: true });
        // What is too old would keep the disk full.
        await this.#limit();
        throw error;
      }
      file.bytes += Buffer.byteLength(text);
      if (this.isEmpty) {
        this.#dropped = 0;
        this.#options.log.warn(`The database of the store is away; samples wait in ${this.#options.folder}`);
      }
      if (isNew) this.#files.push(file);
      await this.#limit();
    });
  }

  /** Writes all rows, the oldest first. Throws like `write`; what is not written then stays. */
  async flush(write: (statements: readonly Statement[]) => Promise<unknown>): Promise<void> {
    let written = 0;
    while (!this.isEmpty)
      written += await this.#turns.run(async () => {
        const [file] = this.#files;
        if (file === undefined) return 0;
        if (file === this.#last) this.#last = null;
        const rows = await this.#writeFile(file, write);
        await this.#remove(file);
        return rows;
      });
    if (written === 0) return;
    const lost = this.#dropped === 0 ? "" : `; ${this.#dropped} bytes of others were dropped`;
    this.#options.log.info(`${written} samples that waited for the database of the store are written${lost}`);
  }

  async #take(): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of (await readdir(folder)).filter((each) => fileName.test(each)).sort())
      this.#files.push({ name, bytes: (await stat(this.#path({ name }))).size, begun: null });
  }

  #fileFor(now: number): WaitingFile {
    if (this.#last !== null && this.#last.bytes < fileBytes && now - (this.#last.begun ?? 0) < fileMs)
      return this.#last;
    const name = `${String(Date.now()).padStart(15, "0")}-${randomBytes(4).toString("hex")}.rows`;
    this.#last = { name, bytes: 0, begun: now };
    return this.#last;
  }

  async #writeFile(file: WaitingFile, write: (statements: readonly Statement[]) => Promise<unknown>): Promise<number> {
    let written = 0;
    for (const statement of await this.#read(file)) {
      try {
        await write([statement]);
        written += statement.rows.length;
      } catch (error) {
        // The database takes others, so these would be refused each time.
        if (!(error instanceof RigbridgeError) || error.code !== "internal") throw error;
        this.#options.log.warn(`${statement.rows.length} samples that waited are left out: ${error.message}`);
      }
    }
    return written;
  }

  async #read(file: WaitingFile): Promise<readonly RowsStatement[]> {
    const text = await readFile(this.#path(file), "utf8").catch((error: NodeJS.ErrnoException) => {
      // Another service that shares the folder has written its rows.
      if (error.code === "ENOENT") return "";
      throw error;
    });
    const { values, damaged } = checkedValues(text);
    const statements = values.flatMap((value) => this.#statementIn(value) ?? []);
    const lost = damaged + values.length - statements.length;
    if (lost > 0)
      this.#options.log.warn(
        `${lost} of ${damaged + values.length} batches of samples in ${this.#path(file)} are damaged and left out`,
      );
    return statements;
  }

  #statementIn(content: unknown): RowsStatement | null {
    if (!Array.isArray(content)) return null;
    const [table, rows]: readonly unknown[] = content;
    const upsert = typeof table === "string" ? this.#upserts.get(table) : undefined;
    return upsert !== undefined && areRows(rows, upsert.columns.size) ? { upsert, rows } : null;
  }

  async #limit(): Promise<void> {
    const since = performance.now() - keptMs;
    for (const file of [...this.#files]) {
      const isOld = file.begun !== null && file.begun + fileMs <= since;
      if (file === this.#last || (this.#bytes <= keptBytes && !isOld)) return;
      await this.#remove(file);
      if (this.#dropped === 0) {
        const why = isOld ? "they have waited for an hour" : `there are ${keptBytes >> 20} MiB of them`;
        this.#options.log.warn(`The oldest samples that wait for the database of the store are dropped: ${why}`);
      }
      this.#dropped += file.bytes;
    }
  }

  async #remove(file: WaitingFile): Promise<void> {
    await rm(this.#path(file), { force: true });
    this.#files = this.#files.filter((each) => each !== file);
  }

  #path({ name }: Pick<WaitingFile, "name">): string {
    return join(this.#options.folder, name);
  }
}

/**
 * A database for rows that may wait. While any do, further ones wait behind them, so that nobody waits for a database that
 * does not answer; `WaitingRows.flush` writes them.
 */
export const patient = (database: Database, waiting: WaitingRows): Database =>
  writingBy(
    database,
    async (statements) => {
      const rows = statements.filter((each) => "rows" in each);
      if (rows.length < statements.length) return database.write(statements);
      if (waiting.isEmpty) {
        try {
          return await database.write(statements);
        } catch (error) {
          if (!isAway(error)) throw error;
        }
      }
      try {
        await waiting.keep(rows);
      } catch (error) {
        // The disk takes no more: what waits there, and then these, go to the database if it is back.
        await waiting.flush((each) => database.write(each));
        if (!database.isAway) return database.write(statements);
        throw error;
      }
      return rows.map((each) => each.rows.length);
    },
    (statements) => database.free(statements),
  );

const areRows = (rows: unknown, columns: number): rows is RowsStatement["rows"] =>
  Array.isArray(rows) && rows.every((row) => Array.isArray(row) && row.length === columns && row.every(isValue));

const isValue = (value: unknown): boolean => value === null || typeof value === "number" || typeof value === "string";
