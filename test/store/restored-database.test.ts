import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Holder, LeaseOptions } from "../../src/store/lease.ts";
import { takePostgres } from "../../src/store/open-postgres.ts";
import { openPostgresStore, type Store } from "../../src/store/store.ts";
import { onTestFinished } from "../finished.ts";
import { until, within } from "../until.ts";
import { folders } from "./folder.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";

// depends on: src/store/**, test/store/*.ts

const suite = hasPostgres("restored databases in a real PostgreSQL") ? describe : describe.skip;
const folder = folders();
const now = () => 1_750_000_000_000;
const command = { minerId: 1, minerName: "Rig", actor: "Ann", action: "reboot", parameters: {} };
const run = { actor: "Ann", userId: null, action: "reboot", parameters: {}, parallel: 1, delay: 0, dryRun: false };

let server: Postgres;

const open = async (database: string, options: Partial<LeaseOptions> = {}): Promise<Store> => {
  const store = await openPostgresStore({ url: server.url(database), now, site: "home", address: null, ...options });
  onTestFinished(() => store.close());
  return store;
};

const refusal = async (opening: Promise<Store>): Promise<string> => {
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "RigbridgeError", code: "store.refused" });
  return String(error);
};

/** Also ends all connections, as whoever restores a database does. */
const copy = async (from: string, to: string): Promise<void> => {
  await server.run(`drop database if exists ${to} with (force)`);
  await server.run(`alter database ${from} allow_connections false`);
  await server.run(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${from}' and pid <> pg_backend_pid()`,
  );
  await server.run(`create database ${to} template ${from}`);
  await server.run(`alter database ${from} allow_connections true`);
};

const leaseOf = async (database: string) => {
  const [lease] = await server.run("select epoch, beat from rigbridge.lease", database);
  return { epoch: Number(lease?.epoch), beat: Number(lease?.beat) };
};
/** As after some time of renewals. */
const renewed = (database: string, times: number) =>
  server.run(`update rigbridge.lease set beat = beat + ${times}`, database);

suite("a database that was restored from a backup", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("is refused; once accepted, nothing that was under way goes on, and numbers and epochs are new", async () => {
    const [database, markFile] = [await server.database(), join(folder(), "rigbridge.db.lease")];
    const first = await open(database, { markFile });
    const { id } = await first.runs.add(run, [{ minerId: 1, state: "queued", message: "" }]);
    await first.commands.add(command);
    await first.close();
    await copy(database, `${database}_backup`);
    const second = await open(database, { markFile });
    expect((await second.runs.running()).map((each) => each.id)).toEqual([id]);
    const last = await second.commands.add(command);
    await second.close();
    await copy(`${database}_backup`, database);
    await server.run("update rigbridge.command set state = 'queued'", database);
    const text = await refusal(open(database, { markFile }));
    expect(text).toMatch(/older than this service has seen it \(epoch 1, renewal \d+; seen: epoch 2, renewal \d+\)/);
    expect(text).toContain("start one service once with --accept-restored. Nothing was changed.");
    expect((await leaseOf(database)).epoch).toBe(1);
    const accepted = await open(database, { markFile, acceptRestored: true });
    expect(accepted.lease).toMatchObject({ isRestored: true, epoch: 1002 });
    expect(await accepted.runs.running()).toEqual([]);
    expect((await accepted.runs.results(id)).map(({ state }) => state)).toEqual(["unknown"]);
    const [restored] = await accepted.commands.list();
    expect(restored).toMatchObject({ state: "unknown", message: expect.stringContaining("restored from a backup") });
    expect((await accepted.commands.add(command)).id).toBeGreaterThan(last.id + 10_000);
    await accepted.close();
    const after = await open(database, { markFile });
    expect(after.lease).toMatchObject({ isRestored: false, epoch: 1003 });
  });

  test("is accepted by a service that has not seen it, too", async () => {
    const database = await server.database();
    const first = await open(database);
    const { id } = await first.runs.add(run, [{ minerId: 1, state: "queued", message: "" }]);
    const last = await first.commands.add(command);
    await first.close();
    const accepted = await open(database, { markFile: join(folder(), "none"), acceptRestored: true });
    expect(accepted.lease).toMatchObject({ isRestored: true, epoch: 1001 });
    expect((await accepted.runs.results(id)).map(({ state }) => state)).toEqual(["unknown"]);
    expect((await accepted.commands.add(command)).id).toBeGreaterThan(last.id + 10_000);
  });

  test("counts as restored until its rows are settled, also if the start that accepted it has ended before", async () => {
    const [database, markFile] = [await server.database(), join(folder(), "rigbridge.db.lease")];
    const first = await open(database, { markFile });
    const last = await first.commands.add(command);
    await first.close();
    const url = server.url(database);
    const early = await takePostgres({ url, now, site: "home", address: null, markFile, acceptRestored: true });
    await early.database.close();
    await early.lease.release();
    const second = await open(database, { markFile });
    expect(second.lease).toMatchObject({ isRestored: true, epoch: 1002 });
    expect((await second.commands.get(last.id))?.state).toBe("unknown");
    expect((await second.commands.add(command)).id).toBeGreaterThan(last.id + 10_000);
    await second.close();
    expect((await open(database, { markFile })).lease?.isRestored).toBe(false);
  });

  test("is refused by its renewals when its backup was made in the same epoch", async () => {
    const [database, markFile] = [await server.database(), join(folder(), "rigbridge.db.lease")];
    const first = await open(database, { markFile });
    await first.close();
    await copy(database, `${database}_backup`);
    await renewed(database, 1000);
    // A service that waits sees the renewals.
    await server.run("update rigbridge.lease set holder = 'another'", database);
    const ended = new AbortController();
    const holders: (Holder | null)[] = [];
    const waiting = (holder: Holder | null): void => {
      holders.push(holder);
    };
    const waits = open(database, { markFile, signal: ended.signal, waiting });
    await until(() => holders.length > 0, "the service to wait");
    ended.abort();
    await expect(waits).rejects.toThrow("aborted");
    await copy(`${database}_backup`, database);
    expect(await refusal(open(database, { markFile }))).toMatch(/epoch 1, renewal \d+; seen: epoch 1, renewal 10\d\d/);
  });

  test("is not what lost only its last seconds when a standby server took over", async () => {
    const [database, markFile] = [await server.database(), join(folder(), "rigbridge.db.lease")];
    await (await open(database, { markFile })).close();
    const { epoch, beat } = await leaseOf(database);
    const [, instance] = /^(\w+) 1 \d+\n$/.exec(readFileSync(markFile, "utf8")) ?? [];
    writeFileSync(markFile, `${instance} ${epoch} ${beat + 20}\n`);
    await (await open(database, { markFile })).close();
    writeFileSync(markFile, `${instance} ${epoch + 1} ${(await leaseOf(database)).beat + 21}\n`);
    await refusal(open(database, { markFile }));
  });

  test("is refused by services that run, too: the active one stops, the waiting one ends", async () => {
    const [database, inFolder] = [await server.database(), folder()];
    await (await open(database)).close();
    await copy(database, `${database}_backup`);
    const active = await open(database, { markFile: join(inFolder, "one.lease") });
    const holders: (Holder | null)[] = [];
    const waiting = (holder: Holder | null) => holders.push(holder);
    const refused = refusal(open(database, { markFile: join(inFolder, "other.lease"), waiting }));
    await until(() => holders.length > 0, "the other service to wait");
    await copy(`${database}_backup`, database);
    await within(active.lease?.lost ?? Promise.reject(), "the active service to stop");
    expect(active.lease?.mayAct()).toBe(false);
    expect(await refused).toContain("--accept-restored");
    expect((await leaseOf(database)).epoch).toBe(1);
  });

  test("of the same epoch stops the active service, which holds its lease by that backup", async () => {
    const [database, markFile] = [await server.database(), join(folder(), "rigbridge.db.lease")];
    const active = await open(database, { markFile });
    await copy(database, `${database}_backup`);
    await renewed(database, 1000);
    await until(() => / 1 1\d\d\d\n/.test(readFileSync(markFile, "utf8")), "the service to see its renewals");
    await copy(`${database}_backup`, database);
    await within(active.lease?.lost ?? Promise.reject(), "the active service to stop");
    await active.close();
    await refusal(open(database, { markFile }));
  });

  test("is used by a service that has not seen it, has seen another one, or whose file says nothing", async () => {
    const [database, inFolder] = [await server.database(), folder()];
    const [none, other, damaged] = ["none", "other", "damaged"].map((name) => join(inFolder, name));
    if (other === undefined || damaged === undefined || none === undefined) throw new Error("three names");
    writeFileSync(other, `${"0".repeat(32)} 99 99\n`);
    writeFileSync(damaged, "\0\0");
    for (const markFile of [none, other, damaged]) {
      const store = await open(database, { markFile });
      expect(store.lease?.isRestored).toBe(false);
      await store.close();
      expect(readFileSync(markFile, "utf8")).toMatch(/^[0-9a-f]{32} \d+ \d+\n$/);
    }
    const unwritable = join(inFolder, "nowhere", "file");
    await (await open(database, { markFile: unwritable })).close();
    expect(existsSync(unwritable)).toBe(false);
  });
});
