import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { storeVersion } from "../../src/store/migrations.ts";
import { openStore } from "../../src/store/store.ts";
import { newNotification } from "../notification-rows.ts";
import { folders } from "./folder.ts";

// depends on: test/store/fixtures/*

/** Stores as earlier versions of Rigbridge wrote them, each with a row in every table. */
const fixtures = new URL("fixtures/", import.meta.url);
const earlier = readdirSync(fixtures);
const folder = folders();
const start = 1_750_000_000_000;
const [one, two, three] = [1_000_000_001, 1_000_000_003, 1_000_000_004];

function storeOf(fixture: string): string {
  const file = join(folder(), "rigbridge.db");
  const raw = new DatabaseSync(file);
  raw.exec(readFileSync(new URL(fixture, fixtures), "utf8"));
  raw.close();
  return file;
}

const contents = (file: string): Record<string, unknown[]> => {
  const raw = new DatabaseSync(file, { readOnly: true });
  const tables = raw.prepare("select name from sqlite_master where type = 'table' order by name").all();
  const rows = tables.map(({ name }): [string, unknown[]] => [
    String(name),
    raw.prepare(`select * from "${name}"`).all(),
  ]);
  raw.close();
  return Object.fromEntries(rows);
};

/** What is settled at opening, and what is SQLite's or the migrations' own. */
const settled = new Set(["command", "bulk_action", "bulk_result", "migration", "migration_lock", "run"]);

test("there are stores of earlier versions, and none of the current one", () => {
  const versions = earlier.map((name) => Number(/^version-(\d+)\.sql$/.exec(name)?.[1]));
  expect(versions).toContain(3);
  expect(versions.filter((version) => !(version < storeVersion))).toEqual([]);
});

describe.each(earlier)("the store %s", (fixture) => {
  test("has a row in every table", () => {
    const empty = Object.entries(contents(storeOf(fixture))).filter(([, rows]) => rows.length === 0);
    expect(empty).toEqual([]);
  });

  test("is opened and upgraded, and keeps everything", async () => {
    const file = storeOf(fixture);
    const before = contents(file);
    const store = await openStore({ file, now: () => start });
    await store.close();
    const after = contents(file);
    // A later version may add columns.
    for (const [table, rows] of Object.entries(before))
      if (!settled.has(table)) expect([table, after[table]]).toMatchObject([table, rows]);
    const raw = new DatabaseSync(file, { readOnly: true });
    expect(raw.prepare("pragma user_version").get()).toMatchObject({ user_version: storeVersion });
    expect(raw.prepare("pragma integrity_check").get()).toMatchObject({ integrity_check: "ok" });
    raw.close();
  });

  test("is kept as it was beside the upgraded one, with one other copy at most", async () => {
    const file = storeOf(fixture);
    const [, version] = /-(\d+)\.sql$/.exec(fixture) ?? [];
    const before = contents(file);
    for (const [age, earlierVersion] of [1, 2].entries()) {
      writeFileSync(`${file}.version-${earlierVersion}`, "");
      utimesSync(`${file}.version-${earlierVersion}`, 0, 1_000 - age);
    }
    const copies: (string | null)[] = [];
    await (await openStore({ file, now: () => start, upgrading: (copy) => copies.push(copy) })).close();
    expect(copies).toEqual([`${file}.version-${version}`]);
    expect(contents(copies[0] ?? "")).toEqual(before);
    const left = readdirSync(dirname(file)).filter((name) => name.includes(".version-"));
    expect(left).toEqual(["rigbridge.db.version-1", `rigbridge.db.version-${version}`]);
    await (await openStore({ file, now: () => start, upgrading: (copy) => copies.push(copy) })).close();
    expect(copies).toHaveLength(1);
  });

  test("is read as it was written", async () => {
    const store = await openStore({ file: storeOf(fixture), now: () => start });
    expect(store.miners.all().map(({ id, name, owner, key, disabled }) => [id, name, owner, key, disabled])).toEqual([
      [one, "Declared", "file", "one", false],
      [one + 1, "No longer declared", "file", "gone", true],
      [two, "Added", "store", null, false],
      [three, null, "store", null, false],
    ]);
    expect(store.miners.get(two)).toMatchObject({
      password: "rig-password",
      token: "rig-token",
      tags: ["s19", "cellar"],
      supply: { type: "shelly", channel: 1, password: "plug-password", cutPower: true, delay: 20 },
    });
    expect(store.miners.get(three)?.supply).toMatchObject({ type: "mqtt", topics: { set: "tele/plug/set" } });
    expect(store.groups.all().map(({ name, parentId }) => [name, parentId])).toEqual([
      ["Hall", 0],
      ["Row 1", 1],
    ]);
    expect(store.pools.all().map(({ description, plainWorkerPassword }) => [description, plainWorkerPassword])).toEqual(
      [
        ["First", "worker-password"],
        ["Second", "worker-password"],
      ],
    );
    expect(store.poolGroups.all()).toMatchObject([{ name: "Both", pools: [1, 2] }]);
    expect(store.hosts.all()).toMatchObject([{ hostname: "shed.lan" }]);
    expect(store.managedMiners.all()).toMatchObject([{ softwareType: "XmrigMiner", hostId: 1 }]);
    expect([...store.templates.all(), ...store.rules.all()].map(({ name }) => name)).toEqual(["Winter", "Too hot"]);
    expect(store.coins.all().map(({ shortName, profit, profitUsd }) => [shortName, profit, profitUsd])).toEqual([
      ["BTC", 0.00000051, null],
      ["OWN", null, 1.25],
    ]);
    expect(store.users.all().map(({ name, privilege, groups, pools }) => [name, privilege, groups, pools])).toEqual([
      ["Ann", "control", [2], null],
      ["Bob", "view", null, [2]],
    ]);
    expect(store.heatings.all()).toMatchObject([{ key: "living", target: 22.5, setAt: start }]);
    expect(store.memory.get(one)).toMatchObject({ uid: "aabbccddee01", driver: "axeos", energy: 1234.5 });
    expect(store.memory.get(one)?.controls.map(({ key }) => key)).toEqual(["mining", "fan"]);
    expect(store.memory.get(two)).toMatchObject({ identity: { serial: "SER-2" }, energy: 99_999.25 });
    expect(store.power.get(one)).toMatchObject({ full: 18.5, before: { frequency: 525 } });
    expect(store.activePools.idOf(one, "stratum+tcp://other.example:3333", "worker", 0)).toBe(2);
    expect(store.notifications.list().map(({ id, title, isAcknowledged }) => [id, title, isAcknowledged])).toEqual([
      [2, null, false],
      [1, "Offline", true],
    ]);
    expect(await store.samples.read(one, 0, start)).toHaveLength(6);
    expect(await store.samples.read(two, 0, start)).toHaveLength(6);
    expect(store.notifications.raise(newNotification())?.id).toBe(3);
    expect(
      (await store.commands.add({ minerId: one, minerName: "", actor: "", action: "stop", parameters: {} })).id,
    ).toBe(6);
    await store.close();
  });

  test("resumes nothing that was under way, because it may be a backup", async () => {
    const store = await openStore({ file: storeOf(fixture), now: () => start + 5_000 });
    expect(await store.runs.running()).toEqual([]);
    expect(await store.runs.get(3)).toMatchObject({
      action: "reboot",
      state: "cancelled",
      delay: 1.5,
      userId: 1,
    });
    expect((await store.runs.results(3)).map(({ minerId, state }) => [minerId, state])).toEqual([
      [one, "unknown"],
      [two, "unknown"],
      [three, "unknown"],
    ]);
    expect((await store.runs.results(1)).map(({ state }) => state)).toEqual(["done", "cancelled"]);
    expect((await store.commands.list()).map(({ id, state }) => [id, state])).toEqual([
      [5, "unknown"],
      [4, "unknown"],
      [3, "unknown"],
      [2, "failed"],
      [1, "done"],
    ]);
    await store.close();
  });
});
