import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "kysely";
import { Client } from "pg";
import { type Database, plain, type SqlValue, type Statement } from "../../src/store/database.ts";
import { noReserve } from "../../src/store/disk-reserve.ts";
import { migrate, postgresUpgrade, storeVersion } from "../../src/store/migrations.ts";
import { connectPostgres } from "../../src/store/open-postgres.ts";
import type { PostgresConnection } from "../../src/store/postgres-connection.ts";
import { SqliteConnection } from "../../src/store/sqlite-connection.ts";
import { upsert } from "../../src/store/upsert.ts";
import { onTestFinished } from "../finished.ts";
import { startRelay } from "../relay.ts";
import { until } from "../until.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";

// depends on: src/store/**, test/store/*.ts

const suite = hasPostgres("stores in a real PostgreSQL") ? describe : describe.skip;
const now = () => Date.UTC(2025, 5, 15, 12, 3, 4);

let server: Postgres;
const opened: PostgresConnection[] = [];

const connect = async (url: string, timeoutMs?: number): Promise<PostgresConnection> => {
  const store = await connectPostgres({ url, now, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  opened.push(store);
  return store;
};

/** Copies of it are made in a third of the time of all upgrades. */
let empty: Promise<string> | undefined;
const emptyStore = async (): Promise<string> => {
  const database = await server.database();
  await (await connectPostgres({ url: server.url(database), now })).close();
  return database;
};

const newStore = async (timeoutMs?: number): Promise<PostgresConnection> => {
  empty ??= emptyStore();
  return connect(server.url(await server.database(await empty)), timeoutMs);
};

const inMemory = async (): Promise<SqliteConnection> => {
  const sqlite = new SqliteConnection(":memory:", { durability: "normal", busyTimeoutMs: 100, reserve: noReserve });
  onTestFinished(() => sqlite.close());
  await migrate(sqlite.tables);
  return sqlite;
};

const refusal = async (url: string, code = "store.refused"): Promise<string> => {
  const error = await connectPostgres({ url, now }).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "RigbridgeError", code });
  expect(String(error)).not.toContain("secret");
  return String(error);
};
const away = (url: string) => refusal(url, "service.store-away");

const failure = async (call: Promise<unknown>): Promise<Error & { code?: unknown }> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("It did not fail");
  return error;
};

const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    () => false,
  );

/** Stops processes, until the returned function is called or the test has finished. */
const freeze = (pids: readonly number[]): (() => void) => {
  const frozen = new Set(pids);
  for (const pid of frozen) process.kill(pid, "SIGSTOP");
  const thaw = (): void => {
    for (const pid of frozen) process.kill(pid, "SIGCONT");
    frozen.clear();
  };
  onTestFinished(thaw);
  return thaw;
};

const keep = (source: string, value: SqlValue, at = 0): Statement =>
  plain(
    "insert into source_value (source, at, value) values (?, ?, ?) on conflict (source) do update set value = excluded.value",
    source,
    at,
    value,
  );
const kept = async (store: Database, source = "x"): Promise<SqlValue | undefined> =>
  (await store.rows(plain("select value from source_value where source = ?", source)))[0]?.value;
const addTo = (source: string, text: string): Statement =>
  plain("update source_value set value = value || ? where source = ?", text, source);

const poolRows = upsert(
  "active_pool",
  { miner_id: "integer", id: "integer", url: "text", worker: "text", ordinal: "integer" },
  ["miner_id", "id"],
);
const [whole, real] = ["integer", "real"] as const;
const sampleRows = upsert(
  "sample",
  { span: whole, miner_id: whole, time: whole, hashrate: real, power: real, temperature: real, energy: real },
  ["span", "miner_id", "time"],
);
const hourRows = upsert("sample_hour", { hour: whole, miner_id: whole, samples: "blob" }, ["hour", "miner_id"]);
const totalRows = upsert(
  "money_total",
  { miner_id: whole, currency: "text", cost: real },
  ["miner_id", "currency"],
  () => "money_total.cost + excluded.cost",
);

suite("PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => server.stop());

  describe("the schema", () => {
    const columnsIn = async (database: string) =>
      server.run(
        `select table_name as "table", column_name as name, data_type as type, is_nullable = 'NO' as required
          from information_schema.columns
          where table_schema = 'rigbridge' and table_name not in ('store_version', 'lease')
            and table_name in (select tablename from pg_tables where schemaname = 'rigbridge')
          order by table_name collate "C", ordinal_position`,
        database,
      );

    test("has the tables, columns, types and indexes of SQLite's", async () => {
      const sqlite = await inMemory();
      const database = await server.database();
      await connect(server.url(database));
      const ofSqlite = await sqlite.rows(
        plain(
          `select t.name as "table", c.name, c.type, c."notnull" or c.pk > 0 as required
            from sqlite_master t, pragma_table_info(t.name) c
            where t.type = 'table' and t.name not like 'sqlite%' and t.name not like 'migration%'
            order by t.name, c.cid`,
        ),
      );
      const types = new Map([
        ["INTEGER", "bigint"],
        ["REAL", "double precision"],
        ["TEXT", "text"],
        ["BLOB", "bytea"],
      ]);
      expect(ofSqlite.length).toBeGreaterThan(100);
      expect(await columnsIn(database)).toEqual(
        ofSqlite.map(({ type, required, ...column }) => ({
          ...column,
          type: types.get(String(type)),
          required: required === 1,
        })),
      );
      const indexes = "select name from sqlite_master where type = 'index' and name not like 'sqlite%' order by name";
      const ofPostgres = await server.run(
        `select indexname as name from pg_indexes where schemaname = 'rigbridge' and indexname !~ '_pkey$|^rig_memory_uid|^lease_'
          order by indexname collate "C"`,
        database,
      );
      expect(ofPostgres).toContainEqual({ name: "resource_key" });
      expect(ofPostgres).toEqual(await sqlite.rows(plain(indexes)));
    });

    test("sorts text by its bytes, as SQLite does", async () => {
      const order = async (store: Database) => {
        await store.write(["b", "B", "a", "ä", "_", "Z"].map((source) => keep(source, "")));
        return (await store.rows(plain("select source from source_value order by source"))).map(({ source }) => source);
      };
      const sorted = await order(await newStore());
      expect(sorted).toEqual(["B", "Z", "_", "a", "b", "ä"]);
      expect(await order(await inMemory())).toEqual(sorted);
    });

    test.each([1, 9, 14, storeVersion - 1])("is upgraded from version %i", async (version) => {
      const all = postgresUpgrade(0);
      const first = all.slice(0, all.length - postgresUpgrade(version).length);
      const database = await server.database();
      const begin = [
        "create schema rigbridge; set search_path = rigbridge",
        ...first,
        `create table store_version (version bigint not null); insert into store_version values (${version})`,
        "insert into sequence values ('pool', 7)",
      ];
      await server.run(begin.join(";\n"), database);
      const store = await connect(server.url(database));
      expect(await store.rows(plain("select last from sequence"))).toEqual([{ last: 7 }]);
      expect(await store.rows(plain("select version from store_version"))).toEqual([{ version: storeVersion }]);
      const fresh = await server.database();
      await connect(server.url(fresh));
      expect(await columnsIn(database)).toEqual(await columnsIn(fresh));
    });

    test("stays as it is when the store is opened again, and is made once by services that start together", async () => {
      const url = server.url(await server.database());
      const stores = await Promise.all([connect(url), connect(url), connect(url)]);
      const names = await Promise.all(stores.map((store) => store.rows(plain("select name from instance"))));
      expect(names[0]).toEqual([{ name: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
      expect(names).toEqual([names[0], names[0], names[0]]);
    });
  });

  describe("a store is refused, and not changed,", () => {
    test("when the URL is none of PostgreSQL, or names no database", async () => {
      expect(await refusal("mysql://rig:secret@db/rig")).toContain("is not one of PostgreSQL");
      expect(await refusal("postgres://rig:secret#word@db:5432/rig")).toContain("special characters of the password");
      expect(await refusal("/var/lib/secret.db")).toContain("is not one of PostgreSQL");
      expect(await refusal("postgres://rig:secret@db.example")).toContain(
        "postgres://rig@db.example names no database",
      );
    });

    test("when nothing answers, the password is wrong or missing, or there is no such database", async () => {
      const at = `${server.host}:${server.port}`;
      expect(await away(`postgres://rig:secret@${server.host}:1/rig`)).toContain(
        `postgres://rig@${server.host}:1/rig cannot be reached: nothing listens at its address`,
      );
      expect(await away("postgres://rig:secret@nowhere.invalid/rig")).toMatch(/host name (is not known|cannot be)/);
      expect(await away(`postgres://postgres:secret@${at}/postgres`)).toContain("the server refuses the password");
      expect(await away(`postgres://postgres@${at}/postgres`)).toContain("asks for a password, and the URL has none");
      expect(await away(server.url("nothing"))).toContain("the database does not exist");
      expect(await away(`${server.url("postgres")}?sslmode=verify-full`)).toContain("does not offer TLS");
    });

    test("when its role lacks a right", async () => {
      const database = await server.database();
      await server.run("create role worker login password 'secret'");
      const url = server.url(database, "worker", "secret");
      expect(await refusal(url)).toContain("lacks a right there: grant create on database store_");
      await connect(server.url(database));
      expect(await refusal(url)).toContain("grant usage on schema rigbridge");
      await server.run("grant usage on schema rigbridge to worker", database);
      expect(await refusal(url)).toMatch(/grant select on rigbridge\.\w+/);
      await server.run(
        "grant select, insert, update, delete on all tables in schema rigbridge to worker; " +
          "grant select on all sequences in schema rigbridge to worker",
        database,
      );
      expect(await refusal(url)).toMatch(/grant update on sequence rigbridge\.\w+_id/);
      await server.run("grant update on all sequences in schema rigbridge to worker", database);
      const store = await connect(url);
      expect(await store.write([keep("x", "1"), ...store.idTaken("command", 1)])).toEqual([1, 1]);
      await server.run("update rigbridge.store_version set version = version - 1", database);
      expect(await refusal(url)).toContain("grant create on schema rigbridge");
      await server.run("grant create on schema rigbridge to worker", database);
      expect(await refusal(url)).toMatch(/alter table rigbridge\.\w+ owner to worker/);
    });

    test("when a newer version wrote it, or it has no version", async () => {
      const database = await server.database();
      const url = server.url(database);
      await connect(url);
      await server.run("update rigbridge.store_version set version = version + 1", database);
      expect(await refusal(url)).toContain(
        `by a newer Rigbridge (store version ${storeVersion + 1}, this one supports up to ${storeVersion})`,
      );
      await server.run("delete from rigbridge.store_version", database);
      expect(await refusal(url)).toContain("is damaged: it has no version");
    });

    test("when its schema is another program's", async () => {
      const database = await server.database();
      await server.run("create schema rigbridge; create table rigbridge.command (theirs text)", database);
      expect(await refusal(server.url(database))).toContain("holds something that is not a store of Rigbridge");
      const tables = await server.run("select tablename from pg_tables where schemaname = 'rigbridge'", database);
      expect(tables).toEqual([{ tablename: "command" }]);
    });

    test("when an upgrade fails in the middle", async () => {
      const database = await server.database();
      // A type of the name that a table gets.
      await server.run("create schema rigbridge; create type rigbridge.instance as enum ('x')", database);
      expect(await refusal(server.url(database))).toContain("cannot be opened: the server reports 42");
      expect(await server.run("select 1 from pg_tables where schemaname = 'rigbridge'", database)).toEqual([]);
    });

    test("when the server may lose what it has confirmed, or its encoding lacks characters", async () => {
      const database = await server.database();
      await server.run(`alter database ${database} set synchronous_commit = off`);
      expect(await refusal(server.url(database))).toMatch(/synchronous_commit is off there; .* with store.allowLoss/);
      await (await connectPostgres({ url: server.url(database), now, allowLoss: true })).close();
      await server.run("create database latin encoding 'LATIN1' locale 'C' template template0");
      expect(await refusal(server.url("latin"))).toContain("has the encoding LATIN1");
    });

    test("when the server is too old", async () => {
      // The real server, with another version in what it says.
      const { port, close } = await startRelay(server, (client, behind) => {
        client.pipe(behind);
        behind.on("data", (bytes: Buffer) =>
          client.write(Buffer.from(bytes.toString("latin1").replace(/\b1[5-9](\d{4})\b/, "14$1"), "latin1")),
        );
      });
      onTestFinished(close);
      const url = server.url("postgres").replace(`${server.host}:${server.port}`, `127.0.0.1:${port}`);
      expect(await refusal(url)).toContain("on PostgreSQL 14, which is too old; 15 or later is needed");
    });

    test("when all connections of the server are in use", async () => {
      const database = await server.database();
      await server.run("create role few login password 'secret' connection limit 1");
      await server.run(`grant create on database ${database} to few`);
      const url = server.url(database, "few", "secret");
      const other = new Client({ connectionString: url });
      await other.connect();
      onTestFinished(() => other.end());
      expect(await away(url)).toContain("all connections of the server are in use");
    });
  });

  describe("values", () => {
    const texts = [
      "",
      "it's",
      "back\\slash",
      "both ' and \\' of them",
      "'; drop table source_value; --",
      "$1 ? $2 :x /* -- */",
      '{"a":"\\u0000"}',
      "ends with \\",
      "snow ☃ and 𝄞",
      "E'\\x41'",
      "line\nbreak\ttab",
    ];

    test("come back as they were, written by Kysely and plainly, and found again", async () => {
      const store = await newStore();
      for (const [index, text] of texts.entries()) {
        const source = `${index}${text}`;
        await store.write([keep(source, text)]);
        expect(await kept(store, source)).toBe(text);
        await store.write([
          store.tables
            .updateTable("source_value")
            .set({ value: `${text}!` })
            .where("source", "=", source),
        ]);
        const found = store.tables
          .selectFrom("source_value")
          .select(["source", "value", "at"])
          .where("source", "=", source);
        expect(await found.execute()).toEqual([{ source, value: `${text}!`, at: 0 }]);
      }
    });

    test("that PostgreSQL has no room for are replaced: the character 0, and halves of a pair", async () => {
      const store = await newStore();
      await store.write([keep("a\0b", "c\0\ud800d")]);
      expect(await store.rows(plain("select source, value from source_value"))).toEqual([
        { source: "a\ufffdb", value: "c\ufffd\ufffdd" },
      ]);
      expect(await kept(store, "a\0b")).toBe("c\ufffd\ufffdd");
    });

    test("come back from rows that are written together, as SQLite returns them", async () => {
      const values = [...texts, ...['say "when"', "{a,b}", "NULL", "null", '\\"', " "]];
      const pools = values.map((text, id) => [1, id, text, `worker ${text}`, 0]);
      const figures = [1.5, null, -0.25, 1e21, 5e-324, 0, null];
      const samples = figures.map((figure, miner) => [9, miner, -miner, figure, figure, null, figure]);
      const bytes = [new Uint8Array(0), Uint8Array.from([0, 34, 92, 255]), Uint8Array.from([123, 125, 44])];
      const hours = bytes.map((samples, miner) => [5, miner, samples]);
      const written = async (store: Database) => {
        const changed = await store.write([poolRows(pools), sampleRows(samples), hourRows(hours), hourRows([])]);
        const read = (table: string) => store.rows(plain(`select * from ${table} order by 1, 2`));
        return [changed, await read("active_pool"), await read("sample"), await read("sample_hour")];
      };
      const stored = await written(await newStore());
      expect(stored).toEqual(await written(await inMemory()));
      expect(stored[0]).toEqual([values.length, figures.length, bytes.length, 0]);
      expect(stored[1]).toMatchObject(values.map((url, id) => ({ id, url, worker: `worker ${url}` })));
    });

    test("of rows with the same key are written one after another, and added up where they are sums", async () => {
      const store = await newStore();
      const samples = [1, 2, 2, 1].map((miner, at) => [9, miner, 0, at, null, null, null]);
      expect(await store.write([sampleRows(samples), keep("x", "after")])).toEqual([4, 1]);
      expect(await store.rows(plain("select miner_id, hashrate from sample order by 1"))).toEqual([
        { miner_id: 1, hashrate: 3 },
        { miner_id: 2, hashrate: 2 },
      ]);
      const costs = [1, 2, 4].map((cost) => [1, cost === 2 ? "a\ufffdb" : "a\0b", cost]);
      await store.write([totalRows(costs), totalRows([[1, "a\0b", 8]])]);
      expect(await store.rows(plain("select currency, cost from money_total"))).toEqual([
        { currency: "a\ufffdb", cost: 15 },
      ]);
      const wrong = store.write([sampleRows([[9, 1, 0.5, null, null, null, null]])]);
      expect((await failure(wrong)).message).toMatch(/refused a write \(SQLSTATE 22P02\)$/);
    });

    test("numbers, whole and others", async () => {
      const store = await newStore();
      for (const number of [0, 1, -1, 2 ** 53 - 1, -(2 ** 53) + 1]) {
        await store.write([keep("x", "", number), plain("update source_value set at = ?", number)]);
        const difference = plain("select at, at - ? as less from source_value", number);
        expect(await store.rows(difference)).toEqual([{ at: number, less: 0 }]);
      }
      for (const number of [0.1, -1 / 3, 5e-324, 1.7976931348623157e308, 1e21, -7, null]) {
        await store.write([
          plain("delete from sample"),
          plain("insert into sample values (1, 2, 3, ?, ?, null, null)", number, number),
        ]);
        const rows = await store.rows(plain("select hashrate, power from sample"));
        expect(rows).toEqual([{ hashrate: number, power: number }]);
      }
    });

    test("bytes, sums, and what is true", async () => {
      const store = await newStore();
      const samples = Uint8Array.from({ length: 256 }, (_, index) => index);
      await store.write([
        plain("insert into sample_hour values (1, 2, ?)", samples),
        store.tables.insertInto("sample_hour").values({ hour: 2, miner_id: 2, samples: new Uint8Array() }),
      ]);
      const rows = await store.tables.selectFrom("sample_hour").select("samples").orderBy("hour").execute();
      expect(rows).toEqual([{ samples }, { samples: new Uint8Array() }]);
      const sums = "sum(hour) as hours, avg(hour) as mean, count(*) as rows, sum(hour) > 2 as above";
      expect(await store.rows(plain(`select ${sums} from sample_hour`))).toEqual([
        { hours: 3, mean: 1.5, rows: 2, above: 1 },
      ]);
    });

    test("that are none are refused", async () => {
      const store = await newStore();
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, true, 5n, {}, undefined]) {
        const statement = sql`insert into source_value values ('x', 1, ${value})`;
        const query = { compile: () => statement.compile(store.tables) };
        expect(await failure(store.write([keep("y", ""), query]))).toMatchObject({ code: "internal" });
        expect(await kept(store, "y")).toBeUndefined();
      }
    });

    test("of the wrong type are refused, as in SQLite, and not shown", async () => {
      const values: [string, SqlValue][] = [
        ["insert into sample values (1, 2, ?, 4, 5, 6, 7)", 1.5],
        ["insert into sample values (1, 2, ?, 4, 5, 6, 7)", "secret"],
        ["insert into sample values (1, 2, 3, ?, 5, 6, 7)", "secret"],
        ["insert into sample values (1, ?, 3, 4, 5, 6, 7)", null],
      ];
      for (const store of [await newStore(), await inMemory()])
        for (const [text, value] of values) {
          const error = await failure(store.write([plain(text, value)]));
          expect(error).toMatchObject({ code: "internal" });
          expect(error.message).not.toContain("secret");
        }
    });

    test("too large to be read exactly are not read at all", async () => {
      const store = await newStore();
      const error = await failure(store.rows(plain("select 9007199254740993 as x")));
      expect(error.message).toContain("too large to be read exactly");
      expect(await store.rows(plain("select 9007199254740991 as x"))).toEqual([{ x: 2 ** 53 - 1 }]);
    });
  });

  describe("a write", () => {
    test("says how many rows each statement has changed", async () => {
      const store = await newStore();
      expect(await store.write([])).toEqual([]);
      const all = plain("update source_value set at = 5");
      const some = plain("delete from source_value where source <> 'a'");
      expect(await store.write([all, keep("a", ""), keep("b", ""), keep("c", ""), all, some, all])).toEqual([
        ...[0, 1, 1, 1, 3, 2, 1],
      ]);
      expect(await store.free([all])).toEqual([1]);
    });

    test("that fails in the middle changes nothing, and the next ones go on", async () => {
      const store = await newStore();
      const wrong = plain("insert into source_value values ('secret', 1, 'secret')");
      const calls = [
        store.write([keep("x", "1")]),
        store.write([keep("x", "2"), keep("y", ""), wrong, wrong, keep("z", "")]),
        store.write([addTo("x", "3")]),
      ];
      const [first, second, third] = await Promise.allSettled(calls);
      expect(first).toMatchObject({ status: "fulfilled" });
      expect(third).toMatchObject({ status: "fulfilled" });
      expect(await store.rows(plain("select source, value from source_value"))).toEqual([{ source: "x", value: "13" }]);
      const error: unknown = second?.status === "rejected" ? second.reason : undefined;
      expect(String(error)).toMatch(
        /refused a write \(SQLSTATE 23505, table source_value, constraint source_value_pkey\)/,
      );
      expect(error).not.toHaveProperty("cause");
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret");
    });

    test("follows those that were asked for before it", async () => {
      const store = await newStore();
      const numbers = Array.from({ length: 300 }, (_, index) => index);
      const first = store.write([keep("x", "")]);
      await Promise.all([first, ...numbers.map((number) => store.write([addTo("x", `${number} `)]))]);
      expect(await kept(store)).toBe(numbers.map((number) => `${number} `).join(""));
    });

    test("is the only way to write, and to have a transaction", async () => {
      const { tables } = await newStore();
      const insert = tables.insertInto("source_value").values({ source: "x", at: 1, value: "" });
      expect(await failure(insert.execute())).toMatchObject({ code: "store.refused", message: /read-only/ });
      const transaction = tables.transaction().execute((trx) => trx.selectFrom("instance").selectAll().execute());
      expect(await failure(transaction)).toMatchObject({ message: "Only `write` of a store makes transactions" });
    });

    describe("with others before it", () => {
      const stored = async (store: PostgresConnection) => {
        const rows = await store.rows(
          plain("select source, value, xmin::text as by from source_value order by source"),
        );
        return { values: Object.fromEntries(rows.map(({ source, value }) => [source, value])), rows };
      };

      test("is one transaction, once, and its counts are its own", async () => {
        const store = await newStore();
        const changed = await store.withFirstWrite([keep("first", "1"), addTo("first", "2")], async () => [
          await store.write([keep("a", ""), keep("b", "")]),
          await store.write([addTo("a", "3")]),
        ]);
        expect(changed).toEqual([[1, 1], [1]]);
        const { values, rows } = await stored(store);
        expect(values).toEqual({ first: "12", a: "3", b: "" });
        expect(new Set(rows.filter(({ source }) => source !== "a").map(({ by }) => by)).size).toBe(1);
      });

      test("stores them with the next one if it is refused, and never after the work", async () => {
        const store = await newStore();
        const wrong = plain("insert into source_value values ('x', null, '')");
        await store.withFirstWrite([keep("first", "")], async () => {
          await failure(store.write([keep("a", ""), wrong]));
          expect((await stored(store)).values).toEqual({});
          await store.write([keep("b", "")]);
        });
        expect((await stored(store)).values).toEqual({ first: "", b: "" });
        let late: Promise<unknown> = Promise.resolve();
        const over = Promise.withResolvers<void>();
        await store.withFirstWrite([keep("second", "")], async () => {
          late = over.promise.then(() => store.write([keep("c", "")]));
        });
        over.resolve();
        await late;
        expect((await stored(store)).values).toEqual({ first: "", b: "", c: "" });
      });
    });

    test("does not wait for records of the service", async () => {
      const database = await server.database();
      const store = await connect(server.url(database));
      const other = new Client({ connectionString: server.url(database) });
      await other.connect();
      try {
        await other.query("begin; lock table rigbridge.group_energy");
        let isRecorded = false;
        const recorded = store.recorder.write([plain("insert into group_energy values (1, 2)")]).then(() => {
          isRecorded = true;
        });
        await until(async () => {
          const rows = await server.run("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
          return rows.length > 0;
        }, "the record to wait");
        await store.write([keep("x", "1")]);
        expect(await kept(store)).toBe("1");
        expect(isRecorded).toBe(false);
        await other.query("rollback");
        await recorded;
        expect(await store.rows(plain("select energy from group_energy"))).toEqual([{ energy: 2 }]);
      } finally {
        await other.end();
      }
    });

    test("of which the process has sent a part when it stops holds no lock", async () => {
      let isCut = false;
      const { port, close } = await startRelay(server, (client, behind) => {
        behind.pipe(client);
        client.on("data", (bytes: Buffer) => {
          isCut ||= bytes.includes("the first statement");
          // All but the last byte of a write that is in one piece.
          if (isCut) behind.write(bytes.subarray(0, -1));
          else behind.write(bytes);
        });
      });
      const database = await server.database();
      const direct = await connect(server.url(database));
      await direct.write([keep("x", "0")]);
      const stopped = await connect(server.url(database).replace(`${server.host}:${server.port}`, `127.0.0.1:${port}`));
      const written = failure(stopped.write([keep("x", "the first statement"), keep("y", "")]));
      await until(() => isCut, "a part of the write to arrive");
      await direct.write([addTo("x", "1")]);
      expect(await kept(direct)).toBe("01");
      await close();
      expect(await written).toMatchObject({ code: "service.store-away" });
      expect(await kept(direct)).toBe("01");
    });
  });

  test("numbers are not used again, neither after a deletion nor in another process", async () => {
    const url = server.url(await server.database());
    const store = await connect(url);
    const outbox = (id: number): Statement =>
      plain(
        `insert into outbox (id, channel, event, severity, title, message, miner, miner_group, time, state, tries, due)
          values (?, '', 'alarm', 'info', '', '', '', '', 0, 'waiting', 0, 0)`,
        id,
      );
    expect(await store.lastId("outbox")).toBe(0);
    await store.write([outbox(1), ...store.idTaken("outbox", 1)]);
    expect(await store.lastId("outbox")).toBe(1);
    await store.write([outbox(9), outbox(5), ...store.idTaken("outbox", 9), ...store.idTaken("outbox", 5)]);
    await store.write([plain("delete from outbox")]);
    await store.close();
    const second = await connect(url);
    expect(await second.lastId("outbox")).toBe(9);
    for (const table of ["command", "notification", "bulk_action"] as const) expect(await second.lastId(table)).toBe(0);
  });

  describe("SQL of its own", () => {
    test("finds ids in lists of any length, and appends to a JSON array, as SQLite does", async () => {
      const found = async (store: Database) => {
        const { dialect, tables } = store;
        await store.write([1, 2, 3, 4].map((id) => keep(`${id}`, "[]", id)));
        const of = (ids: number[]) =>
          tables.selectFrom("source_value").select("at").where(dialect.isOneOf("at", ids)).orderBy("at").execute();
        const many = Array.from({ length: 20_000 }, (_, index) => index + 3);
        const list = plain(`select at from source_value where at in ${dialect.oneOfList} order by at`, "[1,2]");
        const append = (value: unknown) =>
          plain(`update source_value set value = ${dialect.appended("value")} where at = 1`, JSON.stringify(value));
        await store.write([append({ message: "a\0 \ud800 \\u0000 'b'", list: [1] }), append(2), append([3])]);
        const [row] = await store.rows(plain("select value from source_value where at = 1"));
        return [await of([]), await of([2]), await of(many), await store.rows(list), JSON.parse(String(row?.value))];
      };
      const rows = await found(await newStore());
      expect(rows).toEqual([
        [],
        [{ at: 2 }],
        [{ at: 3 }, { at: 4 }],
        [{ at: 1 }, { at: 2 }],
        [{ message: "a\0 \ud800 \\u0000 'b'", list: [1] }, 2, [3]],
      ]);
      expect(await found(await inMemory())).toEqual(rows);
    });

    test("inserts results, and counts them with each change of their states, as SQLite does", async () => {
      const counted = async (store: Database) => {
        const run = (id: number) =>
          plain(
            `insert into bulk_action (id, time, actor, action, parameters, parallel, delay, dry_run, total, state)
              values (?, 1, '', '', '', 1, 0, 0, 3, 'running')`,
            id,
          );
        const results = ["queued", "done", "failed", "possible", "unknown"].map((state, index) => ({
          minerId: 100 - index,
          state,
          message: `it's "${state}"`,
          ...(index === 1 ? { before: "5" } : index === 2 ? { before: null } : {}),
        }));
        const insert = (id: number, rows: object[]) => plain(store.dialect.insertResults, id, JSON.stringify(rows));
        await store.write([run(1), run(2), insert(1, results), insert(2, results.slice(0, 1)), insert(2, [])]);
        await store.write([
          plain("update bulk_result set state = 'failed' where state in ('queued', 'done')"),
          plain("update bulk_result set state = 'failed', message = 'again'"),
          plain("update bulk_result set state = 'sent' where miner_id = 96"),
        ]);
        return [
          await store.rows(plain("select * from bulk_result order by bulk_action_id, position")),
          await store.rows(plain("select id, done, failed, unknown from bulk_action order by id")),
        ];
      };
      const rows = await counted(await newStore());
      expect(rows[1]).toEqual([
        { id: 1, done: 0, failed: 4, unknown: 0 },
        { id: 2, done: 0, failed: 1, unknown: 0 },
      ]);
      expect(await counted(await inMemory())).toEqual(rows);
    });

    test("inserts results whose messages hold what jsonb refuses", async () => {
      const store = await newStore();
      const messages = ["a\0b", "\ud800", "\\u0000", "\\\\ud8ff \u001f"];
      const results = messages.map((message, minerId) => ({ minerId, state: "queued", message }));
      await store.write([plain(store.dialect.insertResults, 1, JSON.stringify(results))]);
      const rows = await store.rows(plain("select message from bulk_result order by position"));
      expect(rows.map(({ message }) => message)).toEqual(["a\ufffdb", "\ufffd", "\\ufffd", "\\\\ufffd \u001f"]);
    });
  });

  test("errors of the server are said in sentences, without what it quotes", async () => {
    const database = await server.database();
    const store = await connect(server.url(database));
    await server.run(
      `create table rigbridge.raised (state text);
        create function rigbridge.fail() returns trigger language plpgsql as $$
          declare state text := (select raised.state from rigbridge.raised);
          begin
            raise exception 'a secret' using errcode = state, detail = 'a secret', hint = 'a secret';
          end $$;
        create trigger fail before update on rigbridge.source_value for each row execute function rigbridge.fail()`,
      database,
    );
    await store.write([keep("x", "1")]);
    for (const [state, code, sentence] of [
      ["53100", "store.full", "cannot be written: the disk of the server is full; free some space"],
      ["25006", "store.full", "cannot be written: it is read-only"],
      ["XX001", "store.full", "cannot be written: it is damaged"],
      ["53300", "service.store-away", "cannot be written now: all connections of the server are in use"],
      ["40P01", "service.store-away", "cannot be written now: another program was writing the same rows"],
      ["P0001", "internal", "refused a write (SQLSTATE P0001)"],
    ]) {
      await server.run(`delete from rigbridge.raised; insert into rigbridge.raised values ('${state}')`, database);
      const error = await failure(store.write([addTo("x", "2")]));
      expect(error).toMatchObject({ code });
      expect(error.message).toContain(`${store.name} ${sentence}`);
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret");
      expect(error).not.toHaveProperty("cause");
    }
    await server.run("drop trigger fail on rigbridge.source_value", database);
    await store.write([addTo("x", "3")]);
    expect(await kept(store)).toBe("13");
  });

  test("a closed store has no connections, finishes its writes, and takes no more", async () => {
    const database = await server.database();
    const store = await connect(server.url(database));
    const written = store.write([keep("x", "1")]);
    await Promise.all([store.lastId("command"), store.lastId("command")]);
    await store.close();
    await store.close();
    await written;
    await until(async () => {
      const rows = await server.run(`select 1 from pg_stat_activity where datname = '${database}'`);
      return rows.length === 0;
    }, "its connections to end");
    expect(await failure(store.write([keep("x", "2")]))).toMatchObject({ code: "service.not-ready" });
    expect(await failure(store.rows(plain("select 1")))).toMatchObject({ code: "service.not-ready" });
  });

  describe("a server that is away", () => {
    test("is said to be, since when, and used again when it is back", async () => {
      const store = await newStore();
      await store.write([keep("x", "0")]);
      expect(await kept(store)).toBe("0");
      await server.kill();
      const away = `The store ${store.name} cannot be reached since 12:03:04 (UTC): `;
      const calls = [store.write([keep("x", "1")]), store.rows(plain("select 1")), store.lastId("command")];
      for (const error of await Promise.all(calls.map(failure))) {
        expect(error).toMatchObject({ code: "service.store-away" });
        expect(error.message).toContain(away);
        expect(error.message).not.toContain("secret");
      }
      expect((await failure(store.write([keep("x", "1")]))).message).toBe(`${away}nothing listens at its address.`);
      await server.start();
      expect(await kept(store)).toBe("0");
      await store.write([addTo("x", "2")]);
      expect(await kept(store)).toBe("02");
    });

    test("while it writes: the write is not known to be stored, and is whole or not there", async () => {
      const store = await newStore();
      await store.write([keep("x", ""), keep("y", "")]);
      const statements = [addTo("x", "1"), plain("select pg_sleep(600)"), addTo("y", "1")];
      const written = failure(store.write(statements));
      const waiting = failure(store.write([addTo("x", "2")]));
      await until(async () => {
        const rows = await server.run("select 1 from pg_stat_activity where wait_event = 'PgSleep'");
        return rows.length > 0;
      }, "the write to begin");
      await server.kill();
      const error = await written;
      expect(error).toMatchObject({ code: "service.store-away" });
      expect(error.message).toMatch(/\. It is not known whether the last change was stored\.$/);
      expect((await waiting).message).toMatch(/nothing listens at its address\.$/);
      await server.start();
      expect([await kept(store, "x"), await kept(store, "y")]).toEqual(["", ""]);
    });

    test("because it does not answer: calls fail in time, and what it does later is not done after newer writes", async () => {
      const store = await newStore(2_000);
      await store.write([keep("x", "")]);
      await kept(store);
      const thaw = freeze(await server.pids());
      const calls = [store.write([addTo("x", "1")]), store.rows(plain("select 1"))].map(failure);
      const [written, read] = await Promise.all(calls);
      expect(written?.message).toMatch(/: the server does not answer\. It is not known whether/);
      expect(read?.message).toMatch(/: the server does not answer\.$/);
      // Not sent.
      expect((await failure(store.write([addTo("x", "2")]))).message).toMatch(/: the server does not answer\.$/);
      thaw();
      await until(() => succeeds(store.write([addTo("x", "3")])), "the server to answer again");
      await until(() => succeeds(store.write([addTo("x", "4")])), "the server to answer again");
      // Each may be stored although it was not confirmed in time.
      expect(await kept(store)).toMatch(/^1?3+4+$/);
    });

    test("for one connection only: nothing is written over another one until that has ended", async () => {
      const database = await server.database();
      const store = await connect(server.url(database), 2_000);
      await store.write([keep("x", "")]);
      const [writer] = await server.run(
        `select pid from pg_stat_activity where datname = '${database}' and application_name ~ '^rigbridge [0-9a-f]{16}$'`,
      );
      const pid = Number(writer?.pid);
      const thaw = freeze([pid]);
      const error = await failure(store.write([addTo("x", "1")]));
      expect(error.message).toMatch(/It is not known whether the last change was stored/);
      const next = await failure(store.write([addTo("x", "2")]));
      expect(next.message).toMatch(/the server has not ended the connection that broke off\.$/);
      thaw();
      await until(async () => {
        const rows = await server.run(`select 1 from pg_stat_activity where pid = ${pid}`);
        return rows.length === 0;
      }, "the old connection to end");
      await until(() => succeeds(store.write([addTo("x", "3")])), "the server to be written again");
      expect(await kept(store)).toMatch(/^1?3+$/);
    });
  });

  test("a statement that takes too long is ended, and is not stored", async () => {
    const store = await newStore(2_000);
    const error = await failure(store.write([keep("x", "1"), plain("select pg_sleep(600)")]));
    expect(error).toMatchObject({ code: "service.store-away" });
    expect(error.message).toContain("cannot be written now: the server did not finish in time");
    expect(await kept(store)).toBeUndefined();
  });

  // Last, because the server has a new history afterwards.
  test("a standby is refused, and a server that becomes one takes no writes", async () => {
    const store = await newStore();
    await store.write([keep("x", "1")]);
    await server.becomeStandby();
    const error = await failure(store.write([keep("x", "2")]));
    expect(error.message).toMatch(/cannot be reached|read-only/);
    expect(await failure(store.write([keep("x", "2")]))).toMatchObject({
      code: "store.full",
      message: /it is read-only/,
    });
    expect(await kept(store)).toBe("1");
    expect(await away(server.url("postgres"))).toContain("is on a standby server, which takes no writes");
    await server.run("select pg_promote()");
    await store.write([keep("x", "3")]);
    expect(await kept(store)).toBe("3");
  });
});
