import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { openStore } from "../any-store.ts";
import { testOfFile } from "../test-of-file.ts";
import { until } from "../until.ts";
import { folders } from "./folder.ts";

const folder = folders();
const newFile = () => join(folder(), "rigbridge.db");
const now = () => 1_750_000_000_000;
const identity = { make: "Bitaxe", model: "Gamma", firmware: null, mac: null, hostname: null, serial: "7" };

describe("active pools", () => {
  test("keep their id across restarts and never get that of another", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const ids = (store: typeof first) => [
      store.activePools.idOf(1, "a:1", "w", 0),
      store.activePools.idOf(1, "a:1", "w", 1),
      store.activePools.idOf(1, "b:1", "w", 0),
      store.activePools.idOf(2, "b:1", "w", 0),
    ];
    expect(ids(first)).toEqual([1, 2, 3, 1]);
    await first.close();
    const second = await openStore({ file, now });
    expect(ids(second)).toEqual([1, 2, 3, 1]);
    expect(second.activePools.idOf(1, "c:1", "w", 0)).toBe(4);
    await second.activePools.forget(1);
    expect(second.activePools.idOf(2, "b:1", "w", 0)).toBe(1);
    await second.close();
  });

  testOfFile("get ids while the store cannot be written, and are written later", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const raw = new DatabaseSync(file);
    raw.exec("begin immediate");
    expect(first.activePools.idOf(1, "a:1", "w", 0)).toBe(1);
    raw.exec("rollback");
    raw.close();
    expect(first.activePools.idOf(1, "b:1", "w", 0)).toBe(2);
    await first.close();
    const second = await openStore({ file, now });
    expect([second.activePools.idOf(1, "b:1", "w", 0), second.activePools.idOf(1, "a:1", "w", 0)]).toEqual([2, 1]);
    await second.close();
  });

  testOfFile("of many rigs at once are written together", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    const other = new DatabaseSync(file);
    const changes = () => Number(Object.values(other.prepare("pragma data_version").get() ?? {})[0]);
    const rows = () => Number(other.prepare("select count(*) as rows from active_pool").get()?.rows);
    const before = changes();
    for (let id = 1; id <= 100; id += 1) for (const url of ["a:1", "b:1"]) store.activePools.idOf(id, url, "w", 0);
    await until(() => rows() > 0, "the pools to be written");
    expect([rows(), changes() - before]).toEqual([200, 1]);
    other.close();
    await store.close();
  });

  testOfFile("of a rig that keeps reporting new ones are bounded", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    for (let count = 0; count < 1_010; count++) store.activePools.idOf(1, `${count}:1`, "w", 0);
    await store.close();
    const raw = new DatabaseSync(file);
    expect(raw.prepare("select count(*) as rows, min(id) as first from active_pool").get()).toMatchObject({
      rows: 1_000,
      first: 11,
    });
    raw.close();
    const again = await openStore({ file, now });
    expect(again.activePools.idOf(1, "0:1", "w", 0)).toBe(1_011);
    await again.close();
  });
});

describe("the memory of a rig", () => {
  test("comes back with its energy", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    await first.memory.remember(1, { uid: "abc", identity, layout: { boards: [0, 2], fans: 4 } });
    const reason = { code: "hot", text: "It is too hot", since: 7 } as const;
    const records = { bestShare: 1.5e12, foundBlocks: 0 };
    await first.memory.remember(1, { startedAt: 5, software: "cgminer", reason, records });
    await first.memory.saveEnergy([
      { minerId: 1, energy: 12.5 },
      { minerId: 2, energy: 3 },
    ]);
    const kept = first.memory.all();
    expect(first.memory.get(1)).toEqual({
      minerId: 1,
      uid: "abc",
      driver: null,
      identity,
      controls: [],
      layout: { boards: [0, 2], fans: 4 },
      startedAt: 5,
      energy: 12.5,
      software: "cgminer",
      reason,
      records,
    });
    await first.close();
    const second = await openStore({ file, now });
    expect(second.memory.all()).toEqual(kept);
    await second.memory.forget(1);
    expect(second.memory.get(1)).toBeUndefined();
    await second.close();
  });

  test("a uid belongs to one miner until that one is deleted or has another", async () => {
    const store = await openStore({ file: ":memory:", now });
    await store.memory.remember(1, { uid: "abc" });
    await expect(store.memory.remember(2, { uid: "abc" })).rejects.toMatchObject({ code: "in.use" });
    expect(store.memory.get(2)).toBeUndefined();
    await store.memory.remember(1, { uid: "def" });
    await store.memory.remember(2, { uid: "abc" });
    await store.memory.forget(1);
    await store.memory.remember(3, { uid: "def" });
    expect(store.memory.all().map(({ uid }) => uid)).toEqual(["abc", "def"]);
    await store.close();
  });

  testOfFile("is written once for all rigs of a moment", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    const other = new DatabaseSync(file);
    const changes = () => Number(Object.values(other.prepare("pragma data_version").get() ?? {})[0]);
    const rows = () => other.prepare("select miner_id, uid, started_at from rig_memory order by 1").all();
    const before = changes();
    for (let id = 1; id <= 200; id += 1) {
      await store.memory.remember(id, { uid: `rig-${id}`, identity });
      await store.memory.remember(id, { startedAt: id });
    }
    await expect(store.memory.remember(201, { uid: "rig-7" })).rejects.toMatchObject({ code: "in.use" });
    expect([changes() - before, rows()]).toEqual([0, []]);
    await until(() => rows().length > 0, "the rows to be written");
    // The connection counts every commit of others that it meets.
    expect(changes() - before).toBe(1);
    expect(rows()).toHaveLength(200);
    expect(rows().at(-1)).toEqual({ miner_id: 200, uid: "rig-200", started_at: 200 });
    // Two that change their uids with each other.
    await store.memory.remember(1, { uid: null });
    await store.memory.remember(2, { uid: "rig-1" });
    await store.memory.remember(1, { uid: "rig-2" });
    await store.close();
    expect(
      rows()
        .slice(0, 2)
        .map(({ uid }) => uid),
    ).toEqual(["rig-2", "rig-1"]);
    other.close();
  });

  testOfFile("that cannot be written is refused from then on, and what was kept is written later", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    const raw = new DatabaseSync(file);
    raw.exec("begin immediate");
    await store.memory.remember(1, { uid: "one" });
    await expect(store.memory.flush()).rejects.toThrow(/cannot be written/);
    await expect(store.memory.remember(2, { uid: "two" })).rejects.toMatchObject({ code: "store.full" });
    expect([store.memory.get(1)?.uid, store.memory.get(2)]).toEqual(["one", undefined]);
    raw.exec("rollback");
    await store.memory.remember(2, { uid: "two" });
    expect(raw.prepare("select uid from rig_memory order by 1").all()).toEqual([{ uid: "one" }, { uid: "two" }]);
    raw.close();
    await store.close();
  });

  testOfFile("energy that could not be written is written with the next", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const raw = new DatabaseSync(file);
    raw.exec("begin immediate");
    await expect(first.memory.saveEnergy([{ minerId: 1, energy: 5 }])).rejects.toThrow(/cannot be written/);
    raw.exec("rollback");
    raw.close();
    await first.memory.saveEnergy([{ minerId: 2, energy: 6 }]);
    await first.close();
    const second = await openStore({ file, now });
    expect(second.memory.all().map(({ energy }) => energy)).toEqual([5, 6]);
    await second.close();
  });
});
