import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { plain, type Statement } from "../../src/store/database.ts";
import type { Holder, LeaseOptions, PostgresLease } from "../../src/store/lease.ts";
import { takePostgres } from "../../src/store/open-postgres.ts";
import type { PostgresConnection } from "../../src/store/postgres-connection.ts";
import { onTestFinished } from "../finished.ts";
import { until, within } from "../until.ts";
import { startLine } from "./line.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";

// depends on: src/store/**, test/store/*.ts

const suite = hasPostgres("the lease of a store in a real PostgreSQL") ? describe : describe.skip;

interface Active {
  readonly database: PostgresConnection;
  readonly lease: PostgresLease;
}

let server: Postgres;
const opened: Active[] = [];

const take = async (url: string, options: Partial<LeaseOptions> = {}): Promise<Active> => {
  const active = await takePostgres({ url, now: Date.now, site: "home", address: null, ...options });
  opened.push(active);
  return active;
};

const withoutSecret = (holder: Holder | null) => holder && { address: holder.address, epoch: holder.epoch };

const added = (value: string): Statement[] => [
  plain("insert into source_value (source, at, value) values (?, 0, ?)", value, value),
];
const keep = ({ database }: Active, value: string) => database.write(added(value));
const beats = async (database: string): Promise<number> =>
  Number((await server.run("select beat from rigbridge.lease", database))[0]?.beat);
const sleeping = async (database: string): Promise<number> =>
  (await server.run("select 1 from pg_stat_activity where wait_event = 'PgSleep'", database)).length;
const kept = async ({ database }: Active): Promise<unknown[]> =>
  (await database.rows(plain("select value from source_value order by source"))).map(({ value }) => value);

const lineTo = async (database: string) => {
  const line = await startLine(server);
  onTestFinished(() => line.close());
  return { ...line, url: line.urlOf(server.url(database)) };
};

suite("the lease", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const { database, lease } of opened.splice(0)) {
      await database.close();
      await lease.release();
    }
  });
  afterAll(() => server.stop());

  test("is held by one service; the next one has it when that gives it up", async () => {
    const url = server.url(await server.database());
    const first = await take(url, { address: "10.0.0.1:17790" });
    const holders: (Omit<Holder, "secret"> | null)[] = [];
    const second = take(url, { waiting: (holder) => holders.push(withoutSecret(holder)) });
    await until(() => holders.length > 0, "the second service to see the first");
    expect(holders).toEqual([{ address: "10.0.0.1:17790", epoch: 1 }]);
    await first.lease.release();
    expect((await second).lease).toMatchObject({ epoch: 2 });
    expect(first.lease.mayAct()).toBe(false);
    expect((await second).lease.mayAct()).toBe(true);
  });

  test("of a service that is cut off goes to another, and nothing that the first still writes is stored", async () => {
    const database = await server.database();
    const line = await lineTo(database);
    const first = await take(line.url);
    await keep(first, "before");
    const taking = take(server.url(database));
    line.cut();
    await until(() => !first.lease.mayAct(), "the first to stop acting");
    const second = await taking;
    await keep(second, "by the second");
    line.restore();
    await within(first.lease.lost, "the first to see that it has lost the lease");
    await expect(keep(first, "after")).rejects.toMatchObject({ code: "service.no.active" });
    expect(await kept(second)).toEqual(["before", "by the second"]);
    expect(first.lease.mayAct()).toBe(false);
  });

  test("stays with a service whose line breaks off for a moment", async () => {
    const database = await server.database();
    const line = await lineTo(database);
    const first = await take(line.url);
    const holders: (Omit<Holder, "secret"> | null)[] = [];
    const ended = new AbortController();
    const second = take(server.url(database), {
      signal: ended.signal,
      waiting: (holder) => holders.push(withoutSecret(holder)),
    });
    await until(() => holders.length > 0, "the second service to see the first");
    for (let round = 0; round < 3; round += 1) {
      line.restore();
      const before = await beats(database);
      await until(async () => (await beats(database)) > before, "the first to renew");
    }
    ended.abort();
    await expect(second).rejects.toThrow("aborted");
    expect(holders).toEqual([{ address: null, epoch: 1 }]);
    await keep(first, "still");
  });

  test("is renewed while a write takes longer than it lasts", async () => {
    const url = server.url(await server.database());
    const first = await take(url);
    const holders: (Omit<Holder, "secret"> | null)[] = [];
    const second = take(url, { waiting: (holder) => holders.push(withoutSecret(holder)) });
    await first.database.write([plain("select pg_sleep(4)")]);
    expect(first.lease.mayAct()).toBe(true);
    expect(holders).toEqual([{ address: null, epoch: 1 }]);
    await first.lease.release();
    await second;
  });

  test("is not taken while the last holder's write is still being done", async () => {
    const database = await server.database();
    const line = await lineTo(database);
    const first = await take(line.url);
    const written = keep(first, "before").then(() =>
      first.database.write([plain("select pg_sleep(6)"), ...added("late")]),
    );
    await until(async () => (await sleeping(database)) > 0, "the write to reach the server");
    line.cut();
    const second = await take(server.url(database));
    expect(await kept(second)).toEqual(["before", "late"]);
    line.restore();
    await expect(written).rejects.toMatchObject({ code: "service.store-away" });
  });

  test("stays with its holder when the database was away longer than it lasts", async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const url = own.url(await own.database());
    const first = await take(url);
    const holders: (Omit<Holder, "secret"> | null)[] = [];
    const ended = new AbortController();
    const second = take(url, { signal: ended.signal, waiting: (holder) => holders.push(withoutSecret(holder)) });
    await until(() => holders.length === 1, "the second service to see the first");
    await own.kill();
    await until(() => !first.lease.mayAct() && holders.length === 2, "both to see that the database is away");
    await own.start();
    await until(() => first.lease.mayAct(), "the first to renew");
    await until(() => holders.length === 3, "the second to see that");
    ended.abort();
    await expect(second).rejects.toThrow("aborted");
    expect(holders).toEqual([{ address: null, epoch: 1 }, null, { address: null, epoch: 1 }]);
    await keep(first, "still");
  });

  test("is that of one site, which the first service names", async () => {
    const url = server.url(await server.database());
    await take(url, { site: "barn" });
    const refused = take(url, { site: "attic" });
    await expect(refused).rejects.toMatchObject({ code: "store.refused" });
    await expect(refused).rejects.toThrow('holds the site "barn", and store.site is "attic"');
  });

  test("of services that start together is held by one", async () => {
    const url = server.url(await server.database());
    const ended = new AbortController();
    const taken: number[] = [];
    const all = Array.from({ length: 4 }, () =>
      take(url, { signal: ended.signal }).then(
        ({ lease }) => taken.push(lease.epoch),
        () => undefined,
      ),
    );
    await until(() => taken.length > 0, "one to have it");
    await opened[0]?.lease.release();
    await until(() => taken.length > 1, "the next to have it");
    ended.abort();
    await Promise.all(all);
    expect(taken).toEqual([1, 2]);
  });
});
