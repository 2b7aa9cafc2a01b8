import { afterEach, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import registerAction from "../../nodes/miner-action/rigbridge-miner-action.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import type { FlowNode } from "./real-node-red.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const Report = z.object({ done: z.number(), failed: z.number(), results: z.array(z.object({ name: z.string() })) });
const Commands = z.array(z.object({ value: z.string(), isGrey: z.boolean(), cannot: z.array(z.unknown()) }));

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A miner action with these fields, and what it sends at "out". */
async function open(service: OpenedForNodes, fields: Readonly<Record<string, unknown>>): Promise<BenchFlow> {
  const action = { id: "action", type: "rigbridge-miner-action", version: 1, service: "service", wires: [["out"]] };
  const flow: FlowNode[] = [{ ...service.node }, { ...action, ...fields }, { id: "out", type: "helper" }];
  const { credentials, userDir } = service;
  const bench = await openFlow([registerService, registerAction], flow, { credentials, userDir });
  closers.push(() => bench.close());
  return bench;
}

/** The same once the service answers. */
async function openConnected(service: OpenedForNodes, fields: Readonly<Record<string, unknown>>): Promise<BenchFlow> {
  const bench = await open(service, fields);
  await until(
    () => bench.recorded("action").statuses.at(-1) === "green dot connected",
    "the miner action node to connect",
    { details: () => JSON.stringify(bench.recorded("action")) },
  );
  return bench;
}

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

describe.each(serviceKinds)("a miner action on $name", (kind) => {
  test("sends a command to a miner by name, and outputs the rig's reply with topic, miner and the message's other properties", async () => {
    const service = await openService(kind);
    const bench = await openConnected(service, { scope: "miners", miners: service.steered, action: "restart" });
    bench.send("action", { payload: "go", kept: 7 });
    await until(() => bench.recorded("out").messages.length > 0, "the rig's answer to the restart command", {
      details: () => JSON.stringify(bench.recorded("action")),
    });
    const [message] = bench.recorded("out").messages;
    expect(message).toMatchObject({
      payload: { success: true, message: expect.any(String), state: expect.stringMatching(/^(done|sent)$/) },
      topic: expect.stringMatching(/^[a-z0-9-]+$/),
      miner: { name: service.steered },
      kept: 7,
    });
    expect(bench.recorded("action").completed).toBe(1);
    expect(bench.recorded("action").statuses.at(-1)).toMatch(/^green dot .*\d\d:\d\d$/);
  });

  test("refuses an unknown miner, names the field, and continues", async () => {
    const service = await openService(kind);
    const bench = await openConnected(service, {
      scope: "miners",
      miners: "which",
      minersType: "msg",
      action: "restart",
      dryRun: true,
    });
    bench.send("action", { which: "Nobody" });
    await until(() => bench.recorded("action").errors.length === 1, "the error about the unknown miner");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "not.found",
      message: 'Miners: unknown miner "Nobody"',
    });
    expect(bench.recorded("action").statuses.at(-1)).toMatch(/^red dot Miners: unknown miner "Nobody"/);
    bench.send("action", { which: service.steered });
    await until(() => bench.recorded("out").messages.length === 1, "the answer for the miner that exists");
    expect(bench.recorded("out").messages[0]).toMatchObject({ payload: { success: true, state: "possible" } });
  });

  test("sends a command to all miners, and reports them in one message", async () => {
    const service = await openService(kind);
    const bench = await openConnected(service, { scope: "all", action: "stop", dryRun: true, output: "together" });
    bench.send("action", {});
    await until(() => bench.recorded("out").messages.length === 1, "the report on all miners");
    const { done, failed, results } = Report.parse(bench.recorded("out").messages[0]?.payload);
    expect(done + failed).toBe(service.miners.length);
    expect(results.map(({ name }) => name).toSorted()).toEqual(service.miners.toSorted());
  });

  test("refuses a command that a miner does not support, with the reason, and offers it in grey", async () => {
    const service = await openService(kind);
    const bench = await openConnected(service, {
      scope: "miners",
      miners: service.steered,
      action: "throttle",
      value: "50",
    });
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the missing control");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "control.absent",
      message: `${service.steered} cannot execute "throttle": it does not support this`,
    });
    const query = new URLSearchParams({ scope: "miners", miners: service.steered });
    const { body } = await bench.request().get(`/rigbridge/actions/service?${query}`);
    const commands = Commands.parse(body);
    expect(commands.find(({ value }) => value === "throttle")).toMatchObject({
      isGrey: true,
      cannot: [{ name: service.steered, reason: "no-control", lasting: true }],
    });
    expect(commands.find(({ value }) => value === "restart")).toMatchObject({ isGrey: false, cannot: [] });
  });
});

describe("a miner action", () => {
  test("skips the miners that cannot execute the command, if configured, and says how many", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, {
      scope: "all",
      action: "frequency",
      value: "500",
      ableOnly: true,
      dryRun: true,
      output: "together",
    });
    bench.send("action", {});
    await until(() => bench.recorded("out").messages.length === 1, "the report", {
      details: () => JSON.stringify(bench.recorded("action")),
    });
    const { results } = Report.parse(bench.recorded("out").messages[0]?.payload);
    expect(results.map(({ name }) => name)).toEqual(["Rig A"]);
    expect(bench.recorded("out").messages[0]).toMatchObject({ payload: { done: 1, failed: 0, skipped: 2 } });
    expect(bench.recorded("action").errors).toEqual([]);
    expect(bench.recorded("action").statuses.at(-1)).toMatch(/^green dot Rig A: .* · 2 skipped · \d\d:\d\d$/);
  });

  test("fails if none of the miners can execute the command, and never shows an earlier result in between", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, {
      scope: "group",
      group: "Hall B",
      action: "what",
      actionType: "msg",
      value: "500",
      ableOnly: true,
      dryRun: true,
    });
    bench.send("action", { what: "restart" });
    await until(() => bench.recorded("action").completed === 1, "the restart to be possible");
    const before = bench.recorded("action").statuses.length;
    bench.send("action", { what: "frequency" });
    await until(() => bench.recorded("action").errors.length === 1, "the error");
    const sentence = 'None of the 1 miners can execute "frequency" now';
    expect(bench.recorded("action").errors[0]).toMatchObject({ code: "control.absent", message: sentence });
    expect(bench.recorded("action").statuses.slice(before)).toEqual([
      "blue dot working",
      expect.stringMatching(`^red dot ${sentence}`),
    ]);
  });

  test("names the action that was probably meant", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, { scope: "all", action: "restrat" });
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the unknown action");
    expect(bench.recorded("action").errors[0]?.message).toBe(
      'Action: unknown action "restrat"; did you mean "restart"?',
    );
  });

  test("waits until the miner mines, or fails after the time given", async () => {
    const service = await openService({ open: openElsewhere });
    const fields = { scope: "miners", miners: "Rig A", action: "what", actionType: "msg", wait: true };
    const bench = await openConnected(service, { ...fields, waitMax: 60 });
    bench.send("action", { what: "stop" });
    await until(() => bench.recorded("out").messages.length === 1, "the answer to the stop, without waiting");
    bench.send("action", { what: "start" });
    await until(() => bench.recorded("out").messages.length === 2, "the miner to mine", {
      details: () => JSON.stringify(bench.recorded("action")),
    });
    expect(bench.recorded("out").messages[1]).toMatchObject({ miner: { statusInfo: { statusDisplay: "Mining" } } });
    expect(bench.recorded("action").errors).toEqual([]);
  });

  test("lists the miners that failed in one error", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, { scope: "all", action: "power_limit", value: "1" });
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the miners that failed");
    const [error] = bench.recorded("action").errors;
    expect(error?.message).toMatch(/^3 of 3 miners failed; the first: Rig A/);
    expect(error?.cause).toEqual([
      expect.objectContaining({ name: "Rig A", success: false, code: expect.any(String), topic: expect.any(String) }),
      expect.objectContaining({ name: "Rig B" }),
      expect.objectContaining({ name: "Rig C" }),
    ]);
  });

  test("takes its fields from the message, the environment and JSONata", async () => {
    const service = await openService({ open: openElsewhere });
    process.env.TEST_MINER = "rig a";
    const typed = {
      miners: "TEST_MINER",
      minersType: "env",
      action: 'wanted = 1 ? "locate" : "reboot"',
      actionType: "jsonata",
    };
    const bench = await openConnected(service, {
      scope: "miners",
      ...typed,
      value: "light",
      valueType: "msg",
      dryRun: true,
    });
    bench.send("action", { wanted: 1, light: true });
    await until(
      () => bench.recorded("out").messages.length + bench.recorded("action").errors.length > 0,
      "an answer or error for the locate command",
    );
    expect(bench.recorded("action").errors).toEqual([]);
    expect(bench.recorded("out").messages[0]).toMatchObject({
      miner: { name: "Rig A" },
      payload: { state: "possible" },
    });
  });

  test("accepts an action object with parameters, and a miner as nodes send it", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, {
      scope: "miners",
      miners: "miner",
      minersType: "msg",
      action: "do",
      actionType: "msg",
    });
    bench.send("action", { miner: "Rig A", do: { action: "stop" } });
    await until(
      () => bench.recorded("out").messages.length + bench.recorded("action").errors.length > 0,
      "an answer or error for the stop command",
    );
    expect(bench.recorded("action").errors).toEqual([]);
    const [stopped] = bench.recorded("out").messages;
    expect(stopped).toMatchObject({ payload: { success: true }, miner: { name: "Rig A" } });
    bench.send("action", { ...stopped, do: { action: "start" } });
    await until(() => bench.recorded("out").messages.length === 2, "the answer to the start command");
    bench.send("action", { miner: "Rig B", do: { action: "set_mode", wrong: 1 } });
    await until(() => bench.recorded("action").errors.length === 1, "the error about the missing mode");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "input.invalid",
      message: expect.stringMatching(/mode: is required/),
    });
  });

  test("sends a message with the same idempotencyKey once, and refuses a key that is none", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, { scope: "group", group: "Hall A", action: "restart" });
    for (const _ of [1, 2]) bench.send("action", { idempotencyKey: "evening" });
    await until(() => bench.recorded("out").messages.length === 4, "the answers to both messages", {
      details: () => JSON.stringify(bench.recorded("action")),
    });
    const { commandList } = await service.service.listCommands({}, { actor: "test" });
    expect(commandList.map(({ action, minerName }) => `${action} ${minerName}`).toSorted()).toEqual([
      "restart Rig A",
      "restart Rig B",
    ]);
    bench.send("action", { idempotencyKey: "two words" });
    await until(() => bench.recorded("action").errors.length === 1, "the error about the key");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "input.invalid",
      message: "msg.idempotencyKey must be 1 to 200 visible ASCII characters without spaces",
    });
  });

  test("refuses a name that two miners share", async () => {
    const service = await openService({ open: openElsewhere });
    await service.service.addMiner({ address: "127.0.0.1:9", name: "Rig A" }, { actor: "test" });
    const bench = await openConnected(service, { scope: "miners", miners: "Rig A", action: "restart" });
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the ambiguous miner name");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "input.invalid",
      message: expect.stringMatching(/^Miners: 2 miners match "Rig A"; use the uid: /),
    });
    expect(bench.recorded("out").messages).toEqual([]);
  });

  test("names the unknown one of several miners, and sends no command", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, { scope: "miners", miners: "Rig A, Hall", action: "restart" });
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the unknown miner");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "not.found",
      message: 'Miners: unknown miner "Hall"',
    });
  });

  test.each([
    [{ scope: "miners", miners: "Rig A", action: "" }, "input.invalid", "Action: is empty"],
    [{ scope: "miners", miners: "Rig A", action: "dance" }, "input.invalid", 'Action: unknown action "dance"'],
    [{ scope: "miners", miners: "Rig A", action: "mode" }, "input.invalid", 'Value: "mode" needs a value'],
    [{ scope: "miners", miners: "", action: "stop" }, "input.invalid", "Miners: is empty"],
    [{ scope: "group", group: "Hall Z", action: "stop" }, "not.found", 'Group: unknown group "Hall Z"'],
    [
      { scope: "miners", miners: "Rig A", action: "change_pool", value: "Nowhere" },
      "input.invalid",
      /"Nowhere" is not a pool of Rig A/,
    ],
    [{ scope: "miners", miners: "x", minersType: "msg", action: "stop" }, "input.invalid", /^Miners: must be a name/],
    [
      { scope: "miners", miners: "$bad(", minersType: "jsonata", action: "stop" },
      "input.invalid",
      /^Miners: .*\(jsonata\)$/,
    ],
  ])("with %j reports %s", async (fields, code, message) => {
    const service = await openService({ open: openElsewhere });
    const bench = await openConnected(service, fields);
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the wrong fields");
    expect(bench.recorded("action").errors[0]?.code).toBe(code);
    expect(bench.recorded("action").errors[0]?.message).toMatch(message);
    expect(bench.recorded("action").completed).toBe(0);
  });

  test("with a wrong configuration answers every message with the error", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { scope: "miners", miners: "Rig A", action: "stop", parallel: "many" });
    expect(bench.recorded("action").statuses).toEqual(["red dot In parallel: must be a number in the allowed range"]);
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the wrong configuration");
    expect(bench.recorded("action").errors[0]?.code).toBe("config.invalid");
  });

  test("without a service names the missing field", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { service: "gone", scope: "all", action: "stop" });
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the missing service");
    expect(bench.recorded("action").errors[0]?.message).toBe("Service: choose a service and deploy");
  });
});

describe("a miner action while the service is away", () => {
  const lost = (bench: BenchFlow) => () => bench.recorded("action").statuses.at(-1)?.startsWith("red ring") === true;

  test("refuses messages without a queue, and recovers automatically", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const bench = await openConnected(service, { scope: "miners", miners: "Rig A", action: "restart", dryRun: true });
    await service.away();
    await until(lost(bench), "the node to show that the service is away");
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the unreachable service");
    expect(bench.recorded("action").errors[0]?.code).toBe("service.unreachable");
    await service.back();
    await until(
      () => bench.recorded("action").statuses.at(-1)?.startsWith("red ring") === false,
      "the node to show that the service is back",
    );
    bench.send("action", {});
    await until(() => bench.recorded("out").messages.length === 1, "the answer after the service is back");
  });

  test("keeps the latest messages, in order", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const fields = { scope: "miners", miners: "Rig A", action: "restart", dryRun: true };
    const bench = await openConnected(service, { ...fields, queue: "all", queueCount: "3", queueAge: "600" });
    await service.away();
    await until(lost(bench), "the node to show that the service is away");
    for (const n of [1, 2, 3, 4]) bench.send("action", { n });
    await until(() => bench.recorded("action").errors.length === 1, "the error about the oldest message");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "not.possible",
      message: expect.stringMatching(/oldest/),
    });
    await until(
      () => bench.recorded("action").statuses.at(-1)?.endsWith("3 waiting") === true,
      "the node to show three waiting messages",
    );
    await service.back();
    await until(() => bench.recorded("out").messages.length === 3, "the answers to the three waiting messages");
    expect(bench.recorded("out").messages.map(({ n }) => n)).toEqual([2, 3, 4]);
  });

  test("never sends an expired message", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const fields = { scope: "miners", miners: "Rig A", action: "restart", dryRun: true };
    const bench = await openConnected(service, { ...fields, queue: "all", queueAge: "1" });
    await service.away();
    await until(lost(bench), "the node to show that the service is away");
    bench.send("action", {});
    await until(() => bench.recorded("action").errors.length === 1, "the error about the expired message");
    expect(bench.recorded("action").errors[0]).toMatchObject({
      code: "service.unreachable",
      message: expect.stringMatching(/expired/),
    });
    await service.back();
    await until(() => !lost(bench)(), "the node to show that the service is back");
    expect(bench.recorded("out").messages).toEqual([]);
  });

  test("keeps only the latest message", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const fields = { scope: "miners", miners: "Rig A", action: "restart", dryRun: true };
    const bench = await openConnected(service, { ...fields, queue: "latest", queueAge: "600" });
    await service.away();
    await until(lost(bench), "the node to show that the service is away");
    for (const n of [1, 2, 3]) bench.send("action", { n });
    await until(() => bench.recorded("action").errors.length === 2, "the errors about both replaced messages");
    await service.back();
    await until(() => bench.recorded("out").messages.length === 1, "the answer to the latest message");
    expect(bench.recorded("out").messages[0]).toMatchObject({ n: 3 });
  });
});
