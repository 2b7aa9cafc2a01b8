import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ServiceEvent } from "../../src/contract/events.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import { operationNames, operations } from "../../src/contract/operations.ts";
import type { Miner } from "../../src/contract/resources.ts";
import { within } from "../until.ts";
import { caller, kinds, type Opened } from "./kinds.ts";

/** Every kind of service behaves alike, whatever is behind it. */
describe.each(kinds)("$name", ({ open, isReference }) => {
  let kind: Opened;
  beforeAll(async () => {
    kind = await open();
  });
  afterAll(() => kind.close());

  const miners = async (): Promise<Miner[]> => minersIn((await kind.service.listMiners({}, caller)).groupList);
  const status = async (id: number) => (await kind.service.getMiner({ id }, caller)).statusInfo.statusDisplay;

  test("offers the documented operations and events; a Rigbridge offers everything", async () => {
    const features = await kind.service.features();
    const documented = operationNames.filter((name) => !("extension" in operations[name]));
    expect(documented).toHaveLength(28);
    expect([...features].toSorted()).toEqual(
      (isReference ? [...documented, "watchEvents", "listMinerRows", "watchMinerRows"] : operationNames).toSorted(),
    );
  });

  test("says who a caller is, what they may call, and how the service formats its texts", async () => {
    const about = await kind.service.about(caller);
    const everything = { id: null, name: null, privilege: "administrator", sees: "all" };
    expect(about).toMatchObject({ user: everything, demo: false, display: { locale: "sv-SE" } });
    expect(new Set(about.operations)).toEqual(await kind.service.features());
    const { userId } = await kind.service.getUser({ username: kind.visitor.name }, caller);
    const visitor = await kind.service.about({ ...caller, userId });
    // Another product tells a user's rights only when an operation is called.
    if (isReference) expect([visitor.user.id, about.display.currency]).toEqual([userId, null]);
    else {
      expect(visitor.user).toEqual({ id: userId, name: "visitor", privilege: "view", sees: "all" });
      expect([visitor.operations.includes("getMiner"), visitor.operations.includes("minerAction")]).toEqual([
        true,
        false,
      ]);
      await expect(kind.service.about({ ...caller, userId: 77 })).rejects.toMatchObject({ code: "not.found" });
    }
  });

  test("rejects operations that it does not offer, and names the reason", async () => {
    const asked = kind.service.listGroups({}, caller);
    if (!isReference) expect((await asked).map(({ name }) => name)).toContain("Hall A");
    else
      await expect(asked).rejects.toMatchObject({
        code: "service.unsupported",
        message: expect.stringContaining("not a Rigbridge"),
      });
  });

  describe("reads follow the contract", () => {
    test("miners, in the list and one by one", async () => {
      const list = operations.listMiners.reply.parse(await kind.service.listMiners({}, caller));
      expect(list.groupList.map(({ name }) => name)).toEqual(expect.arrayContaining(["Hall A", "Hall B"]));
      const all = minersIn(list.groupList);
      expect(all.length).toBeGreaterThanOrEqual(3);
      expect(new Set(all.map(({ uid }) => uid)).size).toBe(all.length);
      const { metaData, ...one } = operations.getMiner.reply.parse(
        await kind.service.getMiner({ id: kind.pooled }, caller),
      );
      expect(metaData.version).not.toBe("");
      const listed = all.find(({ id }) => id === kind.pooled);
      expect([one.uid, one.name, one.groupId, one.controls]).toEqual([
        listed?.uid,
        listed?.name,
        listed?.groupId,
        listed?.controls,
      ]);
    });

    test("some miners, whole, whatever fields are asked for", async () => {
      const asked = kind.service.listMiners({ group: "Hall A", fields: ["name"] }, caller);
      if (isReference) return expect(asked).rejects.toMatchObject({ code: "service.unsupported" });
      const some = operations.listMiners.reply.parse(await asked);
      const all = (await kind.service.listMiners({}, caller)).groupList;
      expect(some.groupList.map(({ name }) => name)).toEqual(["Hall A"]);
      expect(minersIn(some.groupList).map(({ id }) => id)).toEqual(
        minersIn(all.filter(({ name }) => name === "Hall A")).map(({ id }) => id),
      );
      const hash = await kind.service.listMiners({ status: ["Mining", "Idle"], group: some.groupList[0]?.id }, caller);
      expect(minersIn(hash.groupList).map(({ statusInfo }) => statusInfo.statusDisplay)).toContain("Mining");
    });

    test("a miner that mines has its figures in SI units", async () => {
      const { readings, statusInfo, controls } = await kind.service.getMiner({ id: kind.steered }, caller);
      expect(statusInfo.statusDisplay).toBe("Mining");
      expect(readings).toMatchObject({ stale: false, mining: true, notes: [] });
      expect(readings.hashrate).toBeGreaterThan(1e11);
      expect(readings.power).toBeGreaterThan(1);
      expect(readings.temperature).toBeGreaterThan(20);
      expect(readings.efficiency).toBeCloseTo((readings.power ?? 0) / (readings.hashrate ?? 1), 15);
      expect(Date.parse(readings.startedAt ?? "")).toBeLessThan(Date.parse(readings.at ?? ""));
      expect(controls).toContainEqual(expect.objectContaining({ key: "mining", kind: "switch", value: true }));
    });

    test("an active pool, and the pools that can be added", async () => {
      const { poolList } = await kind.service.getMiner({ id: kind.pooled }, caller);
      const [first] = poolList;
      const pool = await kind.service.getMinerPool({ id: kind.pooled, poolId: first?.id ?? 0 }, caller);
      expect(operations.getMinerPool.reply.parse(pool)).toMatchObject({
        id: first?.id,
        minerID: kind.pooled,
        additionalInfo: first?.additionalInfo,
      });
      const offered = operations.listAddPools.reply.parse(await kind.service.listAddPools({ id: kind.pooled }, caller));
      expect(offered.addPoolList).toContainEqual({ name: expect.any(String), type: "single", id: "1" });
    });

    test("only the notifications after one, of a Rigbridge", async () => {
      const { service } = kind;
      const asked = service.listNotifications({ since: 1_234_567_890 }, caller);
      if (isReference) return expect(asked).rejects.toMatchObject({ code: "service.unsupported" });
      expect(operations.listNotifications.reply.parse(await asked)).toMatchObject({ notificationCount: 0 });
      expect(await service.listNotifications({ since: 0 }, caller)).toEqual(
        await service.listNotifications({}, caller),
      );
    });

    test("everything else that is read", async () => {
      const { service } = kind;
      operations.listPools.reply.parse(await service.listPools({}, caller));
      operations.listPoolGroups.reply.parse(await service.listPoolGroups({}, caller));
      operations.listHosts.reply.parse(await service.listHosts({}, caller));
      operations.listManagedMiners.reply.parse(await service.listManagedMiners({}, caller));
      operations.listNotifications.reply.parse(await service.listNotifications({}, caller));
      operations.listManagedTemplates.reply.parse(await service.listManagedTemplates({}, caller));
      expect((await service.listMiningSoftware({}, caller)).length).toBeGreaterThan(3);
      expect((await service.listAlgorithms({}, caller)).length).toBeGreaterThan(3);
    });

    test("the summary counts the miners of the list", async () => {
      const summary = operations.getSummary.reply.parse(await kind.service.getSummary({}, caller));
      const all = await miners();
      expect(summary.totalCount).toBe(all.length);
      expect(summary.runningCount).toBe(all.filter(({ isRunning }) => isRunning).length);
    });
  });

  test("an unknown id is not found", async () => {
    const { service } = kind;
    const none = 999_999_999;
    for (const asked of [
      () => service.getMiner({ id: none }, caller),
      () => service.minerAction({ id: none, action: "restart" }, caller),
      () => service.getMinerPool({ id: kind.pooled, poolId: none }, caller),
      () => service.getPool({ id: none }, caller),
      () => service.getHost({ id: none }, caller),
      () => service.getManagedMiner({ id: none }, caller),
      () => service.notificationAction({ id: none, action: "ack" }, caller),
      () => service.deleteCoin({ shortName: "NONE" }, caller),
      () => service.getUser({ username: "nobody" }, caller),
      () => service.getUser({ username: ".." }, caller),
      () => service.listMiners({}, { ...caller, userId: 4_242 }),
    ])
      await expect(asked()).rejects.toMatchObject({ name: "RigbridgeError", code: "not.found" });
  });

  describe("users", () => {
    const seenBy = async (username: string) => {
      const { userId } = await kind.service.getUser({ username }, caller);
      return { ...caller, userId };
    };

    test("see the miners of their groups, and act on no others", async () => {
      const anna = await seenBy("anna");
      const { groupList } = operations.listMiners.reply.parse(await kind.service.listMiners({}, anna));
      expect(groupList.map(({ id }) => id)).toContain(kind.anna.groupId);
      const ids = minersIn(groupList).map(({ id }) => id);
      expect(ids.length).toBeGreaterThan(0);
      expect(ids).not.toContain(kind.steered);
      expect((await kind.service.getSummary({}, anna)).totalCount).toBe(ids.length);
      await expect(kind.service.getMiner({ id: kind.steered }, anna)).rejects.toMatchObject({ code: "not.found" });
      await expect(kind.service.minerAction({ id: kind.steered, action: "stop" }, anna)).rejects.toMatchObject({
        code: "not.found",
      });
      expect(await status(kind.steered)).toBe("Mining");
    });

    test("a user who may only view cannot act", async () => {
      const visitor = await seenBy(kind.visitor.name);
      await expect(kind.service.minerAction({ id: kind.steered, action: "stop" }, visitor)).rejects.toMatchObject({
        code: "user.forbidden",
      });
      expect(await status(kind.steered)).toBe("Mining");
    });
  });

  test("a miner is stopped and started, and watchers receive both", async () => {
    await kind.service.listMiners({}, caller);
    const told = watch(kind);
    const done = await kind.service.minerAction({ id: kind.steered, action: "stop" }, caller);
    expect(operations.minerAction.reply.parse(done)).toMatchObject({
      success: true,
      message: expect.stringMatching(/./),
    });
    kind.pass(60);
    const stopped = await told.until((event) => isMiner(event, kind.steered, "Stopped"), "the miner to be stopped");
    expect(stopped.data.readings.mining).toBe(false);
    expect(stopped.data.controls).toContainEqual(expect.objectContaining({ key: "mining", value: false }));
    await expect(kind.service.minerAction({ id: kind.steered, action: "stop" }, caller)).rejects.toMatchObject({
      code: "not.possible",
    });

    await kind.service.minerAction({ id: kind.steered, action: "set", property: "mining", value: "true" }, caller);
    kind.pass(60);
    await told.until((event) => isMiner(event, kind.steered, "Mining"), "the miner to be mining again");
    await told.end();
    expect(await status(kind.steered)).toBe("Mining");
  });

  test("a control that a miner does not have cannot be set", async () => {
    const asked = kind.service.minerAction(
      { id: kind.steered, action: "set", property: "board_77", value: "1" },
      caller,
    );
    await expect(asked).rejects.toMatchObject({ code: isReference ? "service.unsupported" : "control.absent" });
  });

  test("an active pool is made the first", async () => {
    const { poolList } = await kind.service.getMiner({ id: kind.pooled }, caller);
    const last = poolList.toSorted((a, b) => b.priorityInfo.priority - a.priorityInfo.priority)[0];
    expect(last?.canPrioritize).toBe(true);
    const input = { id: kind.pooled, poolId: last?.id ?? 0 };
    const done = await kind.service.minerPoolAction({ ...input, action: "prioritize" }, caller);
    operations.minerPoolAction.reply.parse(done);
    kind.pass(60);
    expect((await kind.service.getMinerPool(input, caller)).priorityInfo.priority).toBe(0);
  });

  test("a pool definition is added, changed in part, read and removed", async () => {
    const { service } = kind;
    const body = {
      id: 0,
      description: "Mine",
      coinClass: undefined,
      coinShortName: "BTC",
      coinAlgorithm: undefined,
      url: "stratum+tcp://solo.example.com:3333",
      workerName: "w",
      walletAddress: "bc1q",
      plainWorkerPassword: undefined,
    };
    const added = operations.savePool.reply.parse(await service.savePool(body, caller));
    expect(added).toMatchObject({ description: "Mine", url: body.url, workerName: "w", walletAddress: "bc1q" });
    expect((await service.listPools({}, caller)).list).toContainEqual(added);
    const part = { ...body, id: added.id, description: undefined, url: undefined, walletAddress: "bc1p" };
    const changed = await service.savePool({ ...part, coinShortName: undefined, workerName: undefined }, caller);
    expect(changed).toEqual({ ...added, walletAddress: "bc1p" });
    expect(await service.getPool({ id: added.id }, caller)).toEqual(changed);
    operations.deletePool.reply.parse(await service.deletePool({ id: added.id }, caller));
    await expect(service.getPool({ id: added.id }, caller)).rejects.toMatchObject({ code: "not.found" });
  });

  test("a host is added and read", async () => {
    const { service } = kind;
    const host = operations.saveHost.reply.parse(
      await service.saveHost({ id: 0, description: "Attic", hostname: "attic.example" }, caller),
    );
    expect(host.id).toBeGreaterThan(0);
    expect(await service.getHost({ id: host.id }, caller)).toEqual(host);
    expect(await service.listHosts({}, caller)).toContainEqual(host);
  });

  test("a coin's profitability is set, and a coin of one's own is added and removed", async () => {
    const { service } = kind;
    operations.saveCoin.reply.parse(await service.saveCoin({ shortName: "BTC", profit: 1.5e-12 }, caller));
    const own = { shortName: "OWN", name: "Own coin", algorithm: "SHA-256", profit: 1e-12 };
    operations.saveCoin.reply.parse(await service.saveCoin(own, caller));
    operations.deleteCoin.reply.parse(await service.deleteCoin({ shortName: "OWN" }, caller));
    await expect(service.deleteCoin({ shortName: "OWN" }, caller)).rejects.toMatchObject({ code: "not.found" });
    await expect(service.saveCoin({ shortName: "NEW", profit: 1 }, caller)).rejects.toMatchObject({
      code: "input.invalid",
    });
  });

  test("notifications are acknowledged and removed", async () => {
    const { service } = kind;
    operations.allNotificationsAction.reply.parse(await service.allNotificationsAction({ action: "ack_all" }, caller));
    expect((await service.listNotifications({}, caller)).unacknowledgedNotificationCount).toBe(0);
    await service.allNotificationsAction({ action: "clear_all" }, caller);
    expect(await service.listNotifications({}, caller)).toEqual({
      notificationList: [],
      notificationCount: 0,
      unacknowledgedNotificationCount: 0,
    });
  });

  test("a watch that is aborted ends", async () => {
    const told = watch(kind);
    await told.end();
    expect(told.isOver()).toBe(true);
  });
});

type MinerEvent = Extract<ServiceEvent, { type: "miner" }>;

const isMiner = (event: ServiceEvent, id: number, status: string): event is MinerEvent =>
  event.type === "miner" && event.data.id === id && event.data.statusInfo.statusDisplay === status;

/** Collects events until the wanted one comes; each is checked against the contract. */
function watch({ service }: Opened) {
  const over = new AbortController();
  let wake = () => {};
  let isOver = false;
  const events: ServiceEvent[] = [];
  const running = (async () => {
    for await (const event of service.watchEvents({}, caller, over.signal)) {
      events.push(operations.watchEvents.reply.parse(event));
      wake();
    }
    isOver = true;
  })();
  return {
    isOver: () => isOver,
    until: <E extends ServiceEvent>(wanted: (event: ServiceEvent) => event is E, awaited: string): Promise<E> => {
      const dropped: string[] = [];
      const first = async (): Promise<E> => {
        for (;;) {
          const event = events.shift();
          if (event === undefined)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          else if (wanted(event)) return event;
          else dropped.push(event.type);
        }
      };
      return within(first(), awaited, { details: () => `${dropped.length} other events came: ${dropped.join(", ")}` });
    },
    end: async () => {
      over.abort();
      await within(running, "the watch to end");
    },
  };
}
