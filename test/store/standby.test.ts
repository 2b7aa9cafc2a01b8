import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { activePoolRows } from "../../src/store/active-pools.ts";
import { openPostgresStore, type Store } from "../../src/store/index.ts";
import { StandbyReader, StandbyRows } from "../../src/store/standby-rows.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";
import { miner } from "./rows.ts";

// depends on: src/store/**, test/store/*.ts

const suite = hasPostgres("the memory of a waiting service, of a real PostgreSQL") ? describe : describe.skip;

let server: Postgres;

const open = (database: string): Promise<Store> =>
  openPostgresStore({ url: server.url(database), now: Date.now, site: "barn", address: null, leastInMemory: 0 });

const lookedAgain = async (database: string): Promise<unknown> => {
  const looks = "select state_change from pg_stat_activity where application_name = 'rigbridge standby'";
  const [look] = await server.run(`${looks} and datname = '${database}' and state = 'idle' and query = 'commit'`);
  return look?.state_change;
};

/** Of the last service. */
const leaseIn = async (database: string) => {
  const [{ holder, epoch } = {}] = await server.run("select holder, epoch from rigbridge.lease", database);
  return { holder: String(holder), epoch: Number(epoch) };
};

/** The names of channels, by what is read of their rows; `read` are those since it was last looked at. */
function namesOf(database: string, least = 0) {
  const read: string[] = [];
  const rows = new StandbyRows({
    from: "resource",
    where: "collection = 'channel'",
    key: "id",
    read: ({ value }: { value: string }) => {
      read.push(value);
      return value;
    },
  });
  const reader = new StandbyReader(server.url(database), [rows], least);
  onTestFinished(() => reader.close());
  const run = (sql: string) => server.run(`set search_path = rigbridge; ${sql}`, database);
  const put = (id: number, value: string) =>
    run(`insert into resource values ('channel', ${id}, 'store', null, 0, '${value}')
      on conflict (collection, id) do update set value = excluded.value`);
  const follow = async (count: number): Promise<void> => {
    reader.follow();
    await until(() => read.length === count, "all rows to be read");
    await until(async () => (await lookedAgain(database)) !== undefined, "the look to end");
  };
  const finish = async (): Promise<void> => reader.finish(await leaseIn(database));
  return { read, rows, reader, run, put, follow, finish };
}

suite("a waiting service", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const newStore = async (): Promise<string> => {
    const database = await server.database();
    await (await open(database)).close();
    return database;
  };

  test("reads only what was written since it last looked, also in a transaction that was open then", async () => {
    const { read, rows, finish, put, run, follow } = namesOf(await newStore());
    for (const id of [1, 2, 3, 4]) await put(id, `of ${id}`);
    await follow(4);
    await put(2, "changed");
    await put(5, "added");
    await run("delete from resource where id = 3");
    await run("begin; update resource set value = 'undone' where id = 4; rollback");
    await finish();
    expect(read.slice(4)).toEqual(["changed", "added"]);
    expect(rows.take()?.toSorted()).toEqual(["added", "changed", "of 1", "of 4"]);
    expect(rows.take()).toBeNull();
  });

  test("reads more rows than fit into one page", async () => {
    const { rows, finish, run, follow } = namesOf(await newStore());
    await run(
      "insert into resource select 'channel', id, 'store', null, 0, id::text from generate_series(1, 250) as id",
    );
    await follow(250);
    await finish();
    expect(rows.take()).toHaveLength(250);
  });

  test("finds what has changed while its connection was cut", async () => {
    const database = await newStore();
    const { read, rows, finish, run, put, follow } = namesOf(database);
    for (const id of [1, 2, 3]) await put(id, `of ${id}`);
    await follow(3);
    await run(
      "select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = 'rigbridge standby'",
    );
    await put(1, "changed");
    await run("delete from resource where id = 2");
    await until(() => read.length === 5, "all to be read again");
    await until(async () => (await lookedAgain(database)) !== undefined, "the look to end");
    await finish();
    expect(rows.take()?.toSorted()).toEqual(["changed", "of 3"]);
  });

  test("has nothing from a server at which this service does not have the lease", async () => {
    const database = await newStore();
    const { rows, reader, put, follow } = namesOf(database);
    await put(1, "of 1");
    await follow(1);
    const { holder, epoch } = await leaseIn(database);
    await reader.finish({ holder, epoch: epoch + 1 });
    expect(rows.take()).toBeNull();
  });

  test("has few rows not in memory, but more of them", async () => {
    const database = await newStore();
    const { rows, put, finish, follow, read } = namesOf(database, 3);
    for (const id of [1, 2]) await put(id, `of ${id}`);
    await follow(0);
    await put(3, "of 3");
    await finish();
    expect([read.length, rows.take()?.length]).toEqual([3, 3]);
  });

  test("does not wait for a server that does not answer", async () => {
    const database = await newStore();
    const { rows, run, put, follow, finish } = namesOf(database);
    await put(1, "of 1");
    await follow(1);
    const locked = run("begin; lock table resource; select pg_sleep(3600)").catch(() => undefined);
    const locks =
      "from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = 'rigbridge.resource'::regclass";
    await until(async () => (await server.run(`select pid ${locks}`, database)).length === 1, "the table to be locked");
    await finish();
    expect(rows.take()).toBeNull();
    await server.run(`select pg_terminate_backend(pid, 10000) ${locks}`, database);
    await locked;
  });

  test("has nothing of a store of another version, of damaged rows, or before it has begun to wait", async () => {
    const { rows, finish, run, put, follow } = namesOf(await newStore());
    await put(1, "of 1");
    await follow(1);
    await run("update store_version set version = version + 1");
    await finish();
    expect(rows.take()).toBeNull();

    const database = await newStore();
    let isRead = false;
    const damaged = new StandbyRows({
      from: "instance",
      key: "name",
      read: () => {
        isRead = true;
        return JSON.parse("{");
      },
    });
    const sound = activePoolRows();
    const other = new StandbyReader(server.url(database), [sound, damaged], 0);
    await other.finish(await leaseIn(database));
    expect(sound.take()).toBeNull();
    other.follow();
    await until(() => isRead, "the damaged row to be read");
    await other.finish(await leaseIn(database));
    expect([sound.take(), damaged.take()]).toEqual([null, null]);
    await other.close();
  });

  test("has what the active one has changed, when it takes its place", async () => {
    const database = await newStore();
    const active = await open(database);
    const rigs = await active.miners.addAndChange(
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((at) => miner(at)),
      new Map(),
    );
    const [first = 0, second = 0, third = 0] = rigs.map(({ id }) => id);
    for (const id of [first, second, third]) {
      await active.memory.remember(id, { uid: `uid-${id}`, energy: 10 });
      active.activePools.idOf(id, "stratum+tcp://pool:1", "worker", 0);
    }
    await active.flush();
    const opening = open(database);
    await until(async () => (await lookedAgain(database)) !== undefined, "the waiting service to have read all");
    await active.miners.change(third, { name: "changed" });
    await active.miners.remove(second);
    await active.memory.forget(second);
    await active.activePools.forget(second);
    const { id: fourth } = await active.miners.add(miner("10.0.0.4"));
    await active.memory.remember(third, { uid: "uid-new" });
    await active.memory.saveEnergy([{ minerId: first, energy: 11.5 }]);
    expect(active.activePools.idOf(third, "stratum+tcp://pool:2", "worker", 0)).toBe(2);
    const [all, memories] = [active.miners.all(), active.memory.all()];
    await active.close();
    const store = await opening;
    onTestFinished(() => store.close());
    expect(store.miners.all()).toEqual(all);
    expect(store.miners.all().map(({ id }) => id)).toEqual([first, third, fourth]);
    expect(store.memory.all()).toEqual(memories);
    expect(store.memory.get(first)).toMatchObject({ uid: `uid-${first}`, energy: 11.5 });
    expect(store.memory.get(second)).toBeUndefined();
    expect(store.activePools.idOf(third, "stratum+tcp://pool:2", "worker", 0)).toBe(2);
    expect(store.activePools.idOf(first, "stratum+tcp://pool:9", "worker", 0)).toBe(2);
  });
});
