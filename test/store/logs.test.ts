import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, jest, test } from "@jest/globals";
import type { Store, StoredNotification } from "../../src/store/index.ts";
import { notificationLimit } from "../../src/store/notifications.ts";
import { openStore } from "../any-store.ts";
import { onTestFinished } from "../finished.ts";
import { newNotification } from "../notification-rows.ts";
import { testOfFile } from "../test-of-file.ts";
import { folders } from "./folder.ts";

const folder = folders();
const newFile = () => join(folder(), "rigbridge.db");
const start = 1_750_000_000_000;
const now = () => start;
/** An event is added at once; it neither repeats nor fails here. */
function add({ notifications }: Store, message: string): StoredNotification {
  const added = notifications.raise(newNotification({ minerId: 5, message, severity: "warning" }));
  if (added === null) throw new Error("nothing was added");
  return added;
}
const command = {
  minerId: 5,
  minerName: "Rig",
  actor: "Ann",
  action: "set",
  parameters: { property: "fan", value: 40 },
};

describe("notifications", () => {
  testOfFile("can be selected in any number, with a constant number of statements", async () => {
    const store = await openStore({ file: ":memory:", now });
    const { id } = add(store, "one");
    const prepared = jest.spyOn(DatabaseSync.prototype, "prepare");
    onTestFinished(() => prepared.mockRestore());
    for (const count of [1, 2, 3, 500, 40_000]) {
      const ids = Array.from({ length: count }, (_, index) => id + index);
      await store.notifications.acknowledge(ids);
      await store.notifications.clear(ids.slice(1));
    }
    const statements = new Set(prepared.mock.calls.map(([sql]) => sql));
    expect([...statements].filter((sql) => sql.includes("notification"))).toHaveLength(2);
    expect(store.notifications.list()).toMatchObject([{ id, isAcknowledged: true }]);
    await store.notifications.clear([id]);
    expect(store.notifications.list()).toEqual([]);
    await store.close();
  });

  test("are newest first, acknowledged and cleared, and survive a restart", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const one = add(first, "one");
    const two = add(first, "two");
    add(first, "three");
    await first.notifications.acknowledge([one.id]);
    await first.notifications.clear([two.id]);
    const kept = first.notifications.list();
    expect(kept.map(({ message, isAcknowledged, time }) => [message, isAcknowledged, time])).toEqual([
      ["three", false, start],
      ["one", true, start],
    ]);
    await first.close();
    const second = await openStore({ file, now });
    expect(second.notifications.list()).toEqual(kept);
    await second.notifications.acknowledge("all");
    expect(second.notifications.list().every(({ isAcknowledged }) => isAcknowledged)).toBe(true);
    await second.notifications.clear("all");
    expect(second.notifications.list()).toEqual([]);
    await second.close();
  });

  test("unknown ids change nothing", async () => {
    const store = await openStore({ file: ":memory:", now });
    const { id } = add(store, "one");
    await store.notifications.acknowledge([id + 1]);
    await store.notifications.clear([id + 1]);
    expect(store.notifications.list()).toMatchObject([{ id, isAcknowledged: false }]);
    await store.close();
  });

  test("the oldest are dropped when there are too many, on disk too", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    for (let count = 0; count < notificationLimit + 5; count++) add(first, `${count}`);
    const kept = first.notifications.list();
    expect(kept.length).toBe(notificationLimit);
    expect(kept.at(-1)?.message).toBe("5");
    await first.close();
    const second = await openStore({ file, now });
    expect(second.notifications.list()).toEqual(kept);
    await second.close();
  });
});

describe("commands", () => {
  test("move from queued to done and are found by miner, actor and time", async () => {
    let time = start;
    const store = await openStore({ file: ":memory:", now: () => time });
    const { id } = await store.commands.add(command);
    time += 1_000;
    await store.commands.add({ ...command, minerId: 6, actor: "Bob" });
    await store.commands.move(id, "done", "OK");
    expect(await store.commands.list({ minerIds: [5] })).toEqual([
      { ...command, cause: null, id, state: "done", message: "OK", time: start, updated: start + 1_000 },
    ]);
    expect((await store.commands.list()).map(({ actor }) => actor)).toEqual(["Bob", "Ann"]);
    expect(await store.commands.list({ actor: "Bob", since: start + 1_000 })).toHaveLength(1);
    expect(await store.commands.list({ since: start + 1_001 })).toEqual([]);
    for (let count = 0; count < 1_000; count += 1) await store.commands.add({ ...command, minerId: 6 });
    expect(await store.commands.list({ minerIds: [5] })).toHaveLength(1);
    await expect(store.commands.move(9_999, "done", "")).rejects.toMatchObject({ code: "not.found" });
    await store.close();
  });

  test("left open by the last run are ended, so that nothing is sent twice", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    await first.commands.add(command);
    const { id: sent } = await first.commands.add(command);
    await first.commands.move(sent, "sent", "");
    const { id: done } = await first.commands.add(command);
    await first.commands.move(done, "done", "OK");
    await first.close();
    const second = await openStore({ file, now });
    expect((await second.commands.list()).map(({ state, message }) => [state, message])).toEqual([
      ["done", "OK"],
      ["unknown", "the service stopped before the rig answered"],
      ["failed", "the service stopped before it was sent"],
    ]);
    await second.close();
  });

  testOfFile("older than 400 days are dropped at opening, except the newest", async () => {
    const file = newFile();
    await fill(file, 10_003);
    const second = await openStore({ file, now: () => start + 400 * day });
    await second.close();
    expect(idsIn(file)).toEqual({ first: 1, count: 10_003 });
    const third = await openStore({ file, now: () => start + 400 * day + 1 });
    await third.close();
    expect(idsIn(file)).toEqual({ first: 4, count: 10_000 });
  });

  testOfFile("more than a million ids ago are dropped while the service runs, and no id is reused", async () => {
    const file = newFile();
    await fill(file, 150);
    const raw = new DatabaseSync(file);
    raw.exec(
      "insert into command select 1000050, time, updated, 1, '', '', '', '{}', 'done', '', null from command where id = 1",
    );
    raw.close();
    const store = await openStore({ file, now });
    for (let count = 0; count < 100; count += 1) await store.commands.add(command);
    await store.close();
    expect(idsIn(file)).toEqual({ first: 100, count: 152 });
  });

  const day = 86_400_000;

  /** So many commands of the same time, written at once. */
  const fill = async (file: string, count: number): Promise<void> => {
    await (await openStore({ file, now })).close();
    const raw = new DatabaseSync(file);
    raw.exec(`with recursive n(id) as (select 1 union all select id + 1 from n limit ${count})
      insert into command select id, ${start}, ${start}, 1, '', '', 'stop', '{}', 'done', '', null from n`);
    raw.close();
  };

  const idsIn = (file: string) => {
    const raw = new DatabaseSync(file);
    const row = raw.prepare("select min(id) as first, count(*) as count from command").get();
    raw.close();
    return { ...row };
  };
});
