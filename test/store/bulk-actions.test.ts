import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { type BulkResult, openStore, type Store } from "../../src/store/store.ts";
import { folders } from "./folder.ts";

const folder = folders();
const newFile = () => join(folder(), "rigbridge.db");
const start = 1_750_000_000_000;
const now = () => start;

const job = {
  actor: "Ann",
  userId: 3,
  action: "set",
  parameters: { property: "fan", value: 40 },
  parallel: 16,
  delay: 0.5,
  dryRun: false,
};
const queued = (...minerIds: number[]): BulkResult[] =>
  minerIds.map((minerId) => ({ minerId, state: "queued", message: "" }));
const command = { minerId: 5, minerName: "Rig", actor: "Ann", action: "set", parameters: {} };
const told = async (store: Store, id: number) =>
  (await store.bulkActions.results(id)).map(({ minerId, state, message }) => `${minerId} ${state} ${message}`.trim());

describe("bulk actions", () => {
  test("are stored with a result for every miner, in the order of the request", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.bulkActions.add(job, queued(9, 5, 7));
    expect(await first.bulkActions.get(id)).toEqual({ ...job, id, time: now(), total: 3, state: "running" });
    expect(await first.bulkActions.claim(id, 5)).toBe(true);
    await first.bulkActions.end(id, { minerId: 5, state: "done", message: "OK, a 'word' of \"the rig\"" });
    await first.close();
    const second = await openStore({ file, now });
    expect(await second.bulkActions.running()).toEqual([{ ...job, id, time: now(), total: 3, state: "running" }]);
    expect(await second.bulkActions.queued(id)).toEqual([9, 7]);
    expect(await told(second, id)).toEqual(["9 queued", "5 done OK, a 'word' of \"the rig\"", "7 queued"]);
    await second.bulkActions.finish(id);
    expect(await second.bulkActions.running()).toEqual([]);
    expect(await second.bulkActions.get(id)).toMatchObject({ state: "done" });
    expect(await second.bulkActions.get(id + 1)).toBeUndefined();
    await second.close();
  });

  test("that are dry runs are done at once", async () => {
    const store = await openStore({ file: ":memory:", now });
    const dry = { ...job, dryRun: true, userId: null };
    const { id, state } = await store.bulkActions.add(dry, [{ minerId: 5, state: "possible", message: "" }]);
    expect(state).toBe("done");
    expect(await store.bulkActions.get(id)).toEqual({ ...dry, id, time: now(), total: 1, state: "done" });
    await store.close();
  });

  test("that are cancelled change only queued miners, and a miner is claimed once", async () => {
    const store = await openStore({ file: ":memory:", now });
    const { id } = await store.bulkActions.add(job, queued(1, 2, 3));
    expect(await store.bulkActions.claim(id, 1)).toBe(true);
    expect(await store.bulkActions.claim(id, 1)).toBe(false);
    expect(await store.bulkActions.cancel(id, "Not now")).toBe(2);
    expect(await store.bulkActions.claim(id, 2)).toBe(false);
    expect(await told(store, id)).toEqual(["1 sent", "2 cancelled Not now", "3 cancelled Not now"]);
    await store.bulkActions.finish(id);
    expect(await store.bulkActions.get(id)).toMatchObject({ state: "cancelled" });
    await store.close();
  });

  test("left by the last run take over the outcomes of their commands, and unsent miners are queued again", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.bulkActions.add(job, queued(1, 2, 3, 4, 5, 6));
    for (const minerId of [1, 2, 3, 4, 5]) await first.bulkActions.claim(id, minerId);
    const bound = async (minerId: number) => {
      const row = await first.commands.add(command);
      await first.bulkActions.bind(id, minerId, row.id);
      return row.id;
    };
    await bound(2);
    await first.commands.move(await bound(3), "sent", "");
    await first.commands.move(await bound(4), "done", "OK");
    await first.commands.move(await bound(5), "failed", "No");
    await first.close();
    const second = await openStore({ file, now });
    expect(await told(second, id)).toEqual([
      "1 queued",
      "2 queued",
      "3 unknown the service stopped before the rig answered",
      "4 done OK",
      "5 failed No",
      "6 queued",
    ]);
    // The process ends again, after one of them was restarted and interrupted.
    await second.bulkActions.claim(id, 2);
    await second.bulkActions.cancel(id, "Not now");
    await second.close();
    const third = await openStore({ file, now });
    expect((await told(third, id)).slice(0, 2)).toEqual([
      "1 cancelled Not now",
      "2 cancelled the service stopped before it was sent",
    ]);
    await third.close();
  });

  test("that have ended are kept for 30 days, up to a thousand, and their ids are never reused", async () => {
    const file = newFile();
    let time = start;
    const first = await openStore({ file, now: () => time });
    const { id: old } = await first.bulkActions.add(job, queued(1));
    await first.bulkActions.finish(old);
    const { id: running } = await first.bulkActions.add(job, queued(1));
    time += 30 * 86_400_000 + 1;
    await first.close();
    const second = await openStore({ file, now: () => time });
    expect(await second.bulkActions.get(old)).toBeUndefined();
    expect(await second.bulkActions.results(old)).toEqual([]);
    // It was given up for its age, and so it has ended.
    expect(await second.bulkActions.get(running)).toBeUndefined();
    const possible: BulkResult[] = [{ minerId: 1, state: "possible", message: "" }];
    for (let count = 0; count < 1_003; count += 1) await second.bulkActions.add({ ...job, dryRun: true }, possible);
    const kept = [running + 1, running + 2, running + 3, running + 1_003];
    const found = await Promise.all(kept.map(async (id) => (await second.bulkActions.get(id)) !== undefined));
    expect(found).toEqual([false, false, true, true]);
    await second.close();
    const raw = new DatabaseSync(file);
    raw.exec("delete from bulk_action");
    raw.close();
    const third = await openStore({ file, now: () => time });
    expect((await third.bulkActions.add(job, queued(1))).id).toBe(running + 1_004);
    await third.close();
  });
});

test("a store of version 1 gets the tables of bulk actions, and keeps its commands", async () => {
  const file = newFile();
  const first = await openStore({ file, now });
  await first.commands.add(command);
  await first.close();
  const raw = new DatabaseSync(file);
  raw.exec(
    "drop table bulk_action; drop table bulk_result; drop table power_memory; drop table group_energy; drop table source_value; drop table money_day; drop table money_total; drop table run; drop index command_actor; alter table rig_memory drop column reason; alter table rig_memory drop column records; pragma user_version = 1",
  );
  raw.exec("delete from migration where name > 'version-0001'");
  raw.close();
  const second = await openStore({ file, now });
  expect((await second.bulkActions.add(job, queued(5))).id).toBe(1);
  expect(await second.commands.list()).toHaveLength(1);
  await second.close();
});
