import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { UserName } from "../../src/contract/inputs.ts";
import type { OperationName } from "../../src/contract/operations.ts";
import type { MinerList } from "../../src/contract/resources.ts";
import type { Caller, Encoded, Input, Reply } from "../../src/contract/service.ts";
import type { StoredMiner, StoredUser } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { problem, refusal } from "../errors.ts";
import { newNotification } from "../notification-rows.ts";
import { type Bench, caller, closeBenches, configOf, openBench } from "./bench.ts";

afterEach(closeBenches);

const key = "a-key-of-anna-1234";
const as = (userId: number, actor = "test"): Caller => ({ actor, userId });

const save = (bench: Bench, user: Partial<Input<"saveUser">>): Promise<Reply<"saveUser">> =>
  bench.service.saveUser({ id: 0, ...user }, caller);
const savePool = (bench: Bench, description: string): Promise<Reply<"savePool">> =>
  bench.service.savePool(
    {
      ...pool,
      id: 0,
      description,
      url: `stratum+tcp://${description}.example.com:3333`,
      plainWorkerPassword: "secret",
    },
    caller,
  );
const pool = {
  coinClass: undefined,
  coinShortName: "",
  coinAlgorithm: "",
  workerName: "w",
  walletAddress: "",
};

/** Two farms beside each other: a group, a miner and a pool each; the barn has a shelf inside it. */
async function twoFarms() {
  const bench = await openBench();
  const group = async (name: string, parentId = 0) => (await bench.service.addGroup({ name, parentId }, caller)).id;
  const barn = await group("Barn");
  const shelf = await group("Shelf", barn);
  const attic = await group("Attic");
  const miner = async (name: string, at: number, port: number) =>
    (await bench.service.addMiner({ name, address: `127.0.0.1:${port}`, group: at }, caller)).id;
  const miners = {
    barn: await miner("barn rig", barn, 1),
    shelf: await miner("shelf rig", shelf, 2),
    attic: await miner("attic rig", attic, 3),
    none: await miner("loose rig", 0, 4),
  };
  const pools = { one: (await savePool(bench, "one")).id, two: (await savePool(bench, "two")).id };
  return { bench, groups: { barn, shelf, attic }, miners, pools };
}

const namesIn = (groups: MinerList["groupList"]): string[] =>
  groups.flatMap(({ minerList, groupList = [] }) => [...minerList.map(({ name }) => name), ...namesIn(groupList)]);

const textOf = ({ chunks }: Encoded): string => Buffer.concat(chunks).toString();

describe("a user", () => {
  test("is added with a name alone, and then sees all and may only look", async () => {
    const bench = await openBench();
    const added = await save(bench, { name: "anna" });
    expect(added).toEqual({ id: 1, name: "anna", privilege: "view", groups: null, pools: null, hasKey: false });
    expect(await bench.service.listUsers({}, caller)).toEqual([added]);
    expect(await bench.service.getUser({ username: "anna" }, caller)).toEqual({ userId: 1 });
  });

  test("is changed in what is named, and removed", async () => {
    const { bench, groups, pools } = await twoFarms();
    const { id } = await save(bench, { name: "anna", privilege: "control", groups: [groups.barn], pools: [pools.one] });
    expect(await save(bench, { id, name: "anne" })).toEqual({
      id,
      name: "anne",
      privilege: "control",
      groups: [groups.barn],
      pools: [pools.one],
      hasKey: false,
    });
    expect((await save(bench, { id, groups: null })).groups).toBeNull();
    await bench.service.deleteUser({ id }, caller);
    expect(await bench.service.listUsers({}, caller)).toEqual([]);
    expect(await refusal(bench.service.listMiners({}, as(id)))).toBe("not.found");
    expect((await save(bench, { name: "anne" })).id).not.toBe(id);
  });

  test("is refused with everything that is wrong", async () => {
    const bench = await openBench();
    await save(bench, { name: "anna", key });
    expect(await refusal(save(bench, { name: "anna", key, groups: [7, 8], pools: [9] }))).toBe(
      "input.invalid name key groups[0] groups[1] pools[0]",
    );
    expect(await refusal(save(bench, {}))).toBe("input.invalid name");
    expect(await refusal(save(bench, { id: 9, name: "x" }))).toBe("not.found");
    expect(await refusal(bench.service.deleteUser({ id: 9 }, caller))).toBe("not.found");
  });

  test("that the configuration file declares belongs to the file", async () => {
    const bench = await openBench({ config: { users: [{ name: "anna", key }] } });
    expect(await refusal(save(bench, { id: 1, privilege: "administrator" }))).toBe("owned.by-file");
    expect(await refusal(bench.service.deleteUser({ id: 1 }, caller))).toBe("owned.by-file");
    expect(await refusal(save(bench, { name: "anna" }))).toBe("input.invalid name");
    await save(bench, { name: "bo" });
    expect((await bench.service.listUsers({}, caller)).map(({ owner }) => owner)).toEqual(["file", undefined]);
  });

  test("that the file declares holds where the API has made one of that name and key", async () => {
    const bench = await openBench();
    await save(bench, { name: "anna", key, privilege: "administrator" });
    await bench.restart({ users: [{ name: "anna", key }] });
    expect(await bench.service.getUser({ username: "anna" }, caller)).toEqual({ userId: 2 });
    expect(bench.service.keyHolder?.(sha256(key))).toEqual({ id: 2, name: "anna" });
  });

  test.each(["http", "MQTT", "ｈｔｔｐ", " http", "http\u200b", "http for anna", "Service"])(
    "cannot be called %j, as a front end is",
    (name) => {
      expect(UserName.safeParse(name).success).toBe(false);
    },
  );

  test("cannot be called so by the configuration file either", () => {
    expect(() => configOf({ users: [{ name: "http" }] })).toThrow("is reserved for front ends and rules");
  });

  test.each(["httpd", "anna", "forhttp"])("can be called %s", (name) => {
    expect(UserName.safeParse(name).success).toBe(true);
  });
});

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("a user's key", () => {
  test("is kept as its digest and shown nowhere", async () => {
    const bench = await openBench();
    const added = await save(bench, { name: "anna", key });
    expect(added.hasKey).toBe(true);
    expect(JSON.stringify([added, await bench.service.listUsers({}, caller)])).not.toMatch(/a-key-of|keyHash/);
    expect(bench.store.users.get(1)).toMatchObject({ keyHash: sha256(key) });
    const taken = await problem(save(bench, { name: "bert", key }));
    expect(JSON.stringify([taken.message, taken.errors])).not.toMatch(/a-key-of/);
  });

  test("stays when it is not named, is changed, and is taken away by null", async () => {
    const bench = await openBench();
    const holder = (of: string) => bench.service.keyHolder?.(sha256(of));
    const { id } = await save(bench, { name: "anna", key });
    expect(holder(key)).toEqual({ id, name: "anna" });
    await save(bench, { id, name: "anne" });
    expect(holder(key)).toEqual({ id, name: "anne" });
    await save(bench, { id, key: "another-key-123456" });
    expect([holder(key), holder("another-key-123456")]).toEqual([undefined, { id, name: "anne" }]);
    expect((await save(bench, { id, key: null })).hasKey).toBe(false);
    expect(holder("another-key-123456")).toBeUndefined();
    await save(bench, { id, key });
    await bench.service.deleteUser({ id }, caller);
    expect(holder(key)).toBeUndefined();
  });

  test("is not another user's and not the service's", async () => {
    const service = "key-of-the-service";
    const bench = await openBench({ config: { http: { key: service }, users: [{ name: "anna", key }] } });
    const { id } = await save(bench, { name: "bert", key: "a-key-of-bert-1234" });
    for (const taken of [service, key]) {
      expect(await refusal(save(bench, { name: "carl", key: taken }))).toBe("input.invalid key");
      expect(await refusal(save(bench, { id, key: taken }))).toBe("input.invalid key");
    }
    expect(await refusal(save(bench, { id, key: "a-key-of-bert-1234" }))).toBe("done");
  });

  test("that the file no longer declares gives no access, and no other user may have it", async () => {
    const bench = await openBench({ config: { users: [{ name: "anna", key }] } });
    await bench.restart({});
    expect(bench.service.keyHolder?.(sha256(key))).toBeUndefined();
    expect(await refusal(save(bench, { name: "bert", key }))).toBe("input.invalid key");
    expect(await refusal(save(bench, { name: "anna" }))).toBe("done");
  });
});

describe("what is removed", () => {
  test("leaves the users' lists, and an empty list sees nothing", async () => {
    const { bench, groups, pools } = await twoFarms();
    const { id } = await save(bench, { name: "anna", groups: [groups.attic], pools: [pools.one] });
    await bench.service.deleteGroup({ id: groups.attic }, caller);
    await bench.service.deletePool({ id: pools.one }, caller);
    expect(bench.store.users.get(id)).toMatchObject({ groups: [], pools: [] });
    expect(await bench.service.listUsers({}, caller)).toMatchObject([{ groups: [], pools: [] }]);
    expect((await bench.service.listMiners({}, as(id))).groupList).toEqual([]);
    expect((await bench.service.listPools({}, as(id))).list).toEqual([]);
    expect((await bench.service.getSummary({}, as(id))).totalCount).toBe(0);
  });
});

describe("a user of one group", () => {
  test("sees its miners and those of the groups inside, and no others", async () => {
    const { bench, groups, miners } = await twoFarms();
    const anna = as((await save(bench, { name: "anna", groups: [groups.barn] })).id);
    const list = await bench.service.listMiners({}, anna);
    expect(namesIn(list.groupList)).toEqual(["barn rig", "shelf rig"]);
    expect(await bench.service.getSummary({}, anna)).toMatchObject({ totalCount: 2 });
    expect((await bench.service.getMiner({ id: miners.shelf }, anna)).name).toBe("shelf rig");
    for (const id of [miners.attic, miners.none, 77])
      expect(await refusal(bench.service.getMiner({ id }, anna))).toBe("not.found");
    expect([...(bench.service.eachMiner?.(anna) ?? [])].map(({ name }) => name)).toEqual(["barn rig", "shelf rig"]);
  });

  test("that stands inside another sees it at the top", async () => {
    const { bench, groups } = await twoFarms();
    const anna = as((await save(bench, { name: "anna", groups: [groups.shelf] })).id);
    const { groupList } = await bench.service.listMiners({}, anna);
    expect(groupList.map(({ id, name }) => [id, name])).toEqual([[groups.shelf, "Shelf"]]);
    expect(await bench.service.listGroups({}, anna)).toEqual([{ id: groups.shelf, name: "Shelf", parentId: 0 }]);
    const list = bench.service.encoded?.("listMiners", {}, anna);
    expect(JSON.parse(list === undefined ? "" : textOf(list)).groupList).toMatchObject([{ name: "Shelf" }]);
  });

  test("sees a miner as soon as it stands there, and no longer when it does not", async () => {
    const { bench, groups, miners } = await twoFarms();
    const anna = as((await save(bench, { name: "anna", groups: [groups.attic] })).id);
    const seen = async () => namesIn((await bench.service.listMiners({}, anna)).groupList);
    await bench.service.changeMiner({ id: miners.none, group: groups.attic }, caller);
    expect(await seen()).toEqual(["attic rig", "loose rig"]);
    await bench.service.changeMiner({ id: miners.attic, group: 0 }, caller);
    expect(await seen()).toEqual(["loose rig"]);
    await bench.service.changeGroup({ id: groups.shelf, parentId: groups.attic }, caller);
    expect(await seen()).toEqual(["loose rig", "shelf rig"]);
  });

  test("that is unknown, removed, or no longer declared sees nothing at all", async () => {
    const bench = await openBench({ config: { users: [{ name: "anna" }] } });
    expect(await refusal(bench.service.listMiners({}, as(1)))).toBe("done");
    await bench.restart({});
    for (const id of [0, 1, 2]) {
      expect(await refusal(bench.service.listMiners({}, as(id)))).toBe("not.found");
      expect(() => bench.service.encoded?.("listMiners", {}, as(id))).toThrow("There is no user");
    }
    expect(await refusal(bench.service.getUser({ username: "anna" }, caller))).toBe("not.found");
  });

  test("finds itself by name and no other user", async () => {
    const { bench, groups } = await twoFarms();
    const anna = as((await save(bench, { name: "anna", groups: [groups.barn], privilege: "administrator" })).id);
    await save(bench, { name: "bert" });
    expect(await bench.service.getUser({ username: "anna" }, anna)).toEqual({ userId: anna.userId });
    expect(await refusal(bench.service.getUser({ username: "bert" }, anna))).toBe("not.found");
    expect((await bench.service.listUsers({}, anna)).map(({ name }) => name)).toEqual(["anna"]);
  });
});

describe("the list from ready-made bytes", () => {
  test("is the same list, and its tag is the user's own", async () => {
    const { bench, groups } = await twoFarms();
    const users = [
      caller,
      as((await save(bench, { name: "anna", groups: [groups.barn] })).id),
      as((await save(bench, { name: "bert", groups: [groups.attic, groups.shelf] })).id),
      as((await save(bench, { name: "carl", groups: [] })).id),
      as((await save(bench, { name: "dora", pools: [] })).id),
    ];
    const tags = new Set<string>();
    for (const user of users) {
      const encoded = bench.service.encoded?.("listMiners", {}, user);
      if (encoded === undefined) throw new Error("there are no bytes");
      const text = textOf(encoded);
      expect(encoded.length).toBe(Buffer.byteLength(text));
      const { metaData: _, ...list } = await bench.service.listMiners({}, user);
      expect(JSON.parse(text)).toMatchObject(JSON.parse(JSON.stringify(list)));
      tags.add(encoded.etag);
    }
    expect(tags.size).toBe(users.length);
  });

  test("has another tag when what the user sees changes, and the same when something else does", async () => {
    const bench = await openBench({ rigs: [{ kind: "axeos" }, { kind: "axeos" }] });
    for (const name of ["Barn", "Attic"]) await bench.service.addGroup({ name, parentId: 0 }, caller);
    const barn = await bench.add(bench.rig(0).address, { group: "Barn" });
    const attic = await bench.add(bench.rig(1).address, { group: "Attic" });
    const { id } = await save(bench, { name: "anna", groups: [1] });
    const tag = () => bench.service.encoded?.("listMiners", {}, as(id))?.etag;
    const first = tag();
    await bench.act(attic, { action: "stop" });
    expect(tag()).toBe(first);
    await bench.act(barn, { action: "stop" });
    const second = tag();
    expect(second).not.toBe(first);
    await bench.service.changeMiner({ id: barn, name: "renamed" }, caller);
    const third = tag();
    expect(third).not.toBe(second);
    await save(bench, { id, groups: [2] });
    const fourth = tag();
    expect(fourth).not.toBe(third);
    await bench.service.deleteMiner({ id: attic }, caller);
    expect(tag()).not.toBe(fourth);
  });

  test("of one miner is there for callers that see the miner", async () => {
    const { bench, groups, miners } = await twoFarms();
    const anna = as((await save(bench, { name: "anna", groups: [groups.barn] })).id);
    expect(bench.service.encoded?.("getMiner", { id: miners.barn }, anna)).toBeDefined();
    expect(bench.service.encoded?.("getMiner", { id: miners.attic }, anna)).toBeUndefined();
  });
});

describe("pools", () => {
  test("are seen by whom they are for, a group when all of its pools are", async () => {
    const { bench, pools, miners } = await twoFarms();
    const group = (name: string, ids: number[]) => bench.service.savePoolGroup({ id: 0, name, pools: ids }, caller);
    const own = await group("own", [pools.one]);
    const mixed = await group("mixed", [pools.one, pools.two]);
    await group("empty", []);
    const anna = as((await save(bench, { name: "anna", privilege: "control", pools: [pools.one] })).id);
    const { list } = await bench.service.listPools({}, anna);
    expect(list.map(({ id, plainWorkerPassword }) => [id, plainWorkerPassword])).toEqual([[pools.one, "secret"]]);
    expect(await refusal(bench.service.getPool({ id: pools.two }, anna))).toBe("not.found");
    expect((await bench.service.listPoolGroups({}, anna)).map(({ name }) => name)).toEqual(["own"]);
    expect((await bench.service.listAddPools({ id: miners.barn }, anna)).addPoolList).toEqual([
      { name: "one", type: "single", id: String(pools.one) },
      { name: "own", type: "group", id: own.id },
    ]);
    const change = (pool_id: number, pool_type: "single" | "group") =>
      bench.service.minerAction({ id: miners.barn, action: "change_pool", pool_id, pool_type }, anna);
    expect(await refusal(change(pools.two, "single"))).toBe("not.found");
    expect(await refusal(change(Number(mixed.id), "group"))).toBe("not.found");
    expect(await refusal(change(pools.one, "single"))).toBe("rig.unreachable");
  });

  test("show no password to callers that may only view", async () => {
    const { bench, pools } = await twoFarms();
    const anna = as((await save(bench, { name: "anna" })).id);
    expect(JSON.stringify(await bench.service.listPools({}, anna))).not.toContain("secret");
    expect((await bench.service.getPool({ id: pools.one }, anna)).plainWorkerPassword).toBe("");
  });
});

describe("notifications", () => {
  test("of a miner are for callers that see it, those without one for callers with access to everything", async () => {
    const { bench, groups, miners } = await twoFarms();
    for (const [minerId, message] of [
      [miners.barn, "of barn"],
      [miners.attic, "of attic"],
      [null, "of none"],
      [77, "of one that is gone"],
    ] as const)
      bench.store.notifications.raise(newNotification({ minerId, message }));
    const anna = as((await save(bench, { name: "anna", privilege: "control", groups: [groups.barn] })).id);
    const messages = async (of: Caller) =>
      (await bench.service.listNotifications({}, of)).notificationList.map(({ message }) => message);
    const counts = async (of: Caller) => {
      const list = await bench.service.listNotifications({}, of);
      return [list.notificationCount, list.unacknowledgedNotificationCount];
    };
    expect(await messages(anna)).toEqual(["of barn"]);
    expect(await messages(caller)).toHaveLength(4);
    const one = (id: number, action: "ack" | "clear") => bench.service.notificationAction({ id, action }, anna);
    for (const id of [2, 3, 4, 5]) expect(await refusal(one(id, "clear"))).toBe("not.found");
    await bench.service.allNotificationsAction({ action: "ack_all" }, anna);
    expect([await counts(anna), await counts(caller)]).toEqual([
      [1, 0],
      [4, 3],
    ]);
    await one(1, "ack");
    const some = { action: "ack" as const, ids: [1, 2, 3, 4, 999] };
    // She sees none of the others.
    expect((await bench.service.notificationsAction(some, anna)).message).toBe("1 notification acknowledged");
    expect(await counts(caller)).toEqual([4, 3]);
    await bench.service.allNotificationsAction({ action: "clear_all" }, anna);
    expect([await counts(anna), await counts(caller)]).toEqual([
      [0, 0],
      [3, 3],
    ]);
    expect((await bench.service.notificationsAction(some, caller)).message).toBe("3 notifications acknowledged");
    expect(await counts(caller)).toEqual([3, 0]);
  });
});

describe("an administrator of one group", () => {
  async function limited() {
    const farms = await twoFarms();
    const { bench, groups } = farms;
    const { id } = await save(bench, { name: "anna", privilege: "administrator", groups: [groups.barn] });
    return { ...farms, anna: as(id) };
  }

  test("adds, changes and removes miners there and nowhere else", async () => {
    const { bench, groups, miners, anna } = await limited();
    const add = (group?: number | string) =>
      bench.service.addMiner({ address: "127.0.0.1:9", ...(group === undefined ? {} : { group }) }, anna);
    expect(await refusal(add())).toBe("user.forbidden");
    expect(await refusal(add(0))).toBe("user.forbidden");
    expect(await refusal(add("Attic"))).toBe("input.invalid group");
    expect(await refusal(add(groups.attic))).toBe("input.invalid group");
    const added = await add("Shelf");
    expect(added.groupId).toBe(groups.shelf);
    const change = (id: number, group: number) => refusal(bench.service.changeMiner({ id, group }, anna));
    expect(await change(added.id, groups.barn)).toBe("done");
    expect(await change(added.id, groups.attic)).toBe("input.invalid group");
    expect(await change(added.id, 0)).toBe("user.forbidden");
    expect(await change(miners.attic, groups.barn)).toBe("not.found");
    expect(await refusal(bench.service.deleteMiner({ id: miners.attic }, anna))).toBe("not.found");
    expect(await refusal(bench.service.pollMiner({ id: miners.attic }, anna))).toBe("not.found");
    expect(await refusal(bench.service.deleteMiner({ id: added.id }, anna))).toBe("done");
  });

  test("does not hear whose an address is", async () => {
    const { bench, groups, anna } = await limited();
    const { code, message } = await problem(
      bench.service.addMiner({ address: "127.0.0.1:3", group: groups.barn }, anna),
    );
    expect([code, message]).toEqual(["address.known", "127.0.0.1:3 is already the address of another miner"]);
  });

  test("does not see hosts and managed miners", async () => {
    const { bench, anna } = await limited();
    const host = await bench.service.saveHost({ id: 0, hostname: "server.example", description: "" }, caller);
    const managed = await bench.service.saveManagedMiner({ ...managedMiner, hostId: host.id }, caller);
    expect(await bench.service.listHosts({}, anna)).toEqual([]);
    expect(await bench.service.listManagedMiners({}, anna)).toEqual([]);
    for (const read of [
      bench.service.getHost({ id: host.id }, anna),
      bench.service.getHostSystemInfo({ id: host.id }, anna),
      bench.service.getManagedMiner({ id: managed.id }, anna),
    ])
      expect(await refusal(read)).toBe("not.found");
  });

  test.each<[OperationName, (bench: Bench, anna: Caller) => Promise<unknown>]>([
    [
      "savePool",
      ({ service }, anna) =>
        service.savePool({ ...pool, id: 1, description: "x", url: "x:1", plainWorkerPassword: "" }, anna),
    ],
    ["deletePool", ({ service }, anna) => service.deletePool({ id: 1 }, anna)],
    ["savePoolGroup", ({ service }, anna) => service.savePoolGroup({ id: 0, name: "x" }, anna)],
    ["deletePoolGroup", ({ service }, anna) => service.deletePoolGroup({ id: 1 }, anna)],
    ["saveHost", ({ service }, anna) => service.saveHost({ id: 0, hostname: "x", description: "" }, anna)],
    ["deleteHost", ({ service }, anna) => service.deleteHost({ id: 1 }, anna)],
    ["saveManagedMiner", ({ service }, anna) => service.saveManagedMiner(managedMiner, anna)],
    ["deleteManagedMiner", ({ service }, anna) => service.deleteManagedMiner({ id: 1 }, anna)],
    ["saveCoin", ({ service }, anna) => service.saveCoin({ shortName: "BTC", profit: 1 }, anna)],
    ["deleteCoin", ({ service }, anna) => service.deleteCoin({ shortName: "BTC" }, anna)],
    ["addGroup", ({ service }, anna) => service.addGroup({ name: "x", parentId: 0 }, anna)],
    ["changeGroup", ({ service }, anna) => service.changeGroup({ id: 3, parentId: 1 }, anna)],
    ["deleteGroup", ({ service }, anna) => service.deleteGroup({ id: 1 }, anna)],
    ["saveUser", ({ service }, anna) => service.saveUser({ id: 1, groups: null }, anna)],
    ["deleteUser", ({ service }, anna) => service.deleteUser({ id: 1 }, anna)],
    ["startDiscovery", ({ service }, anna) => service.startDiscovery({ yes: false }, anna)],
    ["getDiscovery", ({ service }, anna) => service.getDiscovery({ id: 1 }, anna)],
    ["cancelDiscovery", ({ service }, anna) => service.cancelDiscovery({ id: 1 }, anna)],
    ["listSightings", ({ service }, anna) => service.listSightings({}, anna)],
    ["placeSighting", ({ service }, anna) => service.placeSighting({ id: 1 }, anna)],
  ])("may not %s, which is for all", async (_name, act) => {
    const { bench, anna } = await limited();
    expect(await refusal(act(bench, anna))).toBe("user.forbidden");
  });
});

const managedMiner: Input<"saveManagedMiner"> = {
  id: 0,
  description: "",
  commandLineParams: "",
  softwareType: "",
  softwarePath: "",
  algorithm: "",
  dualAlgorithm: "",
};

describe("the audit", () => {
  test("names the user, and the front end that acted for the user", async () => {
    const { bench, groups, miners } = await twoFarms();
    const { id } = await save(bench, { name: "anna", privilege: "control", groups: [groups.barn] });
    const stop = (of: Caller) => refusal(bench.service.minerAction({ id: miners.barn, action: "stop" }, of));
    for (const user of [caller, as(id, "http"), as(id, "anna")]) expect(await stop(user)).toBe("rig.unreachable");
    await refusal(bench.service.minerAction({ id: miners.attic, action: "stop" }, caller));
    const commands = async (of: Caller) =>
      (await bench.service.listCommands({}, of)).commandList.map(({ actor, minerName }) => `${actor}: ${minerName}`);
    const ofBarn = ["anna: barn rig", "http for anna: barn rig", "test: barn rig"];
    expect(await commands(caller)).toEqual(["test: attic rig", ...ofBarn]);
    expect(await commands(as(id))).toEqual(ofBarn);
  });
});

describe("whatever the groups and users", () => {
  const size = 6;
  const tree = fc.record({
    // Each group stands in one before it, or at the top; so does each miner in a group, or in none.
    parents: fc.tuple(...Array.from({ length: size }, (_, index) => fc.nat(index))),
    homes: fc.array(fc.nat(size), { minLength: 1, maxLength: 12 }),
    users: fc.array(fc.option(fc.uniqueArray(fc.integer({ min: 1, max: size }))), { minLength: 1, maxLength: 4 }),
  });

  test("a user is shown exactly the miners of the user's groups and of those inside", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async ({ parents, homes, users }) => {
        const store = await openStore({ file: ":memory:", now: Date.now });
        for (const [index, parentId] of parents.entries()) await store.groups.add({ name: `g${index + 1}`, parentId });
        for (const [index, groupId] of homes.entries()) {
          const { id } = await store.miners.add({
            ...storedMiner,
            groupId,
            name: `m${index}`,
            address: `127.0.0.1:${index + 1}`,
          });
          store.notifications.raise(newNotification({ minerId: id, minerName: `m${index}` }));
          await store.commands.add({
            minerId: id,
            minerName: `m${index}`,
            actor: "test",
            action: "stop",
            parameters: {},
          });
        }
        store.notifications.raise(newNotification({ minerName: "none" }));
        for (const groups of users) await store.users.add({ ...storedUser, groups });
        const { service } = await openBench({ store });
        for (const [index, groups] of users.entries()) {
          const wanted = homes.flatMap((home, miner) => (isInside(home, groups, parents) ? [`m${miner}`] : []));
          const access = as(index + 1);
          const list = await service.listMiners({}, access);
          expect(namesIn(list.groupList).sort()).toEqual(wanted.toSorted());
          const encoded = service.encoded?.("listMiners", {}, access);
          const decoded = JSON.parse(encoded === undefined ? "{}" : textOf(encoded));
          expect(decoded.groupList).toEqual(JSON.parse(JSON.stringify(list.groupList)));
          expect((await service.getSummary({}, access)).totalCount).toBe(wanted.length);
          const told = await service.listNotifications({}, access);
          expect(told.notificationList.map(({ minerName }) => minerName).sort()).toEqual(
            [...wanted, ...(groups === null ? ["none"] : [])].sort(),
          );
          const { commandList } = await service.listCommands({}, access);
          expect(commandList.map(({ minerName }) => minerName).sort()).toEqual(wanted.toSorted());
          const shown = await service.listGroups({}, access);
          const ids = new Set(shown.map(({ id }) => id));
          expect([...ids].sort()).toEqual(parents.map((_, at) => at + 1).filter((id) => isInside(id, groups, parents)));
          expect(shown.every(({ parentId }) => parentId === 0 || ids.has(parentId))).toBe(true);
        }
        await closeBenches();
      }),
      { numRuns: 40 },
    );
  });
});

/** Whether a group is one of these or stands in one of them; null is all, 0 is no group. */
function isInside(group: number, groups: readonly number[] | null, parents: readonly number[]): boolean {
  if (groups === null) return true;
  if (group === 0) return false;
  return groups.includes(group) || isInside(parents[group - 1] ?? 0, groups, parents);
}

const storedUser: StoredUser = { name: "u", keyHash: null, privilege: "view", groups: null, pools: null };
const storedMiner: StoredMiner = {
  address: "",
  name: null,
  uid: null,
  driver: null,
  groupId: 0,
  username: null,
  password: null,
  token: null,
  login: null,
  interval: null,
  location: null,
  placeId: null,
  position: null,
  slot: null,
  tags: [],
  offlineExpected: true,
  powerNameplate: null,
  supply: null,
  power: {},
};
