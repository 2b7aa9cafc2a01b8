import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { bench, first } from "./bench.ts";
import { Host, ManagedMiner, Notifications, Pool } from "./shapes.ts";

/** Sees group 1 only. */
const visitor = "user_id=3";
/** Sees groups 2 and 3, and three pools. */
const anna = "user_id=2";
const inHallB = first + 4;

describe("user_id", () => {
  test("is looked up by name", async () => {
    const { twin, get } = await bench();
    for (const { name, id } of twin.users) {
      expect(await get(`/api/user/${name}`, z.object({ userId: z.int() }))).toEqual({ userId: id });
    }
  });

  test("limits lists, totals and single reads to what the user may see", async () => {
    const { get, ask, miners, summary } = await bench({ miners: 20 });
    const all = await miners();
    const seen = await miners(`?${visitor}`);
    expect(seen).toEqual(all.filter(({ groupId }) => groupId === 1));
    expect((await miners(`?${anna}`)).map(({ groupId }) => groupId)).not.toContain(1);
    expect(await miners("?user_id=1")).toEqual(all);
    expect(await summary(`?${visitor}`)).toMatchObject({
      totalCount: seen.length,
      runningCount: seen.filter(({ isRunning }) => isRunning).length,
      asicCount: seen.reduce((sum, { asicList }) => sum + asicList.length, 0),
    });
    expect((await ask("GET", `/api/miners/${first}?${visitor}`)).status).toBe(200);
    for (const path of [`/api/miners/${inHallB}`, `/api/miners/${inHallB}/pools`, `/api/miners/${inHallB}/pools/1`]) {
      expect((await ask("GET", `${path}?${visitor}`)).status).toBe(404);
    }
    expect((await get(`/api/managedminers?${visitor}`, z.array(ManagedMiner))).map(({ id }) => id)).toEqual([1]);
    expect((await get(`/api/hosts?${visitor}`, z.array(Host))).map(({ id }) => id)).toEqual([1]);
    expect((await ask("GET", `/api/hosts/2?${visitor}`)).status).toBe(404);
    expect((await ask("GET", `/api/managedminers/2?${visitor}`)).status).toBe(404);
  });

  test("limits pools and pool groups to those that the user may see", async () => {
    const { get, ask } = await bench();
    const { list } = await get(`/api/pools?${anna}`, z.object({ list: z.array(Pool) }));
    expect(list.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect((await ask("GET", `/api/pools/4?${anna}`)).status).toBe(404);
    expect((await ask("GET", `/api/poolgroups?${anna}`)).text).toBe('[{"id":"1","name":"Bitcoin"}]');
    expect(
      (await ask("POST", `/api/miners/${inHallB}?action=add_pool&pool_type=single&pool_id=4&${anna}`)).status,
    ).toBe(404);
  });

  test("limits notifications to miners that the user sees, also for clearing", async () => {
    const { twin, get, ask } = await bench();
    twin.miners.find(({ id }) => id === first)?.switchOff();
    const names = async (query: string) =>
      (await get(`/api/notifications?${query}`, Notifications)).notificationList.map(({ minerName }) => minerName);
    expect(await names("")).toEqual(["asic-001", "scrypt-006"]);
    expect(await names(visitor)).toEqual(["asic-001"]);
    expect((await ask("POST", `/api/notifications?action=clear_all&${anna}`)).status).toBe(200);
    expect(await names("")).toEqual(["asic-001"]);
    expect((await ask("POST", `/api/notifications/2?action=clear&${anna}`)).status).toBe(404);
  });

  test("a viewer changes nothing, and a user with control defines nothing", async () => {
    const { ask, miner } = await bench();
    expect((await ask("POST", `/api/miners/${first}?action=restart&${visitor}`)).status).toBe(403);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Mining");
    expect((await ask("POST", `/api/miners/${inHallB}?action=restart&${anna}`)).status).toBe(200);
    expect((await ask("POST", `/api/miners/${first}?action=restart&${anna}`)).status).toBe(404);
    expect((await ask("POST", `/api/hosts?${anna}`, { hostname: "h" })).status).toBe(403);
    expect((await ask("DELETE", `/api/pools/3?${anna}`)).status).toBe(403);
    expect((await ask("POST", `/api/coins/BTC?profit=1&${anna}`)).status).toBe(403);
    expect((await ask("POST", "/api/hosts?user_id=1", { hostname: "h" })).status).toBe(200);
  });
});
