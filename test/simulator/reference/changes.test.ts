import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { bench, first } from "./bench.ts";
import { Host, ManagedMiner, Notifications, Pool } from "./shapes.ts";

const stopped = first + 3;
const off = first + 5;
const gpu = first + 2;
const cpu = first + 6;

describe("a miner", () => {
  test("stops a moment after the command, then finds and earns nothing", async () => {
    const { ask, pass, miner, summary } = await bench();
    const before = await summary();
    expect((await ask("POST", `/api/miners/${first}?action=stop`, { ignored: true })).status).toBe(200);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Mining");
    pass(3);
    const ended = await miner(first);
    expect(ended).toMatchObject({
      statusInfo: { statusDisplay: "Stopped", statusLine3: null, secondsSinceStart: 0 },
      isRunning: false,
      isOffline: false,
      hasValidStatus: true,
      canStop: false,
      canRestart: false,
      canStart: true,
      speedInfo: { hashrate: "0 H/s", hashrateValue: 0 },
      coinInfo: { revenuePerDayValue: 0 },
    });
    pass(600);
    const later = await miner(first);
    expect(later.progressInfo).toEqual(ended.progressInfo);
    expect(later.maxTemperatureValue).toBeLessThan(ended.maxTemperatureValue);
    expect((await summary()).runningCount).toBe(before.runningCount - 1);
  });

  test("starts: first Starting, then Mining, with new counters", async () => {
    const { ask, pass, miner } = await bench();
    expect((await ask("POST", `/api/miners/${stopped}?action=start`)).status).toBe(200);
    expect(await miner(stopped)).toMatchObject({ statusInfo: { statusDisplay: "Starting" }, isRunning: false });
    pass(135);
    const running = await miner(stopped);
    expect(running).toMatchObject({
      statusInfo: { statusDisplay: "Mining", statusLine3: "2m", secondsSinceStart: 120 },
      canStart: false,
    });
    expect(running.speedInfo.hashrateValue).toBeGreaterThan(90e12);
    expect(running.progressInfo.acceptedValue).toBeGreaterThan(5);
  });

  test("restarts with new counters", async () => {
    const { ask, pass, miner } = await bench();
    const { progressInfo } = await miner(first);
    await ask("POST", `/api/miners/${first}?action=restart`);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Starting");
    pass(75);
    const again = await miner(first);
    expect(again.statusInfo).toEqual({ statusDisplay: "Mining", statusLine3: "1m", secondsSinceStart: 60 });
    expect(again.progressInfo.acceptedValue).toBeLessThan(progressInfo.acceptedValue);
  });

  test("does not answer while it reboots, and notifications report both changes", async () => {
    const { ask, pass, miner, get } = await bench();
    await ask("POST", "/api/notifications?action=clear_all");
    await ask("POST", `/api/miners/${first}?action=reboot`);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Disconnected");
    expect((await ask("POST", `/api/miners/${first}?action=stop`)).status).toBe(409);
    pass(31);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Starting");
    pass(60);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Mining");
    const { notificationList } = await get("/api/notifications", Notifications);
    expect(notificationList).toMatchObject([
      { minerName: "asic-001", isWarning: false, timeUtc: "2026-06-01T12:00:30.000Z" },
      { minerName: "asic-001", isWarning: true, timeUtc: "2026-06-01T12:00:00.000Z", time: "2026-06-01 12:00:00" },
    ]);
  });

  test("that is unreachable shows no reading, and counts only in the total of miners", async () => {
    const { twin, miner, summary, pass } = await bench();
    const before = await summary();
    twin.miners.find(({ id }) => id === first)?.switchOff();
    pass(60);
    expect(await miner(first)).toMatchObject({
      statusInfo: { statusDisplay: "Disconnected", statusLine3: null, secondsSinceStart: 0 },
      isOffline: true,
      isRunning: false,
      hasValidStatus: false,
      hasAsic: false,
      asicList: [],
      poolList: [],
      pool: "",
      temperature: "",
      updatedUtc: "2026-06-01T12:00:00.000Z",
      canStop: false,
      canStart: false,
      canReboot: false,
      canPool: false,
      speedInfo: { hashrate: "0 H/s", hashrateValue: 0, line3: null },
      coinInfo: { powerUsageValue: 0, revenuePerDay: "$0.00", revenuePerDayValue: 0 },
    });
    expect(await summary()).toMatchObject({
      runningCount: before.runningCount - 1,
      totalCount: before.totalCount,
      asicCount: before.asicCount - 3,
    });
    twin.miners.find(({ id }) => id === first)?.switchOn();
    pass(60);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Mining");
  });

  test.each([
    [stopped, "stop"],
    [stopped, "restart"],
    [first, "start"],
    [off, "start"],
    [off, "reboot"],
    [off, "add_pool&pool_id=4&pool_type=single"],
    [cpu, "reboot"],
    [cpu, "apply_template&template_id=3"],
    [gpu, "rule&rule_id=2"],
    [first, "add_pool&pool_id=1&pool_type=single"],
  ])("%i cannot be told %s now", async (id, action) => {
    const { ask, miner } = await bench();
    const before = await miner(id);
    expect((await ask("POST", `/api/miners/${id}?action=${action}`)).status).toBe(409);
    expect(await miner(id)).toEqual(before);
  });

  test("can be added, and removed for good", async () => {
    const { twin, miner, ask, summary } = await bench();
    const added = twin.addMiner("gpu");
    expect(await miner(added.id)).toMatchObject({ groupId: 1, hasGpu: true, isRunning: true });
    expect((await summary()).totalCount).toBe(13);
    twin.removeMiner(added.id);
    expect((await ask("GET", `/api/miners/${added.id}`)).status).toBe(404);
    expect(twin.addMiner().id).toBe(added.id + 1);
  });

  test("takes templates and rules", async () => {
    const { ask, pass, miner } = await bench();
    const before = await miner(first);
    await ask("POST", `/api/miners/${first}?action=apply_template&template_id=1`);
    pass(60);
    const low = await miner(first);
    expect(low.coinInfo.powerUsageValue).toBeLessThan(0.75 * before.coinInfo.powerUsageValue);
    expect(low.speedInfo.hashrateValue).toBeLessThan(0.75 * before.speedInfo.hashrateValue);
    await ask("POST", `/api/miners/${first}?action=rule&rule_id=2`);
    expect((await miner(first)).pool).toBe("btc.backup.example.net");
    await ask("POST", `/api/miners/${first}?action=apply_template&template_id=3`);
    expect((await miner(first)).pool).toBe("btc.pool.example.com");
    await ask("POST", `/api/miners/${first}?action=rule&rule_id=1`);
    pass(3);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Stopped");
  });
});

describe("the pools of a miner", () => {
  const pools = async ({ miner }: { miner: Awaited<ReturnType<typeof bench>>["miner"] }) =>
    (await miner(first)).poolList.map(({ id, priorityInfo }) => [id, priorityInfo.priority]);

  test("are added, changed to and given new Active IDs, which are never reused", async () => {
    const server = await bench();
    const { ask, miner } = server;
    await ask("POST", `/api/miners/${first}?action=add_pool&pool_id=3&pool_type=single`);
    expect(await pools(server)).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    await ask("POST", `/api/miners/${first}/pools/3?action=remove`);
    await ask("POST", `/api/miners/${first}?action=change_pool&pool_id=3&pool_type=single`);
    expect(await pools(server)).toEqual([
      [4, 0],
      [1, 1],
      [2, 2],
    ]);
    expect(await miner(first)).toMatchObject({
      pool: "bch.pool.example.com",
      coinInfo: { shortName: "BCH", displayName: "Bitcoin Cash (BCH)" },
    });
    await ask("POST", `/api/miners/${first}?action=change_pool&pool_id=1&pool_type=group`);
    expect(await pools(server)).toEqual([
      [1, 0],
      [2, 1],
      [4, 2],
    ]);
  });

  test("of a group are all added, or none if one of them exists", async () => {
    const server = await bench();
    const { ask } = server;
    await ask("POST", `/api/miners/${first}/pools/1?action=remove`);
    const add = async (id: number) =>
      (await ask("POST", `/api/miners/${first}?action=add_pool&pool_id=${id}&pool_type=group`)).status;
    expect(await add(1)).toBe(409);
    expect(await pools(server)).toEqual([[2, 0]]);
    expect(await add(2)).toBe(200);
    expect((await pools(server)).map(([, priority]) => priority)).toEqual([0, 1, 2]);
  });

  test("get the shares from the moment they are prioritized", async () => {
    const { ask, pass, miner } = await bench();
    await ask("POST", `/api/miners/${first}/pools/2?action=prioritize`);
    const accepted = async () =>
      Object.fromEntries((await miner(first)).poolList.map(({ id, progressInfo }) => [id, progressInfo.line1]));
    const before = await accepted();
    pass(300);
    const after = await accepted();
    expect(after[1]).toBe(before[1]);
    expect(before[2]).toBe("0");
    expect(Number(after[2])).toBeGreaterThan(20);
  });

  test("are disabled and enabled; without an enabled one the miner idles", async () => {
    const { ask, miner } = await bench();
    const tell = async (id: number, action: string) =>
      (await ask("POST", `/api/miners/${first}/pools/${id}?action=${action}`)).status;
    expect(await tell(1, "enable")).toBe(409);
    expect(await tell(1, "disable")).toBe(200);
    expect(await miner(first)).toMatchObject({
      pool: "btc.backup.example.net",
      poolList: [
        { statusInfo: { statusDisplay: "Disabled" }, canEnable: true, canDisable: false },
        { canEnable: false },
      ],
    });
    expect(await tell(2, "disable")).toBe(200);
    expect(await miner(first)).toMatchObject({
      statusInfo: { statusDisplay: "Idle" },
      speedInfo: { hashrateValue: 0 },
    });
    expect(await tell(1, "enable")).toBe(200);
    expect((await miner(first)).statusInfo.statusDisplay).toBe("Mining");
  });

  test("are removed down to the last, which stays", async () => {
    const server = await bench();
    const { ask, miner } = server;
    expect((await ask("POST", `/api/miners/${first}/pools/1?action=remove`)).status).toBe(200);
    expect((await miner(first)).poolList).toMatchObject([{ id: 2, canRemove: false, canPrioritize: false }]);
    for (const action of ["remove", "disable", "prioritize"]) {
      expect((await ask("POST", `/api/miners/${first}/pools/2?action=${action}`)).status).toBe(409);
    }
    expect(await pools(server)).toEqual([[2, 0]]);
  });
});

describe("definitions", () => {
  test("a pool is added, updated in the given fields, and deleted unless a managed miner uses it", async () => {
    const { ask, get } = await bench();
    const added = Pool.parse(
      JSON.parse(
        (
          await ask("POST", "/api/pools", {
            id: 0,
            description: "P",
            coinShortName: "LTC",
            url: "stratum+tcp://p.example:1",
          })
        ).text,
      ),
    );
    expect(added).toMatchObject({ id: 9, coinDisplayName: "Litecoin (LTC)", coinAlgorithm: "scrypt" });
    await ask("POST", "/api/pools", { id: 9, workerName: "w" });
    expect(await get("/api/pools/9", Pool)).toEqual({ ...added, workerName: "w" });
    expect((await ask("DELETE", "/api/pools/9")).status).toBe(200);
    expect((await ask("GET", "/api/pools/9")).status).toBe(404);
    expect((await ask("DELETE", "/api/pools/6")).status).toBe(409);
    expect((await ask("POST", "/api/pools", { url: "nowhere" })).status).toBe(400);
  });

  test("a host is added with its own id and updated", async () => {
    const { ask, get } = await bench();
    const { text } = await ask("POST", "/api/hosts", { description: "D", hostname: "h" });
    expect(Host.parse(JSON.parse(text))).toEqual({ id: 3, description: "D", hostname: "h" });
    await ask("POST", "/api/hosts", { id: 3, hostname: "h2" });
    expect(await get("/api/hosts/3", Host)).toEqual({ id: 3, description: "D", hostname: "h2" });
    expect((await ask("GET", "/api/hosts/3/systeminfo")).text).toBe('{"gpuStatusList":[]}');
  });

  test("a managed miner that is added becomes a miner and can be started; updating it changes that miner", async () => {
    const { ask, get, miner, pass } = await bench();
    const body = { description: "M", hostId: 1, poolId: 7, softwareType: "XmrigMiner", algorithm: "randomx" };
    const { text } = await ask("POST", "/api/managedminers", body);
    expect(ManagedMiner.parse(JSON.parse(text))).toMatchObject({ id: 3, ...body, dualAlgorithm: "Unspecified" });
    expect(await miner(3)).toMatchObject({ name: "M", hostname: "gpu-host", hasCpu: true, canStart: true });
    expect((await ask("POST", "/api/miners/3?action=start")).status).toBe(200);
    pass(60);
    expect(await miner(3)).toMatchObject({ isRunning: true, pool: "xmr.pool.example.com" });
    await ask("POST", "/api/managedminers", { id: 3, description: "N", isPoolGroup: true, poolId: 3 });
    expect(await get("/api/managedminers/3", ManagedMiner)).toMatchObject({ description: "N", isPoolGroup: true });
    const changed = await miner(3);
    expect(changed.name).toBe("N");
    expect(changed.poolList).toHaveLength(2);
  });

  test.each([
    ["an unknown host", { hostId: 77 }],
    ["unknown software", { softwareType: "Nothing" }],
    ["an unknown algorithm", { algorithm: "nothing" }],
    ["an unknown pool", { poolId: 77 }],
    ["an unknown pool group", { isPoolGroup: true, poolId: 77 }],
  ])("a managed miner with %s is refused", async (_, wrong) => {
    const { ask, get } = await bench();
    expect((await ask("POST", "/api/managedminers", { id: 1, ...wrong })).status).toBe(400);
    expect(await get("/api/managedminers", z.array(ManagedMiner))).toHaveLength(2);
  });
});

describe("notifications", () => {
  test("are acknowledged and cleared, one by one and all", async () => {
    const { twin, ask, get } = await bench();
    for (const miner of twin.miners.slice(2, 4)) miner.switchOff();
    const counts = async () => {
      const all = await get("/api/notifications", Notifications);
      expect(all.notificationCount).toBe(all.notificationList.length);
      return [all.notificationCount, all.unacknowledgedNotificationCount];
    };
    expect(await counts()).toEqual([3, 3]);
    await ask("POST", "/api/notifications/2?action=ack");
    expect(await counts()).toEqual([3, 2]);
    await ask("POST", "/api/notifications/2?action=clear");
    expect(await counts()).toEqual([2, 2]);
    await ask("POST", "/api/notifications?action=ack_all");
    expect(await counts()).toEqual([2, 0]);
    await ask("POST", "/api/notifications?action=clear_all");
    expect(await counts()).toEqual([0, 0]);
  });
});

describe("coins", () => {
  test("a profit changes what the miners of that coin earn", async () => {
    const { ask, miner } = await bench();
    expect((await ask("POST", "/api/coins/btc?profit=1e-11")).status).toBe(200);
    const { speedInfo, coinInfo } = await miner(first);
    expect(coinInfo.revenuePerDayValueBtc).toBeCloseTo((speedInfo.hashrateValue / 1e6) * 1e-11, 12);
    await ask("POST", "/api/coins/BTC?difficulty=1e14&reward=3.125&btc=1&name=ignored&algorithm=ignored");
    const coins = (speedInfo.hashrateValue * 86_400 * 3.125) / (1e14 * 2 ** 32);
    expect((await miner(first)).coinInfo).toMatchObject({
      displayName: "Bitcoin (BTC)",
      revenuePerDayValueBtc: expect.closeTo(coins, 12),
    });
  });

  test("a user-defined one is added in each form, used by a pool, updated and deleted", async () => {
    const { ask, miner } = await bench();
    const save = async (query: string) => (await ask("POST", `/api/coins/NEW?${query}`)).status;
    expect(await save("profit=1")).toBe(400);
    expect(await save("name=N&algorithm=none&profit=1")).toBe(400);
    expect(await save("name=N&algorithm=sha256")).toBe(400);
    expect(await save("name=N&algorithm=sha256&difficulty=1&reward=1&btc=1&usd=1")).toBe(400);
    expect(await save("name=N&algorithm=sha256&difficulty=1&reward=1")).toBe(400);
    expect(await save("name=N&algorithm=sha256&profit=1,5")).toBe(400);
    expect(await save("name=N&algorithm=SHA-256&difficulty=1e14&reward=3&usd=68412.5")).toBe(200);
    expect(await save("profit=2e-12")).toBe(200);
    const pool = { description: "P", coinClass: "UserDefined", coinShortName: "NEW", url: "stratum+tcp://n.example:1" };
    await ask("POST", "/api/pools", pool);
    await ask("POST", `/api/miners/${first}?action=change_pool&pool_id=9&pool_type=single`);
    expect((await miner(first)).coinInfo).toMatchObject({ shortName: "NEW", coinClass: "UserDefined" });
    expect((await ask("DELETE", "/api/coins/NEW")).status).toBe(200);
    expect((await miner(first)).coinInfo).toMatchObject({ shortName: "", displayName: "", revenuePerDayValue: 0 });
    expect((await ask("DELETE", "/api/coins/NEW")).status).toBe(404);
  });
});
