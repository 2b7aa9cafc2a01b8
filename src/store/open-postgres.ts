import { RigbridgeError } from "../contract/problems.ts";
import type { Answer, Asked, AskedSession } from "./asked.ts";
import { refuse } from "./file.ts";
import { type Holder, type LeaseOptions, leaseTables, PostgresLease, readsLease } from "./lease.ts";
import { LeaseMark } from "./lease-mark.ts";
import { postgresUpgrade, storeVersion } from "./migrations.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { awayReason, isRefusal } from "./postgres-failures.ts";
import { PostgresSession, schema } from "./postgres-session.ts";
import { type Fence, fencing } from "./postgres-text.ts";
import { type AnyStandbyRows, StandbyReader } from "./standby-rows.ts";

export interface PostgresStoreOptions {
  /**
   * `postgres://user:password@host:5432/database`, with `?sslmode=verify-full` for TLS. Everything is in the schema
   * `rigbridge` of that database: two stores need two databases.
   */
  readonly url: string;
  readonly now: () => number;
  /** For one statement, after which a call fails. */
  readonly timeoutMs?: number;
  /** Also a database that may lose what it has confirmed. */
  readonly allowLoss?: boolean | undefined;
  /** Rows of rigs from which on a service that waits has them in memory; absent: so many that this is worth it. */
  readonly leastInMemory?: number;
}

const oldestVersion = 15;

/** Of all programs that upgrade a store in the same database: "RIGB". */
const upgradeLock = 0x52494742;

/** An upgrade may rewrite whole tables. */
const upgradeMs = 600_000;

/**
 * Connects to a store in a PostgreSQL database, which it creates or upgrades first. Throws store.refused, with what to
 * change, or service.store-away; the database is then as it was.
 */
export const connectPostgres = async (
  { url, now, timeoutMs = 10_000, allowLoss = false }: PostgresStoreOptions,
  fence: Fence | null = null,
): Promise<PostgresConnection> => {
  const name = nameOf(url);
  await checked({ url, name, allowLoss }, (session) => bringUp(session, name, fence === null ? [] : [fencing(fence)]));
  return new PostgresConnection({ url, name, now, timeoutMs, fence });
};

/**
 * The same for the services of one site, of which one acts: resolves once this one has the lease. Only then is the store
 * upgraded, so that no service that is still active finds tables that it does not know. While it waits, it has the
 * followed rows in memory. Throws store.refused, also if another site has its store there.
 */
export const takePostgres = async (
  options: PostgresStoreOptions & LeaseOptions,
  followed: readonly AnyStandbyRows[] = [],
): Promise<{ readonly database: PostgresConnection; readonly lease: PostgresLease }> => {
  const { url, allowLoss = false, waiting } = options;
  const name = nameOf(url);
  await checked({ url, name, allowLoss }, (session) => bringUp(session, name, null));
  const reader = new StandbyReader(url, followed, options.leastInMemory);
  const waits = (holder: Holder | null): void => {
    if (holder !== null) reader.follow();
    waiting?.(holder);
  };
  try {
    const lease = await PostgresLease.take({ ...options, waiting: waits });
    try {
      const database = await connectPostgres(options, lease);
      await reader.finish(lease);
      return { database, lease };
    } catch (error) {
      await lease.release();
      throw error;
    }
  } finally {
    await reader.close();
  }
};

export interface ExaminedDatabase {
  readonly url: string;
  readonly allowLoss: boolean;
  /** Where its service keeps what it has seen of the lease. */
  readonly markFile: string;
}

/**
 * What a database in use is; `active`: where its active service serves, null if there is none. Changes nothing. Throws
 * store.refused if a service would not use it.
 */
export const examinePostgres = async ({
  url,
  allowLoss,
  markFile,
}: ExaminedDatabase): Promise<{ readonly name: string; readonly active: string | null }> => {
  const name = nameOf(url);
  let active: string | null = null;
  await checked({ url, name, allowLoss }, async (session) => {
    if (!(await isThere(session, name))) return;
    await versionOf(session, name);
    const { holder, address, instance, epoch, beat } = first(await session.query(readsLease, []));
    new LeaseMark(markFile).check({ instance: String(instance), epoch: Number(epoch), beat: Number(beat) });
    active = holder === "" ? null : String(address ?? "one without an address");
  });
  return { name, active };
};

/** Does what a server must allow before its store is used. Throws store.refused, or service.store-away. */
const checked = async (
  { url, name, allowLoss }: { readonly url: string; readonly name: string; readonly allowLoss: boolean },
  work: (session: AskedSession) => Promise<void>,
): Promise<void> => {
  const session = await openSession(url, name, false);
  try {
    await checkServer(session, name, allowLoss);
    await work(session);
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    // A connection may also break off while the upgrade is committed.
    const why = `The store ${name} cannot be opened: ${awayReason(error)}.`;
    return isRefusal(error) ? refuse(`${why} Nothing was changed.`) : away(why);
  } finally {
    await session.close();
  }
};

/** For work that may take long. Throws service.store-away. */
export const openSession = (url: string, name: string, readOnly: boolean): Promise<AskedSession> =>
  PostgresSession.open({ url, program: "rigbridge start", readOnly, timeoutMs: upgradeMs }).catch((error: unknown) =>
    away(`The store ${name} cannot be reached: ${awayReason(error)}. Nothing was changed.`),
  );

const away = (message: string): never => {
  throw new RigbridgeError("service.store-away", message);
};

/** The address without its password and parameters. Throws store.refused, without quoting it. */
export const nameOf = (url: string): string => {
  const example = "write postgres://user:password@host:5432/database, with special characters of the password as %23";
  const parsed = URL.parse(url);
  if (parsed === null || !["postgres:", "postgresql:"].includes(parsed.protocol))
    return refuse(`The store's URL is not one of PostgreSQL; ${example}.`);
  const { username, host, pathname, searchParams } = parsed;
  const place = `postgres://${username === "" ? "" : `${username}@`}${searchParams.get("host") ?? host}`;
  if (pathname.length < 2) return refuse(`The URL of the store ${place} names no database; ${example}.`);
  return `${place}${pathname}`;
};

export const first = ({ rows }: Answer): Record<string, unknown> => rows[0] ?? {};

/** The server's setting; `all` are those that make it unfit. */
export const checkServer = async (session: Asked, name: string, allowLoss: boolean): Promise<void> => {
  const settings = ["server_version_num", "server_version", "server_encoding", "synchronous_commit"];
  const columns = settings.map((setting) => `current_setting('${setting}') as ${setting}`);
  const server = first(await session.query(`select ${columns.join(", ")}, pg_is_in_recovery()::int as is_standby`, []));
  const version = Math.floor(Number(server.server_version_num) / 10_000);
  if (version < oldestVersion)
    refuse(`The store ${name} is on PostgreSQL ${version}, which is too old; ${oldestVersion} or later is needed.`);
  if (server.is_standby === 1)
    away(`The store ${name} is on a standby server, which takes no writes; name the primary server in its URL.`);
  if (server.server_encoding !== "UTF8")
    refuse(
      `The database of the store ${name} has the encoding ${server.server_encoding}, which lacks characters; ` +
        "create it with encoding 'UTF8'.",
    );
  if (server.synchronous_commit === "off" && !allowLoss)
    refuse(
      `The store ${name} may lose what it has confirmed, because synchronous_commit is off there; ` +
        "set it to on for the role or the database of the store, or allow that with store.allowLoss.",
    );
};

/**
 * Creates the store if there is none, or upgrades it after the given statements; null: it is not upgraded. In one
 * transaction; another program that does the same waits or is waited for.
 */
const bringUp = async (session: AskedSession, name: string, before: readonly string[] | null): Promise<void> => {
  await session.run(`begin; select pg_advisory_xact_lock(${upgradeLock})`);
  try {
    const version = (await isThere(session, name)) ? await versionOf(session, name) : 0;
    if (version === 0 || (before !== null && version < storeVersion)) {
      await checkRights(session, name, upgradeRights);
      const marked =
        version === 0
          ? creation()
          : [...(before ?? []), ...postgresUpgrade(version), `update store_version set version = ${storeVersion}`];
      await session.run(marked.join(";\n"));
    }
    await session.run("commit");
  } catch (error) {
    if (session.isOpen) await session.run("rollback");
    throw error;
  }
};

/** In an open transaction. Throws store.refused if there is a store. */
export const createStore = async (session: Asked, name: string): Promise<void> => {
  await session.run(`select pg_advisory_xact_lock(${upgradeLock})`);
  if (await isThere(session, name))
    refuse(`The database ${name} holds a store already; choose an empty database. It was not changed.`);
  await checkRights(session, name, upgradeRights);
  await session.run(creation().join(";\n"));
};

const creation = (): readonly string[] => [
  `create schema if not exists ${schema}`,
  ...postgresUpgrade(0),
  ...leaseTables,
  "create table store_version (version bigint not null)",
  `insert into store_version values (${storeVersion})`,
];

/** Whether the schema holds a store. The catalogue is open to every role. */
export const isThere = async (session: Asked, name: string): Promise<boolean> => {
  const { rows } = await session.query(`select relname as name from pg_class where ${inSchema}`, []);
  if (rows.length > 0 && !rows.some((row) => row.name === "store_version"))
    refuse(
      `The schema ${schema} in the database of the store ${name} holds something that is not a store of Rigbridge; ` +
        "choose another database. It was not changed.",
    );
  return rows.length > 0;
};

export const versionOf = async (session: Asked, name: string): Promise<number> => {
  await checkRights(session, name, useRights);
  const version = Number(first(await session.query("select version from store_version", [])).version);
  if (!Number.isSafeInteger(version) || version < 1)
    refuse(`The store ${name} is damaged: it has no version; restore it from a backup. It was not changed.`);
  if (version > storeVersion)
    refuse(
      `The store ${name} was written by a newer Rigbridge (store version ${version}, this one supports up to ` +
        `${storeVersion}); install that version again, or choose another database. It was not changed.`,
    );
  return version;
};

export const inSchema = `relnamespace = to_regnamespace('${schema}')::oid`;

/** Statements that grant what the role lacks, in the order in which they are needed. */
const useRights = [
  `select 'grant usage on schema ${schema}' as lacking where not has_schema_privilege('${schema}', 'usage')`,
  `select format('grant %s on ${schema}.%s', needed, relname) as lacking
    from pg_class, unnest(array['select', 'insert', 'update', 'delete']) as needed
    where ${inSchema} and relkind = 'r' and not has_table_privilege(oid, needed)`,
  `select format('grant %s on sequence ${schema}.%s', needed, relname) as lacking
    from pg_class, unnest(array['select', 'update']) as needed
    where ${inSchema} and relkind = 'S' and not has_sequence_privilege(pg_class.oid, needed)`,
];
const upgradeRights = [
  `select format('grant create on database %I', current_database()) as lacking
    where to_regnamespace('${schema}') is null and not has_database_privilege(current_database(), 'create')`,
  `select 'grant create on schema ${schema}' as lacking where not has_schema_privilege(to_regnamespace('${schema}'), 'create')`,
  `select format('alter table ${schema}.%s owner to %I', relname, current_user) as lacking
    from pg_class where ${inSchema} and relkind = 'r' and not pg_has_role(relowner, 'usage')`,
];

const checkRights = async (session: Asked, name: string, rights: readonly string[]): Promise<void> => {
  for (const right of rights) {
    const { lacking } = first(await session.query(`${right} limit 1`, []));
    if (lacking === undefined) continue;
    const { role } = first(await session.query("select current_user as role", []));
    refuse(`The role ${role} of the store ${name} lacks a right there: ${lacking}. Nothing was changed.`);
  }
};
