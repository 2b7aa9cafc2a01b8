import { setTimeout as sleep } from "node:timers/promises";
import type { Asked, AskedSession } from "./asked.ts";
import type { Columns, CopySource, CopyTarget, LeaseSeen, TableReader } from "./copy-ends.ts";
import type { Row } from "./database.ts";
import { checkCopyable, refuse } from "./file.ts";
import { leaseMs, restoredRun } from "./lease.ts";
import { sequenceOf } from "./migrations.ts";
import { checkServer, createStore, first, inSchema, isThere, nameOf, openSession, versionOf } from "./open-postgres.ts";
import { awayReason, isRefusal } from "./postgres-failures.ts";
import { literal } from "./postgres-text.ts";
import { idAfterBackup } from "./run-mark.ts";

const batch = 1_000;

const quoted = (name: string): string => `"${name}"`;

/** Throws store.refused while a service is active there. Changes nothing, so the server may be a standby. */
export async function openDatabaseSource(url: string): Promise<CopySource> {
  const name = nameOf(url);
  return over(url, name, true, async (session) => {
    if (!(await isThere(session, name))) refuse(`The database ${name} holds no store.`);
    checkCopyable(name, await versionOf(session, name));
    const before = await leaseIn(session);
    // A service that was killed is still named as the holder.
    if (before.holder !== "") await sleep(leaseMs);
    await checkSame(session, name, before);
    await session.run("begin isolation level repeatable read read only");
    // With the first statement, everything is read as it is now.
    const lease = await leaseIn(session);
    const isAsLeft = first(await session.query("select id from run", [])).id !== restoredRun;
    return {
      ...reader(name, session),
      isAsLeft,
      lastId: async (table) => {
        const last = "case when is_called then last_value else 0 end";
        const id = Number(first(await session.query(`select ${last} as last from ${sequenceOf(table)}`, [])).last);
        return isAsLeft || (table !== "command" && table !== "notification") ? id : idAfterBackup(id);
      },
      lease,
      checkUnused: async () => {
        await session.run("commit");
        await checkSame(session, name, lease);
      },
      close: () => session.close(),
    };
  });
}

/** In one transaction. Throws store.refused if the database holds a store. */
export async function openDatabaseTarget(url: string): Promise<CopyTarget> {
  const name = nameOf(url);
  return over(url, name, false, async (session) => {
    await checkServer(session, name, true);
    // Also where the services' writes may be lost.
    await session.run("set synchronous_commit = on");
    await session.run("begin");
    await createStore(session, name);
    const target = reader(name, session);
    for (const table of (await target.columns()).keys()) await session.run(`delete from ${quoted(table)}`);
    return {
      ...target,
      holdsEveryCharacter: false,
      insert: async (table, columns, rows) => {
        const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(", ")})`);
        const names = columns.map(quoted).join(", ");
        await session.run(`insert into ${quoted(table)} (${names}) values ${values.join(",\n")}`);
      },
      setLastId: async (table, id) => {
        if (id > 0) await session.query("select setval($1, $2)", [sequenceOf(table), id]);
      },
      setLease: async ({ site, epoch, beat }) => {
        await session.query("update lease set site = $1, epoch = $2, beat = $3", [site, epoch, beat]);
      },
      commit: () => session.commit(),
      close: () => session.close(),
    };
  });
}

async function over<T>(
  url: string,
  name: string,
  readOnly: boolean,
  open: (session: CopySession) => Promise<T>,
): Promise<T> {
  const session = new CopySession(await openSession(url, name, readOnly), name);
  try {
    return await open(session);
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** A session whose errors may be shown. */
class CopySession implements Asked {
  readonly #session: AskedSession;
  readonly #name: string;

  constructor(session: AskedSession, name: string) {
    this.#session = session;
    this.#name = name;
  }

  run(text: string) {
    return this.#session.run(text).catch((error: unknown) => this.#fail(error, "There is no copy."));
  }

  query(text: string, values: readonly unknown[]) {
    return this.#session.query(text, values).catch((error: unknown) => this.#fail(error, "There is no copy."));
  }

  async commit(): Promise<void> {
    await this.#session.run("commit").catch((error: unknown) =>
      // The connection may also have broken off after it.
      this.#fail(error, isRefusal(error) ? "There is no copy." : "Look with rigbridge doctor whether there is a copy."),
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #fail(error: unknown, outcome: string): never {
    return refuse(`The store ${this.#name} cannot be copied: ${awayReason(error)}. ${outcome}`);
  }
}

interface Lease extends LeaseSeen {
  readonly holder: string;
  readonly address: string | null;
}

async function leaseIn(session: Asked): Promise<Lease> {
  const text = "select site, epoch, beat, holder, address from lease";
  const { site, epoch, beat, holder, address } = first(await session.query(text, []));
  return {
    site: textOrNull(site),
    epoch: Number(epoch),
    beat: Number(beat),
    holder: String(holder),
    address: textOrNull(address),
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

async function checkSame(session: Asked, name: string, before: Lease): Promise<void> {
  const { epoch, beat, address } = await leaseIn(session);
  if (epoch === before.epoch && beat === before.beat) return;
  const place = address === null ? "" : ` at ${address}`;
  refuse(`The store ${name} is in use by the service${place}; stop all services of its site first.`);
}

function reader(name: string, session: Asked): TableReader {
  return {
    name,
    columns: async (): Promise<Columns> => {
      const found = new Map<string, string[]>();
      const { rows } = await session.query(
        `select relname, attname from pg_class join pg_attribute on attrelid = pg_class.oid
          where ${inSchema} and relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped
            and relname not in ('lease', 'store_version')
          order by relname collate "C", attnum`,
        [],
      );
      for (const row of rows) {
        const table = String(row.relname);
        found.set(table, [...(found.get(table) ?? []), String(row.attname)]);
      }
      return found;
    },
    count: async (table) =>
      Number(first(await session.query(`select count(*) as count from ${quoted(table)}`, [])).count),
    rows: (table, columns) => batches(session, `select ${columns.map(quoted).join(", ")} from ${quoted(table)}`),
  };
}

async function* batches(session: Asked, text: string): AsyncGenerator<readonly Row[]> {
  await session.run(`declare copied no scroll cursor for ${text}`);
  for (;;) {
    const { rows } = await session.query(`fetch ${batch} from copied`, []);
    if (rows.length > 0) yield rows;
    if (rows.length < batch) break;
  }
  await session.run("close copied");
}
