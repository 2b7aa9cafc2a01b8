import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import type { Tables } from "./tables.ts";

/** What differs between the engines by more than words. */
interface PerEngine {
  readonly sqlite: string;
  readonly postgres: readonly string[];
}

/** Upgrades the rows of a released version; stores in PostgreSQL began with a later one. */
const onlyInSqlite = (sqlite: string): PerEngine => ({ sqlite, postgres: [] });

/** A trigger's function of PostgreSQL that adds counted results to those of their actions. */
const addsCounted = (name: string, counted: string): string =>
  `create function ${name}() returns trigger language plpgsql set search_path from current as $$
        begin
          update bulk_action set
            done = bulk_action.done + counted.done,
            failed = bulk_action.failed + counted.failed,
            unknown = bulk_action.unknown + counted.unknown
          from (
            ${counted}
          ) as counted
          where id = counted.bulk_action_id;
          return null;
        end $$`;

/**
 * The statements of each store version, oldest first, as SQLite runs them; `forPostgres` translates those that do not
 * differ. A released list is never changed; append a new one.
 */
const steps: readonly (readonly (string | PerEngine)[])[] = [
  [
    `create table resource (
      collection text not null,
      id integer not null,
      owner text not null check (owner in ('file', 'store')),
      key text,
      disabled integer not null check (disabled in (0, 1)),
      value text not null,
      primary key (collection, id)
    ) strict, without rowid`,
    "create unique index resource_key on resource (collection, key) where key is not null",
    "create table sequence (collection text not null primary key, last integer not null) strict, without rowid",
    `create table notification (
      id integer primary key autoincrement,
      time integer not null,
      miner_id integer,
      miner_name text not null,
      title text,
      source text not null,
      message text not null,
      is_warning integer not null,
      is_acknowledged integer not null
    ) strict`,
    `create table command (
      id integer primary key autoincrement,
      time integer not null,
      updated integer not null,
      miner_id integer not null,
      miner_name text not null,
      actor text not null,
      action text not null,
      parameters text not null,
      state text not null check (state in ('queued', 'sent', 'done', 'failed', 'unknown')),
      message text not null
    ) strict`,
    "create index command_miner on command (miner_id, id)",
    "create index command_open on command (state) where state in ('queued', 'sent')",
    "create index command_time on command (time)",
    `create table active_pool (
      miner_id integer not null,
      id integer not null,
      url text not null,
      worker text not null,
      ordinal integer not null,
      primary key (miner_id, id)
    ) strict, without rowid`,
    `create table rig_memory (
      miner_id integer primary key,
      uid text unique,
      driver text,
      identity text not null,
      controls text not null,
      layout text not null,
      started_at real,
      software text
    ) strict`,
    "create table rig_energy (miner_id integer primary key, energy real not null) strict",
    // Keyed by span of 20 s, then miner: a batch touches only the last pages (with the miner first it is 20 times slower
    // once the table exceeds the cache), and an hour of a miner takes 180 look-ups instead of a scan.
    `create table sample (
      span integer not null,
      miner_id integer not null,
      time integer not null,
      hashrate real,
      power real,
      temperature real,
      energy real,
      primary key (span, miner_id, time)
    ) strict, without rowid`,
    `create table sample_hour (
      hour integer not null,
      miner_id integer not null,
      samples blob not null,
      primary key (hour, miner_id)
    ) strict, without rowid`,
    `create table sample_day (
      day integer not null,
      miner_id integer not null,
      samples blob not null,
      primary key (day, miner_id)
    ) strict, without rowid`,
  ],
  [
    `create table bulk_action (
      id integer primary key autoincrement,
      time integer not null,
      actor text not null,
      user_id integer,
      action text not null,
      parameters text not null,
      parallel integer not null,
      delay real not null,
      dry_run integer not null check (dry_run in (0, 1)),
      total integer not null,
      state text not null check (state in ('running', 'done', 'cancelled'))
    ) strict`,
    `create table bulk_result (
      bulk_action_id integer not null,
      miner_id integer not null,
      position integer not null,
      command_id integer,
      state text not null
        check (state in ('queued', 'sent', 'done', 'failed', 'unknown', 'cancelled', 'possible')),
      message text not null,
      primary key (bulk_action_id, miner_id)
    ) strict, without rowid`,
    "create index bulk_result_open on bulk_result (state) where state in ('queued', 'sent')",
  ],
  ["create table power_memory (miner_id integer primary key, value text not null) strict"],
  [
    `create table run (
      only integer primary key check (only = 1),
      id text not null,
      sent integer not null,
      time integer not null
    ) strict`,
  ],
  ["create index command_actor on command (actor, miner_id)"],
  [
    "alter table rig_memory add column reason text not null default 'null'",
    "alter table rig_memory add column records text not null default 'null'",
  ],
  ["create table group_energy (group_id integer primary key, energy real not null) strict"],
  [
    "alter table command add column cause text",
    "alter table bulk_action add column cause text",
    "alter table bulk_action add column occurrence text",
    "alter table bulk_action add column steps text",
    "alter table bulk_action add column waits real not null default 0",
    "alter table bulk_action add column ended integer",
    "alter table bulk_result add column step integer not null default 0",
    "alter table bulk_result add column past text not null default '[]'",
    "create unique index bulk_action_occurrence on bulk_action (occurrence) where occurrence is not null",
    "create index bulk_action_bulk on bulk_action (id) where cause is null",
    "create index bulk_action_other on bulk_action (id) where cause is not null",
    "create index bulk_action_running on bulk_action (id) where state = 'running'",
  ],
  [
    `create table rule_state (
      kind text not null check (kind in ('rule', 'schedule')),
      owner_id integer not null,
      miner_id integer not null,
      phase text not null,
      since integer not null,
      elapsed real not null,
      count integer not null,
      fired text not null,
      held text,
      primary key (kind, owner_id, miner_id)
    ) strict, without rowid`,
    `create table rule_trace (
      id integer primary key,
      time integer not null,
      kind text not null check (kind in ('rule', 'schedule')),
      owner_id integer not null,
      miner_id integer not null,
      value text not null
    ) strict`,
    "create index rule_trace_owner on rule_trace (kind, owner_id, id)",
    "create index rule_trace_time on rule_trace (time)",
  ],
  [
    "alter table notification add column key text",
    `alter table notification add column severity text not null default 'info'
      check (severity in ('info', 'warning', 'critical'))`,
    "alter table notification add column count integer not null default 1",
    "alter table notification add column last integer not null default 0",
    "alter table notification add column closed integer",
    "alter table notification add column uid text",
    onlyInSqlite(
      `update notification set last = time, severity = case is_warning when 1 then 'warning' else 'info' end,
      closed = unixepoch() * 1000, uid = (select uid from rig_memory where miner_id = notification.miner_id)`,
    ),
    // The last one of each miner may still apply; the next good read closes it.
    onlyInSqlite(
      `update notification set closed = null, key = 'disconnected:' || miner_id where id in
      (select max(id) from notification where miner_id is not null and title = 'Disconnected' group by miner_id)`,
    ),
    onlyInSqlite(
      `update notification set closed = null, key = 'login:' || miner_id where id in
      (select max(id) from notification
        where miner_id is not null and title in ('Login missing', 'Login wrong', 'Login missing or wrong')
        group by miner_id)`,
    ),
    `create table outbox (
      id integer primary key autoincrement,
      channel text not null,
      key text,
      event text not null check (event in ('alarm', 'recovery')),
      severity text not null check (severity in ('info', 'warning', 'critical')),
      title text not null,
      message text not null,
      miner text not null,
      miner_group text not null,
      time integer not null,
      over text,
      alarm_time integer,
      batch integer,
      state text not null check (state in ('waiting', 'sending', 'sent', 'failed', 'unknown')),
      tries integer not null,
      due integer not null,
      ended integer,
      error text
    ) strict`,
  ],
  [
    "create table source_value (source text primary key, at integer not null, value text not null) strict, without rowid",
    `create table money_day (
      day text not null,
      miner_id integer not null,
      group_id integer not null,
      coin text not null,
      algorithm text not null,
      currency text not null,
      seconds real not null,
      energy real,
      cost real,
      cost_btc real,
      revenue real,
      revenue_btc real,
      uncosted real not null,
      unearned real not null,
      primary key (day, miner_id, group_id, coin, algorithm, currency)
    ) strict, without rowid`,
    // The sum of all days, which would take long to compute, and days are dropped.
    `create table money_total (
      miner_id integer not null,
      currency text not null,
      cost real not null,
      primary key (miner_id, currency)
    ) strict, without rowid`,
  ],
  ["alter table rule_state add column attempts integer not null default 0"],
  [
    `create table session (
      digest text primary key,
      user_id integer,
      key_digest text not null,
      created integer not null,
      used integer not null
    ) strict, without rowid`,
  ],
  [
    // By group, then span: a request reads the samples of a single group.
    `create table farm_sample (
      group_id integer not null,
      span integer not null,
      time integer not null,
      power real,
      mining real not null,
      total real not null,
      revenue real,
      cost real,
      profit real,
      currency text not null,
      primary key (group_id, span, time)
    ) strict, without rowid`,
    `create table farm_hashrate (
      group_id integer not null,
      span integer not null,
      time integer not null,
      algorithm text not null,
      hashrate real not null,
      miners real not null,
      primary key (group_id, span, time, algorithm)
    ) strict, without rowid`,
  ],
  [
    // The list of actions shows results; counting up to a million results for each list would take too long.
    "alter table bulk_action add column done integer not null default 0",
    "alter table bulk_action add column failed integer not null default 0",
    "alter table bulk_action add column unknown integer not null default 0",
    onlyInSqlite(
      `update bulk_action set (done, failed, unknown) = (
      select count(*) filter (where state in ('done', 'possible')),
        count(*) filter (where state = 'failed'),
        count(*) filter (where state = 'unknown')
      from bulk_result where bulk_action_id = bulk_action.id
    )`,
    ),
    // Triggers, so that every path by which a result gets its state is covered.
    {
      sqlite: `create trigger bulk_result_added after insert on bulk_result
      when new.state in ('done', 'possible', 'failed', 'unknown') begin
        update bulk_action set
          done = done + (new.state in ('done', 'possible')),
          failed = failed + (new.state = 'failed'),
          unknown = unknown + (new.state = 'unknown')
        where id = new.bulk_action_id;
      end`,
      // Once for each statement: to change one row 100,000 times in a transaction leaves as many dead ones.
      postgres: [
        addsCounted(
          "bulk_result_added",
          `select bulk_action_id,
              count(*) filter (where state in ('done', 'possible')) as done,
              count(*) filter (where state = 'failed') as failed,
              count(*) filter (where state = 'unknown') as unknown
            from added where state in ('done', 'possible', 'failed', 'unknown') group by bulk_action_id`,
        ),
        `create trigger bulk_result_added after insert on bulk_result
          referencing new table as added for each statement execute function bulk_result_added()`,
      ],
    },
    {
      sqlite: `create trigger bulk_result_changed after update of state on bulk_result
      when new.state <> old.state begin
        update bulk_action set
          done = done + (new.state in ('done', 'possible')) - (old.state in ('done', 'possible')),
          failed = failed + (new.state = 'failed') - (old.state = 'failed'),
          unknown = unknown + (new.state = 'unknown') - (old.state = 'unknown')
        where id = new.bulk_action_id;
      end`,
      postgres: [
        addsCounted(
          "bulk_result_changed",
          `select bulk_action_id,
              sum((after.state in ('done', 'possible'))::int - (before.state in ('done', 'possible'))::int) as done,
              sum((after.state = 'failed')::int - (before.state = 'failed')::int) as failed,
              sum((after.state = 'unknown')::int - (before.state = 'unknown')::int) as unknown
            from before join after using (bulk_action_id, miner_id)
            where after.state <> before.state group by bulk_action_id`,
        ),
        `create trigger bulk_result_changed after update on bulk_result
          referencing old table as before new table as after for each statement execute function bulk_result_changed()`,
      ],
    },
  ],
  ["alter table rule_state add column times text"],
  [
    "alter table money_day add column profit real",
    "alter table money_day add column profit_btc real",
    "alter table money_day add column compared real not null default 0",
    // For a day with unknown cost or revenue, only the duration of the gap is known: the rest was balanced.
    onlyInSqlite(
      `update money_day set
      (profit, profit_btc) = (
        select revenue * of_revenue - cost * of_cost, revenue_btc * of_revenue - cost_btc * of_cost from (
          select iif(seconds = 0, 1, both / (seconds - unearned)) as of_revenue,
            iif(seconds = 0, 1, both / (seconds - uncosted)) as of_cost
          from (select max(0, seconds - max(uncosted, unearned)) * 1.0 as both))),
      compared = iif(revenue is null or cost is null, 0, max(0, seconds - max(uncosted, unearned)))`,
    ),
  ],
  ["alter table notification add column coded text"],
  ["alter table bulk_result add column before text"],
  [
    `create table idempotency (
      caller text not null,
      key text not null,
      request text not null,
      command_id integer,
      run_id integer,
      answer text,
      at integer not null,
      primary key (caller, key)
    ) strict`,
  ],
  [
    "create table instance (name text not null) strict",
    {
      sqlite: "insert into instance (name) values (lower(hex(randomblob(16))))",
      postgres: ["insert into instance (name) values (replace(gen_random_uuid()::text, '-', ''))"],
    },
  ],
  ["alter table bulk_action add column preview text"],
  // No table: miners name their place instead of a location, which earlier releases do not read.
  [],
  [
    `create table curtailment (
      id integer primary key,
      key text,
      started integer not null,
      is_over integer not null,
      value text not null
    ) strict`,
    "create index curtailment_key on curtailment (key) where key is not null",
    "create index curtailment_open on curtailment (id) where is_over = 0",
    `create table curtailment_rig (
      curtailment_id integer not null,
      miner_id integer not null,
      value text not null,
      primary key (curtailment_id, miner_id)
    ) strict, without rowid`,
    `create table curtailment_sample (
      curtailment_id integer not null,
      time integer not null,
      rigs real not null,
      meter real,
      primary key (curtailment_id, time)
    ) strict, without rowid`,
  ],
];

/** The version of this release; a store with a higher one is from a newer release. */
export const storeVersion = steps.length;

/** The version is also in the file's header (`user_version`), where it can be read before SQLite opens the file. */
const migration = (statements: readonly (string | PerEngine)[], version: number): Migration => ({
  up: async (db: Kysely<Tables>) => {
    for (const each of statements) await sql.raw(typeof each === "string" ? each : each.sqlite).execute(db);
    await sql.raw(`pragma user_version = ${version}`).execute(db);
  },
});

/** Upgrades an older or empty SQLite store to `storeVersion`, in one transaction. Throws SQLite's error. */
export const migrate = async (db: Kysely<Tables>): Promise<void> => {
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          steps.map((step, index) => [`version-${String(index + 1).padStart(4, "0")}`, migration(step, index + 1)]),
        ),
    },
    migrationTableName: "migration",
    migrationLockTableName: "migration_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
};

/** Keeps the highest number that a table in PostgreSQL has given to a row. */
export const sequenceOf = (table: string): string => `${table}_id`;

/** The words of SQLite's DDL that PostgreSQL has others for. Text is sorted and compared by its bytes, as in SQLite. */
const words: ReadonlyMap<string, string> = new Map([
  ["integer", "bigint"],
  ["real", "double precision"],
  ["blob", "bytea"],
  ["text", 'text collate "C"'],
  // A name in SQLite, and reserved in PostgreSQL.
  ["only", '"only"'],
]);

const forPostgres = (statement: string): string[] => {
  const sequences = /^create table (\w+) \(\s*id integer primary key autoincrement/.exec(statement);
  const translated = statement
    .replace(/\) strict(, without rowid)?$/, ")")
    .replace(" autoincrement", "")
    .replace(/'[^']*'|\b[a-z]+\b/g, (word) => words.get(word) ?? word);
  const table = sequences?.[1];
  return table === undefined ? [translated] : [translated, `create sequence ${sequenceOf(table)}`];
};

/** What upgrades a PostgreSQL store from a version; 0: an empty schema. */
export const postgresUpgrade = (version: number): string[] =>
  steps
    .slice(version)
    .flat()
    .flatMap((each) => (typeof each === "string" ? forPostgres(each) : each.postgres));
