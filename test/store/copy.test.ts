import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type CopyOptions, copyStore, type StorePlace } from "../../src/store/copy.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { takePostgres } from "../../src/store/open-postgres.ts";
import { openPostgresStore, openStore, type Store } from "../../src/store/store.ts";
import { onTestFinished } from "../finished.ts";
import { startRelay } from "../relay.ts";
import { folders } from "./folder.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";

// depends on: src/store/**, test/store/*.ts, test/store/fixtures/*

const suite = hasPostgres("copies of stores in a real PostgreSQL") ? describe : describe.skip;
const folder = folders();
const start = 1_750_000_000_000;
const now = () => start;
const command = { minerId: 1, minerName: "Rig", actor: "Ann", action: "reboot", parameters: {} };

/** Of a store file: every table with its rows, in the order of their values. */
const contents = (file: string): Map<string, string[]> => {
  const raw = new DatabaseSync(file, { readOnly: true });
  const tables = raw
    .prepare("select name from sqlite_master where type = 'table' and name not like 'migration%' order by name")
    .all()
    .map(({ name }) => String(name));
  const found = tables.map((table): [string, string[]] => [
    table,
    raw
      .prepare(`select * from "${table}"`)
      .all()
      .map((row) => JSON.stringify(row))
      .sort(),
  ]);
  raw.close();
  return new Map(found);
};

const edit = (file: string, work: (raw: DatabaseSync) => void): void => {
  const raw = new DatabaseSync(file);
  work(raw);
  raw.close();
};

/** The words that columns are limited to. */
const words: ReadonlyMap<string, string> = new Map([
  ["event", "alarm"],
  ["severity", "warning"],
  ["state", "sent"],
  ["kind", "rule"],
]);

/** A value that no other column of the row has. */
const valueFor = (name: string, type: string, place: number): SQLInputValue =>
  words.get(name) ??
  { INTEGER: place + 1, REAL: place + 0.125, BLOB: Uint8Array.of(0, 255, place) }[type] ??
  `'text' \\ ${place} ⛏`;

/** A closed store with rows in every table: those of an earlier version, and one in each table that it did not have. */
async function fullStore(): Promise<string> {
  const file = join(folder(), "rigbridge.db");
  const fixtures = new URL("fixtures/", import.meta.url);
  const newest = readdirSync(fixtures).toSorted().at(-1) ?? "";
  edit(file, (raw) => raw.exec(readFileSync(new URL(newest, fixtures), "utf8")));
  const store = await openStore({ file, now });
  await store.commands.add(command);
  await store.close();
  edit(file, (raw) => {
    for (const [table, rows] of contents(file)) {
      if (rows.length > 0) continue;
      const columns = raw.prepare(`pragma table_info("${table}")`).all();
      const places = columns.map(() => "?").join(", ");
      raw
        .prepare(`insert into "${table}" values (${places})`)
        .run(...columns.map(({ name, type }, place) => valueFor(String(name), String(type), place)));
    }
  });
  return file;
}

const copied = (from: StorePlace, to: StorePlace, options: Partial<CopyOptions> = {}) =>
  copyStore({ from, to, progress: () => undefined, signal: new AbortController().signal, ...options });

const refusal = async (copying: Promise<unknown>): Promise<string> => {
  const error = await copying.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "RigbridgeError", code: "store.refused" });
  expect(String(error)).not.toContain("secret");
  return String(error);
};

let server: Postgres;

const newDatabase = async (): Promise<{ readonly url: string; readonly name: string }> => {
  const name = await server.database();
  return { name, url: server.url(name) };
};

const tablesIn = async (database: string): Promise<number> =>
  (await server.run("select 1 from pg_tables where schemaname = 'rigbridge'", database)).length;

const openIn = async (url: string): Promise<Store> => {
  const store = await openPostgresStore({ url, now, site: "home", address: "http://10.0.0.1" });
  onTestFinished(() => store.close());
  return store;
};

suite("a copy of a store", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("has everything: from a file over two databases into a file again", async () => {
    const file = await fullStore();
    const before = contents(file);
    expect([...before].filter(([, rows]) => rows.length === 0)).toEqual([]);
    const [one, other] = [await newDatabase(), await newDatabase()];
    const back = join(folder(), "back.db");
    const first = await copied({ file }, one);
    expect(first.changedTexts).toBe(0);
    expect(first.from).toBe(file);
    expect(first.to).toBe(`postgres://postgres@${server.host}:${server.port}/${one.name}`);
    expect(first.tables.map(({ table, rows }) => [table, rows])).toEqual(
      [...before].filter(([table]) => !table.startsWith("sqlite")).map(([table, rows]) => [table, rows.length]),
    );
    expect((await copied(one, other)).tables).toEqual(first.tables);
    expect((await copied(other, { file: back })).tables).toEqual(first.tables);
    expect(contents(back)).toEqual(before);
    const raw = new DatabaseSync(back, { readOnly: true });
    expect(raw.prepare("pragma user_version").get()).toEqual({ user_version: storeVersion });
    expect(raw.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    raw.close();
    expect(contents(file)).toEqual(before);
    expect(readdirSync(dirname(back)).sort()).toEqual(["back.db", "back.db.run"]);
  });

  test("goes on where the old one has stopped: its numbers, and what was under way", async () => {
    const file = join(folder(), "rigbridge.db");
    const store = await openStore({ file, now });
    const last = await store.commands.add(command);
    const run = { actor: "Ann", userId: null, action: "reboot", parameters: {}, parallel: 1, delay: 0, dryRun: false };
    const { id } = await store.runs.add(run, [{ minerId: 1, state: "queued", message: "" }]);
    await store.close();
    edit(file, (raw) => raw.exec("delete from command"));
    const [database, back] = [await newDatabase(), join(folder(), "back.db")];
    await copied({ file }, database);
    const inDatabase = await openIn(server.url(database.name));
    expect((await inDatabase.commands.add(command)).id).toBe(last.id + 1);
    expect((await inDatabase.runs.running()).map((each) => each.id)).toEqual([id]);
    await inDatabase.close();
    await copied(database, { file: back });
    const inFile = await openStore({ file: back, now });
    expect((await inFile.commands.add(command)).id).toBe(last.id + 2);
    expect((await inFile.commands.get(last.id + 1))?.message).toBe("the service stopped before it was sent");
    expect((await inFile.runs.running()).map((each) => each.id)).toEqual([id]);
    await inFile.close();
  });

  test("of a backup is one: nothing that was under way goes on, and no number is given again", async () => {
    const file = join(folder(), "rigbridge.db");
    const store = await openStore({ file, now });
    const last = await store.commands.add(command);
    await store.close();
    writeFileSync(`${file}.run`, "of another store\n");
    const [database, back] = [await newDatabase(), join(folder(), "back.db")];
    await copied({ file }, { file: back });
    await copied({ file }, database);
    for (const copy of [await openStore({ file: back, now }), await openIn(server.url(database.name))]) {
      expect((await copy.commands.get(last.id))?.state).toBe("unknown");
      expect((await copy.commands.add(command)).id).toBeGreaterThan(last.id + 10_000);
      await copy.close();
    }
  });

  test("of a database that was accepted as restored, and not used since, is one of a backup, too", async () => {
    const [one, other] = [await newDatabase(), await newDatabase()];
    const back = join(folder(), "back.db");
    const store = await openIn(one.url);
    const last = await store.commands.add(command);
    await store.close();
    const { url } = one;
    const early = await takePostgres({ url, now, site: "home", address: null, acceptRestored: true });
    await early.database.close();
    await early.lease.release();
    await copied(one, { file: back });
    await copied(one, other);
    for (const copy of [await openStore({ file: back, now }), await openIn(other.url)]) {
      expect((await copy.commands.get(last.id))?.state).toBe("unknown");
      expect((await copy.commands.add(command)).id).toBeGreaterThan(last.id + 10_000);
      await copy.close();
    }
  });

  test("keeps the site and the epoch of a database", async () => {
    const [one, other] = [await newDatabase(), await newDatabase()];
    for (let times = 0; times < 2; times += 1) await (await openIn(server.url(one.name))).close();
    await copied(one, other);
    const lease = await server.run("select site, holder, epoch from rigbridge.lease", other.name);
    expect(lease).toEqual([{ site: "home", holder: "", epoch: "2" }]);
  });

  test("says which texts PostgreSQL does not hold, and has everything else of them", async () => {
    const file = await fullStore();
    edit(file, (raw) => raw.prepare("update source_value set value = ?").run("a\0b"));
    const database = await newDatabase();
    expect((await copied({ file }, database)).changedTexts).toBe(contents(file).get("source_value")?.length);
    expect(await server.run("select distinct value from rigbridge.source_value", database.name)).toEqual([
      { value: "a\ufffdb" },
    ]);
  });

  test("is in batches, and reports them", async () => {
    const file = join(folder(), "rigbridge.db");
    await (await openStore({ file, now })).close();
    edit(file, (raw) =>
      raw.exec(`insert into sample (span, miner_id, time, power)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500) select i, i, i, i from n`),
    );
    const seen: number[] = [];
    const progress: CopyOptions["progress"] = ({ table, rows, of }) => {
      if (table === "sample") seen.push(rows, of);
    };
    const database = await newDatabase();
    await copied({ file }, database, { progress });
    await copied(database, { file: join(folder(), "back.db") }, { progress });
    const once = [1000, 2500, 2000, 2500, 2500, 2500];
    expect(seen).toEqual([...once, ...once]);
  });

  describe("is not made, and nothing is changed,", () => {
    test("while a service uses the store", async () => {
      const file = join(folder(), "rigbridge.db");
      const [database, to] = [await newDatabase(), await newDatabase()];
      const open = await openStore({ file, now });
      expect(await refusal(copied({ file }, to))).toMatch(/is in use by another Rigbridge/);
      await open.close();
      const active = await openIn(server.url(database.name));
      expect(await refusal(copied(database, to))).toContain(
        "is in use by the service at http://10.0.0.1; stop all services of its site first",
      );
      expect(active.lease?.mayAct()).toBe(true);
      expect(await tablesIn(to.name)).toBe(0);
    });

    test("if a service starts to use it meanwhile", async () => {
      const [from, to] = [await newDatabase(), await newDatabase()];
      await (await openIn(server.url(from.name))).close();
      let starting: Promise<Store> | undefined;
      const relay = await startRelay(server, (client, behind) => {
        behind.pipe(client);
        client.on("data", async (bytes: Buffer) => {
          if (bytes.includes("close copied")) {
            starting ??= openIn(server.url(from.name));
            await starting;
          }
          behind.write(bytes);
        });
      });
      onTestFinished(relay.close);
      const url = server.url(from.name).replace(`${server.host}:${server.port}`, `127.0.0.1:${relay.port}`);
      const text = await refusal(copied({ url }, to));
      expect(text).toContain("is in use by the service");
      expect(await tablesIn(to.name)).toBe(0);
    });

    test("into a place where something is", async () => {
      const file = await fullStore();
      const other = join(folder(), "other.db");
      writeFileSync(other, "mine");
      expect(await refusal(copied({ file }, { file: other }))).toContain("other.db exists already; choose a new name");
      expect(readFileSync(other, "utf8")).toBe("mine");
      expect(await refusal(copied({ file }, { file }))).toContain("exists already");
      const database = await newDatabase();
      await copied({ file }, database);
      const before = await server.run("select * from rigbridge.resource", database.name);
      expect(await refusal(copied({ file }, database))).toContain("holds a store already; choose an empty database");
      expect(await server.run("select * from rigbridge.resource", database.name)).toEqual(before);
      const foreign = await newDatabase();
      await server.run("create schema rigbridge; create table rigbridge.theirs (x int)", foreign.name);
      expect(await refusal(copied({ file }, foreign))).toContain("holds something that is not a store of Rigbridge");
    });

    test("of what is no store, or one of another version", async () => {
      const to = { file: join(folder(), "copy.db") };
      const [file, text] = [join(folder(), "rigbridge.db"), join(folder(), "text.db")];
      expect(await refusal(copied({ file }, to))).toContain(`There is no store ${file}`);
      writeFileSync(text, "text");
      expect(await refusal(copied({ file: text }, to))).toContain("is not a store of Rigbridge");
      await (await openStore({ file, now })).close();
      const database = await newDatabase();
      expect(await refusal(copied(database, to))).toContain("holds no store");
      await copied({ file }, database);
      edit(file, (raw) => raw.exec(`pragma user_version = ${storeVersion - 1}`));
      await server.run("update rigbridge.store_version set version = version - 1", database.name);
      for (const from of [{ file }, database])
        expect(await refusal(copied(from, to))).toContain(
          `is of an older version (${storeVersion - 1}, this one has ${storeVersion})`,
        );
      expect(existsSync(to.file)).toBe(false);
    });

    test("if it is interrupted, or the connection breaks off", async () => {
      const file = await fullStore();
      const to = await newDatabase();
      const inFolder = folder();
      const interrupted = new AbortController();
      interrupted.abort(new Error("interrupted"));
      for (const place of [to, { file: join(inFolder, "copy.db") }])
        await expect(copied({ file }, place, { signal: interrupted.signal })).rejects.toThrow("interrupted");
      expect(readdirSync(inFolder)).toEqual([]);
      const relay = await startRelay(server, (client, behind) => {
        behind.pipe(client);
        client.on("data", (bytes: Buffer) => {
          if (bytes.includes('insert into "command"')) client.destroy();
          else behind.write(bytes);
        });
      });
      onTestFinished(relay.close);
      const url = server.url(to.name).replace(`${server.host}:${server.port}`, `127.0.0.1:${relay.port}`);
      expect(await refusal(copied({ file }, { url }))).toContain("cannot be copied: the connection broke off");
      expect(await tablesIn(to.name)).toBe(0);
      await copied({ file }, to);
    });

    test("if the server changes a value", async () => {
      const file = await fullStore();
      const to = await newDatabase();
      const relay = await startRelay(server, (client, behind) => {
        behind.pipe(client);
        client.on("data", (bytes: Buffer) =>
          behind.write(Buffer.from(bytes.toString("latin1").replace(/'reboot'/g, "'Reboot'"), "latin1")),
        );
      });
      onTestFinished(relay.close);
      const url = server.url(to.name).replace(`${server.host}:${server.port}`, `127.0.0.1:${relay.port}`);
      expect(await refusal(copied({ file }, { url }))).toMatch(/The copy of the table \w+ in \S+ is not the same/);
      expect(await tablesIn(to.name)).toBe(0);
    });
  });
});
