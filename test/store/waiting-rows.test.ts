import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import type { Statement } from "../../src/store/database.ts";
import { recentRows } from "../../src/store/samples.ts";
import { openPostgresStore, type Sample, type Store } from "../../src/store/store.ts";
import { WaitingRows } from "../../src/store/waiting-rows.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { flushed } from "./flushed.ts";
import { folders } from "./folder.ts";
import { startLine } from "./line.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";

// depends on: src/store/**, test/store/*.ts

const suite = hasPostgres("samples that wait for a database") ? describe : describe.skip;
const folder = folders();
const time = Date.UTC(2026, 4, 1, 12);

const hearing = () => {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  return { said, log: { info: say, warn: say } };
};
const sample = (at: number): Sample => ({
  minerId: 7,
  time: time + at,
  hashrate: 1e14 + at,
  power: 3_250.5,
  temperature: null,
  energy: 1_000 + at / 3,
});
const filesIn = (place: string): string[] => readdirSync(place).map((name) => join(place, name));
const only = (place: string): string => {
  const [file, ...others] = filesIn(place);
  if (file === undefined || others.length > 0) throw new Error(`${others.length + 1} files`);
  return file;
};
const rows = (...times: number[]) => [recentRows(times.map((at) => [0, 7, at, 1.5, null, null, null]))];
const open = (place: string, log = hearing().log) => WaitingRows.open({ folder: place, log }, [recentRows([]).upsert]);
/** The times of the rows that are written. */
const written = async (waiting: WaitingRows): Promise<unknown[]> => {
  const times: unknown[] = [];
  await waiting.flush(async (statements) => {
    for (const each of statements) if ("rows" in each) times.push(...each.rows.map(([, , at]) => at));
  });
  return times;
};

let server: Postgres;
const stores: Store[] = [];
const openOver = async (url: string, place: string, log = hearing().log): Promise<Store> => {
  const store = await openPostgresStore({
    url,
    now: () => time,
    timeoutMs: 2_000,
    site: "home",
    address: null,
    beside: { folder: place, commands: join(place, "..", "commands"), log },
  });
  stores.push(store);
  return store;
};

suite("samples that wait for a database that is away", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  afterAll(() => server.stop());

  test("are in private files, and written once it is back, each once", async () => {
    const line = await startLine(server);
    onTestFinished(() => line.close());
    const url = line.urlOf(server.url(await server.database()));
    const [place, { said, log }] = [join(folder(), "waiting"), hearing()];
    const store = await openOver(url, place, log);
    await store.samples.append([sample(0)]);
    expect(store.waiting()).toEqual({ bytes: 0, dropped: 0 });
    line.cut();
    await store.samples.append([sample(1), sample(2)]);
    await store.samples.append([sample(2), sample(3)]);
    const moment = { groupId: 0, time, power: 5, mining: 1, total: 1, revenue: null, cost: null, profit: null };
    const hashrates = [{ groupId: 0, time, algorithm: "SHA-256", hashrate: 9, miners: 1 }];
    await store.farmSamples.append({ currency: "USD", samples: [moment], hashrates });
    const own = join(place, store.instance);
    const file = only(own);
    expect([statSync(own).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(store.waiting()).toEqual({ bytes: statSync(file).size, dropped: 0 });
    await expect(store.flush()).rejects.toMatchObject({ code: "service.store-away" });
    expect(said).toEqual([`The database of the store is away; samples wait in ${own}`]);
    line.restore();
    await flushed(store, "the samples to be written");
    expect(await store.samples.read(7, 0, time + 10)).toEqual([0, 1, 2, 3].map(sample));
    const query = { groups: [0], from: 0, to: time + 10, step: 0, currency: "USD", algorithm: "SHA-256" };
    expect(await store.farmSamples.read(query)).toMatchObject([{ time, power: 5, hashrate: 9 }]);
    expect([store.waiting(), filesIn(own)]).toEqual([{ bytes: 0, dropped: 0 }, []]);
    expect(said.slice(1)).toEqual(["6 samples that waited for the database of the store are written"]);
  });

  test("outlive a service that is killed, and are written by it when it is active again", async () => {
    const database = await server.database();
    const line = await startLine(server);
    onTestFinished(() => line.close());
    const place = folder();
    const killed = await openOver(line.urlOf(server.url(database)), place);
    line.cut();
    await killed.samples.append([sample(1)]);
    const next = await openOver(server.url(database), place);
    await next.samples.append([sample(1), sample(2)]);
    await next.flush();
    expect(await next.samples.read(7, 0, time + 10)).toEqual([1, 2].map(sample));
    expect(filesIn(join(place, next.instance))).toEqual([]);
    line.restore();
    stores.shift();
    await killed.close().catch(() => undefined);
  });

  test("that the disk does not take are written to the database once it is back", async () => {
    const line = await startLine(server);
    onTestFinished(() => line.close());
    const place = join(folder(), "waiting");
    const store = await openOver(line.urlOf(server.url(await server.database())), place);
    line.cut();
    await store.samples.append([sample(1)]);
    const full = Object.assign(new Error("full"), { code: "ENOSPC" });
    const keep = jest.spyOn(WaitingRows.prototype, "keep").mockRejectedValue(full);
    onTestFinished(() => keep.mockRestore());
    await expect(store.samples.append([sample(2)])).rejects.toMatchObject({ code: "service.store-away" });
    line.restore();
    const append = (): Promise<boolean> =>
      store.samples.append([sample(3)]).then(
        () => true,
        () => false,
      );
    await until(append, "the samples to be written");
    expect(await store.samples.read(7, 0, time + 10)).toEqual([1, 2, 3].map(sample));
    expect(store.waiting()).toEqual({ bytes: 0, dropped: 0 });
  });

  test("are not written to another store that is opened beside the same files", async () => {
    const line = await startLine(server);
    onTestFinished(() => line.close());
    const place = join(folder(), "waiting");
    const killed = await openOver(line.urlOf(server.url(await server.database())), place);
    line.cut();
    await killed.samples.append([sample(1)]);
    const stop = { minerId: 7, minerName: "Rig", actor: "rule:hot", action: "stop", parameters: {} };
    await killed.commands.add(stop, undefined, true);
    const other = await openOver(server.url(await server.database()), place);
    await other.flush();
    expect([await other.samples.read(7, 0, time + 10), await other.commands.list()]).toEqual([[], []]);
    expect(only(join(place, killed.instance))).toEqual(expect.anything());
    line.restore();
    await flushed(killed, "the samples to be written to their own store");
    expect(await killed.samples.read(7, 0, time + 10)).toEqual([sample(1)]);
    await until(async () => (await killed.commands.list()).length === 1, "the command to be written to its own store");
  });

  test("are in memory if their folder cannot be made, and it is said", async () => {
    const line = await startLine(server);
    onTestFinished(() => line.close());
    const [place, { said, log }] = [join(folder(), "waiting"), hearing()];
    writeFileSync(place, "");
    const store = await openOver(line.urlOf(server.url(await server.database())), place, log);
    expect(said).toEqual([
      `Samples wait in memory only while the database is away: ${join(place, store.instance)} cannot be used (ENOTDIR)`,
    ]);
    line.cut();
    await expect(store.samples.append([sample(1)])).rejects.toMatchObject({ code: "service.store-away" });
    line.restore();
    await flushed(store, "the samples to be written");
    expect([await store.samples.read(7, 0, time + 10), store.waiting()]).toEqual([[sample(1)], null]);
  });

  test("that the database refuses are left out, and said", async () => {
    const place = folder();
    const url = server.url(await server.database());
    const { instance, close } = await openOver(url, place);
    stores.pop();
    await close();
    const waiting = await open(join(place, instance));
    await waiting.keep([...rows(1), ...rows(2.5), ...rows(3)]);
    const { said, log } = hearing();
    const store = await openOver(url, place, log);
    await store.flush();
    expect(said[0]).toMatch(/^1 samples that waited are left out: .* refused a write \(SQLSTATE 22P02\)$/);
    expect(said.slice(1)).toEqual(["2 samples that waited for the database of the store are written"]);
  });
});

describe("the files of waiting samples", () => {
  test("keep whole rows when they are cut or damaged anywhere, and it is said", async () => {
    const place = folder();
    const { said, log } = hearing();
    const before = await open(place);
    for (const at of [1, 2, 3]) await before.keep(rows(at));
    const file = only(place);
    const whole = readFileSync(file);
    expect(await written(await open(place))).toEqual([1, 2, 3]);
    const third = whole.length / 3;
    for (let length = 0; length < whole.length; length += 1) {
      writeFileSync(file, whole.subarray(0, length));
      const expected = [1, 2, 3].slice(0, Math.floor(length / third));
      expect(await written(await open(place, log))).toEqual(expected);
    }
    expect(said).toContain(`1 of 3 batches of samples in ${file} are damaged and left out`);
    writeFileSync(file, whole.toString().replace("1.5", "2.5"));
    expect(await written(await open(place))).toEqual([2, 3]);
    writeFileSync(file, "");
    appendFileSync(file, Buffer.from([0xff, 10, 0, 10]));
    expect(await written(await open(place))).toEqual([]);
    expect(filesIn(place)).toEqual([]);
  });

  test("stay as they are while their rows cannot be written", async () => {
    const place = folder();
    const waiting = await open(place);
    await waiting.keep(rows(1));
    const away = new Error("away");
    const refuse = (_: readonly Statement[]) => Promise.reject(away);
    await expect(waiting.flush(refuse)).rejects.toBe(away);
    await waiting.keep(rows(2));
    expect(await written(waiting)).toEqual([1, 2]);
  });

  test("are none while the disk takes nothing, and begin again when it does", async () => {
    const place = folder();
    const { said, log } = hearing();
    const waiting = await open(place, log);
    rmSync(place, { recursive: true });
    for (const at of [1, 2]) await expect(waiting.keep(rows(at))).rejects.toMatchObject({ code: "ENOENT" });
    expect([waiting.isEmpty, said]).toEqual([true, []]);
    mkdirSync(place);
    await waiting.keep(rows(3));
    renameSync(place, `${place}.full`);
    await expect(waiting.keep(rows(4))).rejects.toMatchObject({ code: "ENOENT" });
    renameSync(`${place}.full`, place);
    await waiting.keep(rows(5));
    expect([filesIn(place).length, said.length]).toEqual([2, 1]);
    expect(await written(waiting)).toEqual([3, 5]);
  });

  test("are dropped after an hour, the oldest first, and it is said once", async () => {
    const { said, log } = hearing();
    const waiting = await open(folder(), log);
    const clock = jest.spyOn(performance, "now");
    onTestFinished(() => clock.mockRestore());
    for (let minute = 0; minute < 100; minute += 1) {
      clock.mockReturnValue(minute * 60_000);
      await waiting.keep(rows(minute));
    }
    const { bytes, dropped } = waiting.status;
    expect([bytes, dropped].map((each) => each > 1_000)).toEqual([true, true]);
    expect(said.slice(1)).toEqual([
      "The oldest samples that wait for the database of the store are dropped: they have waited for an hour",
    ]);
    expect(await written(waiting)).toEqual(Array.from({ length: 61 }, (_, index) => 39 + index));
    expect(said.at(-1)).toMatch(/^61 samples that waited .* are written; \d{4} bytes of others were dropped$/);
  });

  test("are dropped above their size, the oldest first", async () => {
    const place = folder();
    const names = [1, 2, 3].map((at) => `${String(at).padStart(15, "0")}-0123abcd.rows`);
    for (const name of [...names, "other.txt"]) {
      writeFileSync(join(place, name), "");
      truncateSync(join(place, name), 200 << 20);
    }
    const { said, log } = hearing();
    const waiting = await open(place, log);
    expect(waiting.status.bytes).toBe(600 << 20);
    await waiting.keep(rows(4));
    expect(readdirSync(place)).toEqual([expect.stringMatching(/^0*\d{13}-/), ...names.slice(1), "other.txt"].sort());
    expect(waiting.status).toEqual({ bytes: expect.any(Number), dropped: 200 << 20 });
    expect(said.at(-1)).toContain("are dropped: there are 512 MiB of them");
  });
});
