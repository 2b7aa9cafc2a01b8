import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { sql } from "kysely";
import { z } from "zod";
import { openCommands } from "../../src/store/commands.ts";
import { openReserve, reserveSize } from "../../src/store/disk-reserve.ts";
import { openIdempotency } from "../../src/store/idempotency.ts";
import { migrate } from "../../src/store/migrations.ts";
import { openNotifications } from "../../src/store/notifications.ts";
import { openRunMark } from "../../src/store/run-mark.ts";
import { openSamples } from "../../src/store/samples.ts";
import { SqliteConnection } from "../../src/store/sqlite-connection.ts";
import { openStore } from "../../src/store/store.ts";
import { newNotification } from "../notification-rows.ts";
import { within } from "../until.ts";
import { folders } from "./folder.ts";

// depends on: src/store/**, test/store/filled.ts

const folder = folders();
const now = () => 1_750_000_000_000;
const command = { minerId: 5, minerName: "rig", actor: "Ann", action: "stop", parameters: {} };

/** A store that may not grow: to SQLite it is full. */
async function fullStore() {
  let held = true;
  let spent = false;
  const connection = new SqliteConnection(":memory:", {
    durability: "normal",
    busyTimeoutMs: 0,
    reserve: {
      mayWrite: () => !spent,
      release: () => {
        const was = held;
        held = false;
        spent = true;
        return was;
      },
    },
  });
  await migrate(connection.tables);
  const mark = await openRunMark(connection, null, now);
  const commands = await openCommands(connection, mark, now);
  const notifications = await openNotifications(connection, mark, now);
  const samples = openSamples(connection);
  const idempotency = await openIdempotency(connection, now);
  const setPages = (count: number) => sql.raw(`pragma max_page_count = ${count}`).execute(connection.tables);
  await commands.add(command);
  // No less than there are.
  await setPages(1);
  return {
    connection,
    mark,
    commands,
    notifications,
    samples,
    idempotency,
    /** More than fits into the pages that there are. */
    message: "x".repeat(10_000),
    hasSpace: async () => {
      spent = false;
      await setPages(1_000_000);
    },
  };
}

describe("while the disk is full", () => {
  test("commands work: they are kept in memory, listed, and written once there is space", async () => {
    const { connection, commands, message, hasSpace } = await fullStore();
    const { id } = await commands.add({ ...command, actor: message });
    expect(id).toBe(2);
    expect(await commands.move(1, "failed", message)).toMatchObject({ state: "failed" });
    expect(await commands.move(2, "done", "OK")).toMatchObject({ id: 2, state: "done", message: "OK" });
    const listed = await commands.list();
    expect(listed.map(({ id, state }) => [id, state])).toEqual([
      [2, "done"],
      [1, "failed"],
    ]);
    expect(await commands.list({ actor: message })).toHaveLength(1);
    await expect(commands.flush()).rejects.toThrow("the disk is full; free some space");
    await hasSpace();
    await commands.flush();
    expect(await commands.list()).toEqual(listed);
    const rows = await connection.tables.selectFrom("command").select("id").execute();
    expect(rows).toEqual([{ id: 1 }, { id: 2 }]);
    connection.close();
  });

  test("answers to requests with a key are known, and written once there is space", async () => {
    const { connection, idempotency, message, hasSpace } = await fullStore();
    const of = { caller: "service", key: "one" };
    await idempotency.begin(of, "digest");
    await idempotency.end(of, "digest", message);
    expect(await idempotency.find(of)).toMatchObject({ request: "digest", answer: message });
    await hasSpace();
    await idempotency.flush();
    expect(await (await openIdempotency(connection, now)).find(of)).toMatchObject({
      request: "digest",
      answer: message,
    });
    connection.close();
  });

  test("notifications are listed, and written once there is space", async () => {
    const { connection, mark, notifications, message, hasSpace } = await fullStore();
    notifications.raise(newNotification({ message }));
    notifications.raise(newNotification());
    expect(notifications.list().map(({ id }) => id)).toEqual([2, 1]);
    await hasSpace();
    await notifications.flush();
    const again = await openNotifications(connection, mark, now);
    expect(again.list()).toEqual(notifications.list());
    connection.close();
  });

  test("samples are kept in memory, and can be read", async () => {
    const { connection, samples, hasSpace } = await fullStore();
    const rows = Array.from({ length: 6_000 }, (_, index) => ({
      minerId: 1,
      time: index,
      hashrate: 1,
      power: 1,
      temperature: 1,
      energy: 1,
    }));
    await expect(samples.append(rows)).rejects.toThrow("the disk is full");
    expect(await samples.read(1, 0, 6_000)).toHaveLength(6_000);
    await hasSpace();
    await samples.flush();
    expect(await samples.count(1, 0, 6_000)).toBe(6_000);
    connection.close();
  });

  test("deletions may use the reserve, and all other writes are then refused", async () => {
    const { connection, message, hasSpace } = await fullStore();
    const { tables } = connection;
    const grow = (id: number) => tables.insertInto("sequence").values({ collection: `${id} ${message}`, last: id });
    await expect(connection.write([grow(1)])).rejects.toThrow("the disk is full");
    // It needs more pages than there are, as a delete does in the write-ahead log.
    await expect(connection.free([grow(2)])).rejects.toThrow("the disk is full");
    const small = tables.insertInto("sequence").values({ collection: "small", last: 1 });
    await expect(connection.write([small])).rejects.toThrow("the disk is full");
    await connection.free([small]);
    await hasSpace();
    await connection.write([grow(3)]);
    connection.close();
  });
});

test("the reserve is a file of its size, is deleted when released, and is made again", () => {
  const store = join(folder(), "rigbridge.db");
  const file = `${store}.reserve`;
  const reserve = openReserve(store, false);
  expect(statSync(file).size).toBe(reserveSize);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(reserve.release()).toBe(true);
  expect(existsSync(file)).toBe(false);
  expect(reserve.release()).toBe(false);
  expect(reserve.mayWrite(() => undefined)).toBe(true);
  expect(statSync(file).size).toBe(reserveSize);
});

test("without space for a reserve the store can still be written", () => {
  const reserve = openReserve(join(folder(), "nowhere", "rigbridge.db"), false);
  expect(reserve.release()).toBe(false);
  expect(reserve.mayWrite(() => undefined)).toBe(true);
});

test("ids used on a full disk are not reused after the process was killed", async () => {
  const file = join(folder(), "rigbridge.db");
  await (await openStore({ file, now })).close();
  const all: { commands: number[]; notifications: number[] } = { commands: [], notifications: [] };
  for (let times = 0; times < 2; times += 1) {
    const child = spawn(process.execPath, [join(import.meta.dirname, "filled.ts"), file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const [said] = await within(once(child.stdout, "data"), "the other process to give ids");
    child.kill("SIGKILL");
    await within(ended, "the other process to end");
    const given = Given.parse(JSON.parse(String(said)));
    all.commands.push(...given.commands);
    all.notifications.push(...given.notifications);
  }
  const store = await openStore({ file, now });
  all.commands.push((await store.commands.add(command)).id);
  all.notifications.push(store.notifications.raise(newNotification())?.id ?? 0);
  const rows = await store.commands.list();
  await store.close();
  // Most of them were never on disk, and those that were are there.
  expect(rows.map(({ id }) => id)).toEqual([11, 7, 6, 2, 1]);
  const consecutive = Array.from({ length: 11 }, (_, index) => index + 1);
  expect(all).toEqual({ commands: consecutive, notifications: consecutive });
});

test("without the run file, ids that may be in use are skipped", async () => {
  const file = join(folder(), "rigbridge.db");
  const first = await openStore({ file, now });
  const { id } = await first.commands.add(command);
  await first.close();
  rmSync(`${file}.run`);
  const second = await openStore({ file, now });
  // As many as may have waited in memory.
  expect((await second.commands.add(command)).id).toBeGreaterThan(id + 10_000);
  await second.close();
});

const Given = z.object({ commands: z.array(z.int()), notifications: z.array(z.int()) });
