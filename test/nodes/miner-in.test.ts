import { afterEach, describe, expect, test } from "@jest/globals";
import registerAction from "../../nodes/miner-action/rigbridge-miner-action.ts";
import registerIn from "../../nodes/miner-in/rigbridge-miner-in.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import type { FlowNode } from "./real-node-red.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Fields = Readonly<Record<string, unknown>>;

/** A miner in with these fields, which sends to "out" and "over", and a miner action for the same service. */
async function open(service: OpenedForNodes, fields: Fields, action: Fields = {}): Promise<BenchFlow> {
  const shared = { version: 1, service: "service" };
  const flow: FlowNode[] = [
    { ...service.node },
    { id: "in", type: "rigbridge-miner-in", ...shared, scope: "all", ...fields, wires: [["out"], ["over"]] },
    { id: "action", type: "rigbridge-miner-action", ...shared, scope: "miners", miners: service.steered, ...action },
    { id: "out", type: "helper" },
    { id: "over", type: "helper" },
  ];
  const { credentials, userDir } = service;
  const bench = await openFlow([registerService, registerIn, registerAction], flow, { credentials, userDir });
  closers.push(() => bench.close());
  return bench;
}

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

const detailsOf = (bench: BenchFlow) => () =>
  JSON.stringify([bench.recorded("in"), bench.recorded("out")]).slice(0, 5000);
const got = (bench: BenchFlow, count: number, awaited: string) =>
  until(() => bench.recorded("out").messages.length >= count, awaited, { details: detailsOf(bench) });

describe.each(serviceKinds)("a miner in on $name", (kind) => {
  test("sends the state of each miner as soon as it is known", async () => {
    const service = await openService(kind);
    const bench = await open(service, { interval: 3600 });
    await got(bench, service.miners.length, "the states of all miners");
    const { messages } = bench.recorded("out");
    expect(messages.map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: service.steered, status: "mining", online: true, stale: false }),
      ]),
    );
    const steered = messages.find(({ payload }) => nameIn(payload) === service.steered);
    expect(steered).toMatchObject({ topic: expect.stringMatching(/^[a-z0-9-]+$/), miner: { name: service.steered } });
    expect(messages.map(({ payload }) => nameIn(payload)).toSorted()).toEqual(service.miners.toSorted());
    expect(bench.recorded("in").errors).toEqual([]);
    expect(bench.recorded("in").statuses).toContainEqual(
      expect.stringMatching(/^green dot .+: Mining · [\d.,]+ .H\/s(, .*\d.*)? · \d\d:\d\d$/),
    );
  });

  test("sends the miners of a group together", async () => {
    const service = await openService(kind);
    const bench = await open(service, {
      scope: "group",
      group: service.group,
      output: "together",
      interval: 1,
      repeat: true,
    });
    await got(bench, 2, "the second message about the group");
    expect(bench.recorded("out").messages[0]).toMatchObject({
      payload: expect.arrayContaining([expect.objectContaining({ status: expect.any(String) })]),
      miners: expect.arrayContaining([expect.objectContaining({ readings: expect.any(Object) })]),
    });
  });

  test("reports a crossed limit at output 1, once, and shows the number of miners", async () => {
    const service = await openService(kind);
    const bench = await open(service, {
      scope: "miners",
      miners: service.steered,
      when: "threshold",
      hold: 1,
      hysteresis: 0,
      property: "hashrate",
      is: "above",
      threshold: "0",
      basis: "value",
      unit: "GH/s",
    });
    await got(bench, 1, "the message that the hash rate exceeds the limit");
    expect(bench.recorded("out").messages[0]).toMatchObject({
      payload: { name: service.steered },
      condition: { state: "begun", property: "hashrate", is: "above", limit: 0, unit: "GH/s" },
    });
    await until(
      () => bench.recorded("in").statuses.at(-1)?.startsWith("green dot 1 of 1 above the limit ·") === true,
      "the node to count the miner above the limit",
      { details: detailsOf(bench) },
    );
    expect(bench.recorded("over").messages).toEqual([]);
  });

  test("reports a stopped miner, with the status before", async () => {
    const service = await openService(kind);
    const fields = { scope: "miners", miners: service.steered, when: "status" };
    const bench = await open(service, fields, { action: "stop" });
    await until(
      () => bench.recorded("action").statuses.at(-1) === "green dot connected",
      "the miner action node to connect",
      { details: detailsOf(bench) },
    );
    bench.send("action", {});
    await until(() => bench.recorded("action").completed === 1, "the miner action node to finish the stop command", {
      details: () => JSON.stringify(bench.recorded("action")),
    });
    service.pass(60);
    await got(bench, 1, "the message about the stopped miner");
    expect(bench.recorded("out").messages.at(0)).toMatchObject({
      previous: "mining",
      payload: { name: service.steered },
    });
    expect(bench.recorded("out").messages.at(0)).not.toMatchObject({ payload: { status: "mining" } });
  });

  test("reports an unreachable miner, and nothing about its hash rate", async () => {
    const service = await openService(kind);
    const fields = { scope: "miners", miners: service.steered, interval: 1 };
    const bench = await open(service, fields);
    await got(bench, 1, "the first state of the miner");
    service.switchOff(service.steered);
    await until(
      () => stateIn(bench.recorded("out").messages.at(-1)?.payload).online === false,
      "the message that the miner is offline",
      { details: detailsOf(bench) },
    );
    expect(bench.recorded("out").messages.at(-1)).toMatchObject({
      payload: { status: "disconnected", hashrate: null, power: null, mining: null },
    });
    const { length } = bench.recorded("out").messages;
    await until(
      () => bench.recorded("in").statuses.at(-1)?.includes("Disconnected") === true,
      "the node to show the miner as disconnected",
    );
    expect(bench.recorded("out").messages.slice(length)).toEqual([]);
  });
});

const stateIn = (payload: unknown): Fields => (typeof payload === "object" && payload !== null ? { ...payload } : {});
const nameIn = (payload: unknown): unknown => stateIn(payload).name;

describe("a miner in", () => {
  test("reports an unknown name once, and watches the others", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { scope: "miners", miners: "Rig A, Nobody", interval: 1, repeat: true });
    await got(bench, 3, "the third message about Rig A");
    expect(bench.recorded("in").errors).toEqual([
      { code: "not.found", message: 'Miners: unknown miner "Nobody"', cause: undefined },
    ]);
    expect(bench.recorded("in").statuses.at(-1)).toMatch(/^red dot Miners: unknown miner "Nobody"/);
    expect(new Set(bench.recorded("out").messages.map(({ payload }) => nameIn(payload)))).toEqual(new Set(["Rig A"]));
  });

  test("takes its miners from the environment", async () => {
    const service = await openService({ open: openElsewhere });
    process.env.TEST_WATCHED = "rig b";
    const bench = await open(service, { scope: "miners", miners: "TEST_WATCHED", minersType: "env" });
    await got(bench, 1, "the state of Rig B");
    expect(bench.recorded("out").messages[0]).toMatchObject({ payload: { name: "Rig B" } });
  });

  test("counts the miners whose value is unknown", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, {
      when: "threshold",
      property: "room_temperature",
      basis: "value",
      threshold: 20,
    });
    await until(
      () => bench.recorded("in").statuses.at(-1)?.startsWith("green dot 0 of 3 below the limit · 3 unknown") === true,
      "the node to count the unknown miners",
      { details: detailsOf(bench) },
    );
  });

  test("sends nothing while the service is away, and continues when it is back", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const bench = await open(service, { scope: "miners", miners: "Rig A", interval: 1, repeat: true });
    await got(bench, 1, "the first state of Rig A");
    await service.away();
    await until(
      () => bench.recorded("in").statuses.at(-1)?.startsWith("red ring") === true,
      "the node to show that the service is away",
      { details: detailsOf(bench) },
    );
    const { length } = bench.recorded("out").messages;
    await service.back();
    await got(bench, length + 1, "the next state after the service is back");
    expect(bench.recorded("in").statuses.at(-1)).toMatch(/^green dot/);
  });

  test("reports a new best share, with the value before", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const bench = await open(service, { when: "event" });
    // A rig that has just started finds a better share nearly every second.
    const farm = await startFarm({ rigs: [{ kind: "cgminer" }] });
    closers.push(() => farm.close());
    await service.service.addMiner({ address: farm.rigs[0]?.address ?? "", name: "Fresh" }, { actor: "test" });
    await got(bench, 1, "the message about the best share");
    const [message] = bench.recorded("out").messages;
    expect(message).toMatchObject({ event: "best_share", payload: { name: "Fresh" } });
    expect(Number(message?.value)).toBeGreaterThan(Number(message?.previous));
    expect(bench.recorded("in").statuses.at(-1)).toContain("Fresh: best share");
  });

  test("does not mistake an unreachable service for unreachable miners", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const bench = await open(service, { when: "status" }, { action: "stop" });
    await until(
      () => bench.recorded("action").statuses.at(-1) === "green dot connected",
      "the miner action node to connect",
      { details: detailsOf(bench) },
    );
    await service.away();
    await until(
      () => bench.recorded("in").statuses.at(-1)?.startsWith("red ring") === true,
      "the miner in node to lose the service",
      { details: detailsOf(bench) },
    );
    await service.back();
    await until(
      () => bench.recorded("action").statuses.at(-1)?.startsWith("green") === true,
      "the miner action node to reconnect",
      { details: detailsOf(bench) },
    );
    bench.send("action", {});
    await got(bench, 1, "the message about the stopped miner");
    expect(bench.recorded("out").messages.map(({ previous }) => previous)).toEqual(["mining"]);
    expect(bench.recorded("out").messages[0]).toMatchObject({ payload: { name: "Rig A", status: "stopped" } });
  });

  test("lists the properties that can have a limit for the editor", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { interval: 3600 });
    const { body } = await bench.request().get("/rigbridge/judged");
    expect(body).toEqual(
      expect.arrayContaining([
        { key: "hashrate", units: expect.arrayContaining(["TH/s"]), bases: ["value", "expected", "average"] },
        { key: "temperature", units: ["°C"], bases: ["value"] },
      ]),
    );
  });

  test.each<[Fields, string, string | RegExp]>([
    [{ scope: "miners", miners: "" }, "input.invalid", "Miners: is empty"],
    [{ scope: "miners", miners: "Nobody" }, "not.found", 'Miners: unknown miner "Nobody"'],
    [{ scope: "group", group: "Hall Z" }, "not.found", 'Group: unknown group "Hall Z"'],
    [{ scope: "miners", miners: "$bad(", minersType: "jsonata" }, "input.invalid", /^Miners: .*\(jsonata\)$/],
    [{ scope: "miners", miners: "unset", minersType: "global" }, "input.invalid", /^Miners: must be a name/],
  ])("with %j reports %s", async (fields, code, message) => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, fields);
    await until(() => bench.recorded("in").errors.length === 1, "the error about the chosen miners", {
      details: detailsOf(bench),
    });
    expect(bench.recorded("in").errors[0]?.code).toBe(code);
    expect(bench.recorded("in").errors[0]?.message).toMatch(message);
    expect(bench.recorded("out").messages).toEqual([]);
  });

  test.each<[Fields, string]>([
    [{ scope: "miners", miners: "who", minersType: "msg" }, "Miners: this node has no input, so no message"],
    [{ interval: "often" }, "Interval: must be a number in the allowed range"],
    [{ interval: 0 }, "Interval: must be a number in the allowed range"],
    [{ when: "sometimes" }, "Send: has the wrong type"],
    [{ when: "threshold", property: "status" }, "Property: is not a property that can have a limit"],
    [{ when: "threshold", property: "power", basis: "expected" }, "Unit: is not available for this property"],
    [{ when: "threshold", property: "power", basis: "value", unit: "TH/s" }, "Unit: has the wrong type"],
    [{ when: "threshold", threshold: "low" }, "Limit: must be a number in the allowed range"],
    [{ when: "threshold", hold: -1 }, "Hold time: must be a number in the allowed range"],
    [{ when: "threshold", hysteresis: -1 }, "Hysteresis: must be a number in the allowed range"],
    [{ scope: "some" }, "For: is missing"],
    [{ service: "gone" }, "Service: choose a service and deploy"],
    [{ version: 9 }, "This node was configured by a newer version"],
  ])("with %j stands still and gives the reason", async (fields, words) => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, fields);
    expect(bench.recorded("in").warnings[0]).toContain(words);
    expect(bench.recorded("in").statuses[0]).toContain(`red dot ${words}`.slice(0, 40));
  });
});
