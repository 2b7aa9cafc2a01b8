import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { noTemplateProgram } from "../../src/contract/templates.ts";
import { openStore } from "../any-store.ts";
import { testOfFile } from "../test-of-file.ts";
import { folders } from "./folder.ts";
import { miner, pool } from "./rows.ts";

const folder = folders();
const now = () => 1_750_000_000_000;
const newFile = () => join(folder(), "rigbridge.db");

describe("a collection", () => {
  test("keeps added and changed rows across a restart, with the same ids", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const added = await first.miners.add(miner("10.0.0.1", { tags: ["a"], password: "secret-word" }));
    await first.miners.change(added.id, { name: "Garage", groupId: 3 });
    const kept = first.miners.all();
    await first.close();
    const second = await openStore({ file, now });
    expect(second.miners.all()).toEqual(kept);
    expect(second.miners.get(1_000_000_001)).toEqual({
      ...miner("10.0.0.1", { tags: ["a"], password: "secret-word", name: "Garage", groupId: 3 }),
      id: 1_000_000_001,
      owner: "store",
      key: null,
      disabled: false,
    });
    await second.close();
  });

  test("never reuses an id, not even after a restart", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.pools.add(pool("one"));
    await first.pools.remove(id);
    await first.close();
    const second = await openStore({ file, now });
    expect(second.pools.all()).toEqual([]);
    expect((await second.pools.add(pool("two"))).id).toBe(id + 1);
    await second.close();
  });

  test("throws not.found for an unknown id", async () => {
    const store = await openStore({ file: ":memory:", now });
    await expect(store.hosts.change(7, { hostname: "x" })).rejects.toMatchObject({ code: "not.found" });
    await expect(store.hosts.remove(7)).rejects.toMatchObject({ code: "not.found" });
    await store.close();
  });

  test("every kind of resource comes back as it was", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    await first.groups.add({ name: "Hall", parentId: 0 });
    await first.pools.add(pool("main"));
    await first.poolGroups.add({ name: "all", pools: [1, 2] });
    await first.hosts.add({ description: "shed", hostname: "shed.local", uid: "shed", groupId: 0, gpus: null });
    await first.managedMiners.add({
      description: "gpu",
      hostId: 1,
      isPoolGroup: false,
      poolId: 1,
      commandLineParams: "",
      softwareAutoDownload: true,
      softwareType: "XMRig",
      softwarePath: "",
      algorithm: "rx/0",
      dualAlgorithm: "",
      groupId: null,
      running: true,
      addedPools: [2],
      gpuSettings: [],
      idle: null,
      switching: null,
      switchedAt: null,
    });
    await first.templates.add({ name: "t", do: [{ set: "fan", value: 40 }], ...noTemplateProgram, makerId: 1 });
    await first.rules.add({ name: "r", do: [{ wait: 1 }], manual: true, makerId: null, definition: { key: "r" } });
    await first.schedules.add({ name: "s", makerId: null, definition: { key: "s" } });
    await first.maintenance.add({ name: "m", makerId: 3, definition: { name: "m" } });
    await first.repairs.add({ minerId: 1_000_000_001, note: "a fan", since: 5 });
    await first.coins.add({
      shortName: "BTC",
      name: "Bitcoin",
      algorithm: "SHA-256",
      coinClass: "PreDefined",
      profit: 1.5e-9,
      profitUsd: null,
      updated: null,
    });
    await first.users.add({ name: "Ann", keyHash: "ab", privilege: "view", groups: null, pools: [1] });
    const dump = (store: typeof first) =>
      [
        store.groups,
        store.pools,
        store.poolGroups,
        store.hosts,
        store.managedMiners,
        store.templates,
        store.rules,
        store.coins,
        store.users,
      ].map((each) => each.all());
    const before = dump(first);
    expect(before.map((rows) => rows.map(({ id }) => id))).toEqual(before.map(() => [1]));
    await first.close();
    const second = await openStore({ file, now });
    expect(dump(second)).toEqual(before);
    await second.close();
  });

  testOfFile("a damaged row is refused without quoting it", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    await first.pools.add(pool("main"));
    await first.close();
    const raw = new DatabaseSync(file);
    raw.exec(`update resource set value = '{"plainWorkerPassword": "secret-word'`);
    raw.close();
    const refusal = await openStore({ file, now }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "store.refused" });
    expect(refusal).not.toHaveProperty("cause");
    expect(String(refusal)).toContain("pool 1");
    expect(String(refusal)).not.toContain("secret-word");
  });
});

describe("a resource in the configuration file", () => {
  test("is added, changed, disabled when it goes and enabled when it returns, with the same id", async () => {
    const file = newFile();
    let store = await openStore({ file, now });
    const own = await store.miners.add(miner("10.0.0.9"));
    const first = await store.miners.declare(
      new Map([
        ["a", miner("10.0.0.1")],
        ["b", miner("10.0.0.2")],
      ]),
    );
    const a = first.get("a");
    expect(a).toMatchObject({ owner: "file", key: "a", disabled: false, address: "10.0.0.1" });
    await store.miners.declare(new Map([["b", miner("10.0.0.2", { name: "B" })]]));
    await store.close();

    store = await openStore({ file, now });
    expect(store.miners.all().map(({ address, name, disabled }) => [address, name, disabled])).toEqual([
      ["10.0.0.9", null, false],
      ["10.0.0.1", null, true],
      ["10.0.0.2", "B", false],
    ]);
    const again = await store.miners.declare(new Map([["a", miner("10.0.0.5")]]));
    expect(again.get("a")).toEqual({ ...a, address: "10.0.0.5" });
    expect(store.miners.get(own.id)).toEqual(own);
    await store.close();
  });

  testOfFile("costs no write when nothing has changed", async () => {
    const file = newFile();
    const declared = new Map([["a", miner("10.0.0.1")]]);
    let store = await openStore({ file, now });
    await store.miners.declare(declared);
    await store.close();
    store = await openStore({ file, now });
    const raw = new DatabaseSync(file);
    raw.exec("begin immediate"); // any write of the store would now fail
    expect((await store.miners.declare(declared)).get("a")?.id).toBe(1_000_000_001);
    raw.exec("rollback");
    raw.close();
    await store.close();
  });
});
