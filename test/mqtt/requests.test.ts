import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { minersIn } from "../../src/contract/miners-in.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { caller, kinds, type Opened } from "../contract/kinds.ts";
import { until } from "../until.ts";
import { bridgeTo } from "./bridged.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

type Answer = Readonly<Record<string, unknown>>;
type Input = Readonly<Record<string, unknown>>;

/** How the response is requested. */
const ways = ["response topic", "transaction"] as const;

describe.each(kinds)("requests to $name", ({ open, isReference }) => {
  let mosquitto: Mosquitto;
  let opened: Opened;
  let farm: Farm;
  let bridge: Bridge;
  let listener: Subscriber;
  beforeAll(async () => {
    [mosquitto, opened, farm] = await Promise.all([
      startMosquitto(),
      open(),
      startFarm({ rigs: [{ kind: "axeos", warm: true, mac: "02:51:00:00:00:88" }] }),
    ]);
    listener = await subscribeAt(mosquitto.url);
    bridge = await bridgeTo(opened.service, { url: mosquitto.url });
    await listener.until(({ topic }) => topic === "rigbridge/summary");
  });
  afterAll(async () => {
    await bridge.close();
    await listener.close();
    await opened.close();
    await farm.close();
    await mosquitto.stop();
  });

  /** As in src/mqtt/responder.ts. */
  const refusalsPerSecond = 20;
  const secondNow = (): number => Math.floor(Date.now() / 1000);
  let asked = 0;
  async function ask(operation: OperationName, input: Input, way: (typeof ways)[number] = "transaction") {
    asked += 1;
    const mark = `${operation} ${asked}`;
    const from = listener.received.length;
    const topic = `rigbridge/bridge/request/${operation}`;
    if (way === "response topic") {
      const responseTopic = `answers/${operation}`;
      await listener.publish(topic, JSON.stringify(input), { responseTopic, correlation: mark });
      const heard = await listener.until((each) => each.topic === responseTopic && each.correlation === mark, from);
      const answer: Answer = JSON.parse(heard.payload);
      return answer;
    }
    await listener.publish(topic, JSON.stringify({ ...input, transaction: mark }));
    const isMine = ({ topic: at, payload }: { topic: string; payload: string }) =>
      at === `rigbridge/bridge/response/${operation}` && JSON.parse(payload).transaction === mark;
    const { transaction: _, ...answer }: Answer = JSON.parse((await listener.until(isMine, from)).payload);
    return answer;
  }

  const ours = { status: "error", code: "service.unsupported" };
  /** What a Rigbridge answers; the other product does not offer what is ours. */
  const expected = (operation: OperationName, answer: object) =>
    isReference && "extension" in operations[operation] && !("view" in operations[operation])
      ? ours
      : { status: "ok", ...answer };

  const reads = (): [OperationName, Input][] => [
    ...operationNames
      .filter((name) => operations[name].method === "GET" && !operations[name].path.includes(":"))
      .filter((name) => operations[name].kind === "call")
      .map((name): [OperationName, Input] => [name, "view" in operations[name] ? { view: operations[name].view } : {}]),
    ["getMiner", { id: opened.steered }],
    ["listAddPools", { id: String(opened.pooled) }],
    ["getPool", { id: 1 }],
    ["getUser", { username: "anna" }],
    ["listCommands", { miner: opened.steered, since: "2026-01-01T00:00:00Z" }],
    ["getHistory", { id: opened.steered, step: "60" }],
  ];

  test.each(ways)("every read without parameters is answered as in the contract, by %s", async (way) => {
    const asking = reads();
    expect(asking.length).toBeGreaterThan(18);
    const answers: Answer[] = [];
    for (let begun = 0; begun < asking.length; begun += refusalsPerSecond) {
      const second = secondNow();
      const some = asking.slice(begun, begun + refusalsPerSecond);
      answers.push(...(await Promise.all(some.map(([name, input]) => ask(name, input, way)))));
      // The bridge refuses no more in a second, and the other product does not offer most of these.
      if (isReference) await until(() => secondNow() > second, "the next second");
    }
    for (const [index, [name]] of asking.entries()) {
      const answer = answers[index];
      expect([name, answer]).toEqual([name, expect.objectContaining(expected(name, {}))]);
      if (answer?.status === "ok")
        expect([name, operations[name].reply.safeParse(answer.data).error]).toEqual([name, undefined]);
    }
  });

  test("the list of miners can be limited to some, if the service supports that, and to some fields", async () => {
    const { groupList } = await opened.service.listMiners({}, caller);
    const status = minersIn(groupList).find(({ id }) => id === opened.steered)?.statusInfo.statusDisplay;
    const some = await ask("listMiners", { status, fields: "name" });
    expect(some).toMatchObject(isReference ? ours : { status: "ok" });
    const { data } = await ask("listMiners", { fields: "name,statusInfo" });
    for (const answer of isReference ? [data] : [data, some.data])
      JSON.stringify(answer, (key, value: unknown) => {
        if (key !== "minerList" || !Array.isArray(value)) return value;
        for (const miner of value)
          expect(Object.keys(miner).filter((field) => field !== "statusInfo")).toEqual(["id", "name"]);
        return value;
      });
    expect(await ask("listMiners", { status: "Minning" })).toMatchObject({
      code: "input.invalid",
      error: expect.stringContaining('did you mean "Mining"?'),
    });
  });

  test("a pool definition is added, changed, read and removed", async () => {
    const saved = await ask("savePool", { description: "East", url: "stratum+tcp://east.example.com:3333" });
    expect(saved).toMatchObject({ status: "ok", data: { description: "East" } });
    const { id } = operations.savePool.reply.parse(saved.data);
    await ask("savePool", { id, description: "Far East" }, "response topic");
    expect(await ask("getPool", { id })).toMatchObject({ data: { description: "Far East" } });
    expect((await opened.service.getPool({ id }, caller)).description).toBe("Far East");
    expect(await ask("deletePool", { id })).toMatchObject({ status: "ok" });
    expect(await ask("getPool", { id })).toMatchObject({ status: "error", code: "not.found" });
  });

  test("a miner is stopped, started and switched to another pool", async () => {
    const isRunning = async () => (await opened.service.getMiner({ id: opened.steered }, caller)).isRunning;
    for (const [action, is] of [
      ["stop", false],
      ["start", true],
    ] as const) {
      expect(await ask("minerAction", { id: opened.steered, action }, "response topic")).toMatchObject({
        status: "ok",
      });
      opened.pass(3600);
      expect(await isRunning()).toBe(is);
    }
    const { poolList, pool } = await opened.service.getMiner({ id: opened.pooled }, caller);
    const other = poolList.find((each) => each.canPrioritize && each.name !== pool);
    const change = { id: opened.pooled, poolId: other?.id, action: "prioritize" };
    expect(await ask("minerPoolAction", change)).toMatchObject({ status: "ok" });
    opened.pass(3600);
    const { poolList: after } = await opened.service.getMiner({ id: opened.pooled }, caller);
    expect(after.find(({ id }) => id === other?.id)?.priorityInfo.priority).toBe(
      Math.min(...after.map(({ priorityInfo }) => priorityInfo.priority)),
    );
  });

  test("a group and a miner in it are added, changed, controlled singly and in bulk, and deleted", async () => {
    const [rig] = farm.rigs;
    const added = await ask("addGroup", { name: "Barn" });
    expect(added).toMatchObject(expected("addGroup", { data: { name: "Barn", parentId: 0 } }));
    const group = isReference ? 1 : operations.addGroup.reply.parse(added.data).id;
    expect(await ask("changeGroup", { id: group, name: "Shed" }, "response topic")).toMatchObject(
      expected("changeGroup", { data: { name: "Shed" } }),
    );
    const given = { address: rig?.address, name: "Attic", group: "Shed", tags: ["new"] };
    const miner = await ask("addMiner", given);
    expect(miner).toMatchObject(expected("addMiner", { data: { name: "Attic", groupId: group } }));
    const id = isReference ? 1 : operations.addMiner.reply.parse(miner.data).id;
    const polled = await ask("pollMiner", { id }, "response topic");
    expect(polled).toMatchObject(expected("pollMiner", { data: { uid: "025100000088", isRunning: true } }));
    expect(await ask("changeMiner", { id, name: "Cellar", interval: 30 })).toMatchObject(
      expected("changeMiner", { data: { name: "Cellar", tags: ["new"] } }),
    );
    const bulk = await ask("startBulkAction", { action: "locate", parameters: { on: true }, groups: [group] });
    expect(bulk).toMatchObject(expected("startBulkAction", {}));
    if (!isReference) {
      const job = operations.startBulkAction.reply.parse(bulk.data);
      const read = async () => operations.getBulkAction.reply.parse((await ask("getBulkAction", job)).data);
      await until(async () => (await read()).state !== "running", "the bulk action to finish");
      expect(await read()).toMatchObject({ total: 1, done: 1, results: [{ minerId: id, state: "done" }] });
      const set = { id, action: "set", property: "frequency", value: "500" };
      expect(await ask("minerAction", set)).toMatchObject({ status: "ok" });
      expect(rig?.requests.writes).toEqual(["POST /api/system/identify", 'PATCH /api/system {"frequency":500}']);
    }
    expect(await ask("deleteMiner", { id })).toMatchObject(expected("deleteMiner", {}));
    expect(await ask("deleteGroup", { id: group })).toMatchObject(expected("deleteGroup", {}));
    if (!isReference) expect(await ask("getMiner", { id })).toMatchObject({ code: "not.found" });
  });

  test("is limited to the rights of the user for whom it is made", async () => {
    const { userId: visitor } = await opened.service.getUser({ username: opened.visitor.name }, caller);
    const { userId: anna } = await opened.service.getUser({ username: "anna" }, caller);
    const stop = { id: opened.steered, action: "stop" };
    expect(await ask("minerAction", { ...stop, user_id: visitor })).toMatchObject({ code: "user.forbidden" });
    expect(await ask("minerAction", { ...stop, user_id: anna })).toMatchObject({ code: "not.found" });
    expect(await ask("listMiners", { user_id: 4_242 })).toMatchObject({ code: "not.found" });
    const { data } = await ask("listMiners", { user_id: anna });
    const { groupList } = operations.listMiners.reply.parse(data);
    expect(groupList.flatMap(({ minerList }) => minerList).map(({ id }) => id)).not.toContain(opened.steered);
    expect((await opened.service.getMiner({ id: opened.steered }, caller)).isRunning).toBe(true);
  });
});
