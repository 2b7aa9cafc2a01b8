import { afterEach, describe, expect, test } from "@jest/globals";
import type { NodeMessage } from "node-red";
import { z } from "zod";
import registerCoin from "../../nodes/coin-profit/rigbridge-coin-profit.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import type { FlowNode } from "./real-node-red.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Opened extends BenchFlow {
  /** Sends a message into the node, and returns the resulting message or error. */
  ask(msg: NodeMessage): Promise<NodeMessage | { readonly message: string; readonly code: unknown }>;
}

/** A coin profit with these fields, once the service answers. */
async function open(service: OpenedForNodes, fields: Readonly<Record<string, unknown>>): Promise<Opened> {
  const coin = { id: "coin", type: "rigbridge-coin-profit", version: 1, service: "service", wires: [["out"]] };
  const flow: FlowNode[] = [{ ...service.node }, { ...coin, ...fields }, { id: "out", type: "helper" }];
  const { credentials, userDir } = service;
  const bench = await openFlow([registerService, registerCoin], flow, { credentials, userDir });
  closers.push(() => bench.close());
  const recorded = bench.recorded("coin");
  await until(() => recorded.statuses.at(-1) === "green dot connected", "the coin profit node to connect", {
    details: () => JSON.stringify(recorded),
  });
  const { messages } = bench.recorded("out");
  return {
    ...bench,
    ask: async (msg) => {
      const before = { messages: messages.length, errors: recorded.errors.length };
      bench.send("coin", msg);
      await until(
        () => messages.length > before.messages || recorded.errors.length > before.errors,
        "a message or error of the coin profit node",
        { details: () => JSON.stringify(recorded) },
      );
      const outcome = messages[before.messages] ?? recorded.errors[before.errors];
      if (outcome === undefined) throw new Error("Nothing came of it");
      return outcome;
    },
  };
}

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

const Refusal = z.object({ message: z.string(), code: z.string() });

/** The whole request in `msg.payload`. */
const byMessage = { action: "payload", actionType: "msg" };

const done = (shortName: string) => ({
  payload: { success: true, message: expect.any(String) },
  topic: shortName,
});

describe.each(serviceKinds)("coin profit on $name", (kind) => {
  test("sets the profit of a coin from its fields, and keeps the message's other properties", async () => {
    const service = await openService(kind);
    const fields = { action: "set", coin: "BTC", worth: "profit", profit: "payload", profitType: "msg" };
    const bench = await open(service, fields);
    expect(await bench.ask({ payload: 1.5e-12, kept: 7 })).toMatchObject({ ...done("BTC"), kept: 7 });
    expect(bench.recorded("coin").completed).toBe(1);
    expect(bench.recorded("coin").statuses.at(-1)).toMatch(/^green dot .*Bitcoin.* · \d\d:\d\d$/);
  });

  test("adds coins with profit and with market data, and deletes them", async () => {
    const service = await openService(kind);
    const bench = await open(service, byMessage);
    const abacus = { shortName: "ABA", name: "Abacus", algorithm: "sha256" };
    const market = { ...abacus, shortName: "ABB", name: "Abbey", difficulty: 1000, reward: "3.125" };
    expect(await bench.ask({ payload: { action: "add", ...abacus, profit: 2e-12 } })).toMatchObject(done("ABA"));
    expect(await bench.ask({ payload: { action: "add", ...market, usd: 0.02 } })).toMatchObject(done("ABB"));
    expect(await bench.ask({ payload: { action: "set", ...market, btc: "0.0000001" } })).toMatchObject(done("ABB"));
    for (const shortName of ["ABA", "ABB"])
      expect(await bench.ask({ payload: { action: "delete", shortName } })).toMatchObject(done(shortName));
    expect(await bench.ask({ payload: { action: "delete", shortName: "ABA" } })).toMatchObject({ code: "not.found" });
    expect(await bench.ask({ payload: { action: "delete", shortName: "BTC" } })).toMatchObject({
      code: "not.possible",
    });
  });

  test("adds a coin from fields, and omits empty ones", async () => {
    const service = await openService(kind);
    const bench = await open(service, {
      action: "add",
      coin: "ABC",
      coinName: "Abacus",
      algorithm: "sha256",
      worth: "market",
      currency: "usd",
      difficulty: "1000",
      difficultyType: "num",
      reward: "payload.reward",
      rewardType: "msg",
      price: "0.02",
      profit: "not sent",
    });
    expect(await bench.ask({ payload: { reward: 3.125 } })).toMatchObject(done("ABC"));
    expect(await bench.ask({ payload: {} })).toMatchObject({ code: "input.invalid" });
  });

  test("reports every error at once, as the API words them", async () => {
    const service = await openService(kind);
    const bench = await open(service, byMessage);
    const wrong = { shortName: "a b", profit: "1,5", name: ["no"], reward: -1, usd: Number.NaN, colour: "red" };
    const { message, code } = Refusal.parse(await bench.ask({ payload: { action: "add", ...wrong } }));
    expect(code).toBe("input.invalid");
    const decimal = "must be a decimal number with a point, not negative, like 0.00012";
    expect(message.split("; ").toSorted()).toEqual([
      "colour: is not known to this operation",
      "name: must be a text, a number, true or false",
      `profit: ${decimal}`,
      "reward: cannot be given together with profit",
      `reward: ${decimal}`,
      "shortName: 1 to 32 of A-Z, a-z, 0-9, dot, underscore, hyphen",
      "usd: cannot be given together with profit",
      `usd: ${decimal}`,
    ]);
    expect(bench.recorded("coin").statuses.at(-1)).toMatch(/^red dot /);
    expect(await bench.ask({ payload: { action: "set", shortName: "BTC", profit: 0 } })).toMatchObject(done("BTC"));
  });

  test("offers the service's coins and algorithms to the editor", async () => {
    const service = await openService(kind);
    const bench = await open(service, byMessage);
    const { body: coins } = await bench.request().get("/rigbridge/services/service/coins");
    // The service inside Node-RED has no pool definitions here, and its rigs mine at unknown pools.
    const known = kind.name.includes("inside") ? [] : [expect.objectContaining({ value: "BTC" })];
    expect(coins).toEqual(expect.arrayContaining(known));
    const { body: algorithms } = await bench.request().get("/rigbridge/services/service/algorithms");
    expect(algorithms).toContainEqual(expect.objectContaining({ value: "sha256" }));
  });
});

describe("coin profit", () => {
  test("lists every error that only the service finds", async () => {
    const bench = await open(await openService({ open: openElsewhere }), byMessage);
    const market = { action: "add", shortName: "ABC", difficulty: 0, btc: 1, usd: 1 };
    expect(await bench.ask({ payload: market })).toMatchObject({
      code: "input.invalid",
      message:
        "name: is required for a new coin; algorithm: is required for a new coin; " +
        "difficulty: must be given and above 0; reward: is required with difficulty; " +
        "btc: exactly one of btc and usd is required",
    });
  });

  test.each([
    [{ payload: {} }, "Action: is empty"],
    [{ payload: "sell" }, 'Action: unknown action "sell"; did you mean "set"?'],
    [{ payload: 7 }, 'Action: unknown action "7"'],
    [{}, "Action: is empty"],
    [{ payload: ["set"] }, 'Action: unknown action "set"'],
    [{ payload: { action: "set", profit: 1 } }, "shortName: is required"],
    [
      { payload: { action: "set", shortName: "BTC", profit: 1, user_id: 2 } },
      "user_id: is set in the service's settings",
    ],
    [
      { payload: { action: "set", shortName: "BTC", profit: { value: 1 } } },
      "profit: must be a text, a number, true or false",
    ],
    [{ payload: { action: "delete", shortName: "ABC", profit: 1 } }, "profit: is not known to this operation"],
  ])("refuses %j and continues", async (msg, message) => {
    const bench = await open(await openService({ open: openElsewhere }), { ...byMessage, coin: "" });
    expect(await bench.ask(msg)).toMatchObject({ code: "input.invalid", message });
    expect(await bench.ask({ payload: { action: "set", shortName: "BTC", profit: 1 } })).toMatchObject(done("BTC"));
  });

  test("reports that the user lacks the permission", async () => {
    const service = await openService({ open: openElsewhere });
    const visitor = { ...service, node: { ...service.node, user: "visitor" } };
    const bench = await open(visitor, { action: "set", coin: "BTC", profit: "1" });
    expect(await bench.ask({})).toMatchObject({ code: "user.forbidden" });
  });

  test("keeps the latest message while the service is away, and sends it when it is back", async () => {
    const service = await openService({ open: openElsewhere });
    const fields = { action: "set", coin: "BTC", profit: "payload", profitType: "msg", queue: "latest" };
    const bench = await open(service, fields);
    const recorded = bench.recorded("coin");
    await service.away();
    await until(() => /^red ring/.test(recorded.statuses.at(-1) ?? ""), "the node to show that the service is away");
    bench.send("coin", { payload: 1 });
    bench.send("coin", { payload: 2 });
    await until(() => recorded.errors.length === 1, "the error about the replaced message");
    expect(recorded.errors[0]).toMatchObject({ code: "not.possible" });
    expect(recorded.statuses.at(-1)).toMatch(/^red ring .*1 waiting$/);
    await service.back();
    await until(() => bench.recorded("out").messages.length === 1, "the confirmation of the message that waited");
    expect(bench.recorded("out").messages[0]).toMatchObject({ payload: { message: expect.stringMatching(/\b2 BTC/) } });
  });
});
