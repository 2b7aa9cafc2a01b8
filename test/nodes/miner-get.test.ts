import { afterEach, describe, expect, test } from "@jest/globals";
import registerGet from "../../nodes/miner-get/rigbridge-miner-get.ts";
import { instantOf, stepOf } from "../../nodes/miner-get/time.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import type { FlowNode } from "./real-node-red.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Fields = Readonly<Record<string, unknown>>;

/** The defaults of a new node. */
const times = { from: "from", fromType: "msg", to: "to", toType: "msg", step: "step", stepType: "msg" };

/** A miner get with these fields, once the service answers; what it sends is at "out". */
async function open(service: OpenedForNodes, fields: Fields): Promise<BenchFlow> {
  const get = {
    id: "get",
    type: "rigbridge-miner-get",
    version: 1,
    service: "service",
    scope: "all",
    wires: [["out"]],
  };
  const flow: FlowNode[] = [{ ...service.node }, { ...get, ...times, ...fields }, { id: "out", type: "helper" }];
  const { credentials, userDir } = service;
  const bench = await openFlow([registerService, registerGet], flow, { credentials, userDir });
  closers.push(() => bench.close());
  await until(
    () => /^(green|red)/.test(bench.recorded("get").statuses.at(-1) ?? ""),
    "the miner get node to connect or fail",
    { details: detailsOf(bench) },
  );
  return bench;
}

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

const detailsOf = (bench: BenchFlow) => () =>
  JSON.stringify([bench.recorded("get"), bench.recorded("out")]).slice(0, 5000);

/** The result of one message: everything sent, and the error. */
async function ask(bench: BenchFlow, msg: Fields = {}) {
  const { length } = bench.recorded("out").messages;
  const ended = () => bench.recorded("get").completed + bench.recorded("get").errors.length;
  const before = ended();
  bench.send("get", { ...msg });
  await until(() => ended() > before, "the miner get node to finish the message", { details: detailsOf(bench) });
  return { sent: bench.recorded("out").messages.slice(length), error: bench.recorded("get").errors.at(-1) };
}

const namesIn = (payload: unknown): unknown[] =>
  Array.isArray(payload) ? payload.map((each: { readonly name?: unknown }) => each.name) : [];

describe.each(serviceKinds)("a miner get on $name", (kind) => {
  test("sends the state of one miner, and keeps the message's other properties", async () => {
    const service = await openService(kind);
    const bench = await open(service, { scope: "miners", miners: service.steered });
    const { sent } = await ask(bench, { kept: 7 });
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      payload: { name: service.steered, uid: expect.any(String), status: expect.any(String) },
      topic: expect.stringMatching(/^[a-z0-9-]+$/),
      miner: { name: service.steered },
      kept: 7,
    });
    expect(bench.recorded("get").statuses.at(-1)).toMatch(/^green dot .* · \d\d:\d\d$/);
  });

  test("sends the miners of a group", async () => {
    const service = await openService(kind);
    const bench = await open(service, { scope: "group", group: "which", groupType: "msg" });
    const { sent } = await ask(bench, { which: service.group });
    expect(sent.length).toBeGreaterThan(0);
    expect(service.miners).toEqual(expect.arrayContaining(namesIn(sent.map(({ payload }) => payload))));
  });

  test("sends one message per miner", async () => {
    const service = await openService(kind);
    const { sent } = await ask(await open(service, {}));
    expect(namesIn(sent.map(({ payload }) => payload)).toSorted()).toEqual(service.miners.toSorted());
  });

  test("sends all miners in one message", async () => {
    const service = await openService(kind);
    const { sent } = await ask(await open(service, { output: "together" }));
    expect(sent).toHaveLength(1);
    expect(namesIn(sent[0]?.payload).toSorted()).toEqual(service.miners.toSorted());
  });

  test("reads a rig now, or refuses with the reason", async () => {
    const service = await openService(kind);
    const bench = await open(service, { scope: "miners", miners: service.steered, what: "poll" });
    const { sent, error } = await ask(bench);
    if (kind.isReference)
      expect([sent, error]).toEqual([
        [],
        { code: "service.unsupported", message: "The service cannot read a miner on request", cause: undefined },
      ]);
    else expect(sent[0]).toMatchObject({ payload: { name: service.steered, online: true, stale: false } });
  });

  test("sends the history, or refuses with the reason", async () => {
    const service = await openService(kind);
    const bench = await open(service, { scope: "miners", miners: service.steered, what: "history" });
    const { sent, error } = await ask(bench, { from: "1 h", step: 0 });
    if (kind.isReference)
      expect([sent, error]).toEqual([
        [],
        { code: "service.unsupported", message: "The service does not offer history", cause: undefined },
      ]);
    else expect(sent[0]).toMatchObject({ payload: expect.any(Array), step: 0, miner: { name: service.steered } });
  });
});

describe("a miner get", () => {
  test("sends a history as named points, for the times of the message", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { scope: "miners", miners: "Rig A", what: "history" });
    const points = async (msg: Fields) => (await ask(bench, msg)).sent[0]?.payload;
    await until(async () => pointsIn(await points({ step: 0 })).length > 0, "the first points of the history", {
      details: detailsOf(bench),
    });
    expect(pointsIn(await points({ step: 0 }))[0]).toEqual({
      time: expect.any(Number),
      hashrate: expect.any(Number),
      power: expect.any(Number),
      temperature: expect.any(Number),
      energy: expect.any(Number),
    });
    expect(await points({ from: "2020-01-01T00:00:00Z", to: "2020-01-02T00:00:00Z" })).toEqual([]);
  });

  test("sends the miners it could read, then lists the others in one error", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { what: "poll", output: "together" });
    service.switchOff("Rig B");
    const { sent, error } = await ask(bench);
    expect(namesIn(sent[0]?.payload)).toEqual(["Rig A", "Rig C"]);
    expect(error?.code).toBe("rig.unreachable");
    expect(error?.message).toMatch(/^1 of 3 miners could not be read; the first: Rig B: /);
    expect(error?.cause).toEqual([expect.objectContaining({ name: "Rig B", code: "rig.unreachable" })]);
    expect((await ask(bench)).sent).toHaveLength(1);
  });

  test("does not accept an older reading when asked to read now", async () => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, { scope: "miners", miners: "Rig B", what: "poll" });
    service.switchOff("Rig B");
    const { sent, error } = await ask(bench);
    expect([sent, error?.code]).toEqual([[], "rig.unreachable"]);
  });

  test("queues a message while the service is away, if configured", async () => {
    const service = await openElsewhere();
    closers.push(() => service.close());
    const bench = await open(service, { scope: "miners", miners: "Rig A", queue: "latest", queueAge: 600 });
    await service.away();
    await until(
      () => bench.recorded("get").statuses.at(-1)?.startsWith("red ring") === true,
      "the node to show that the service is away",
      { details: detailsOf(bench) },
    );
    bench.send("get", { n: 1 });
    await until(
      () => bench.recorded("get").statuses.at(-1)?.endsWith("1 waiting") === true,
      "the node to show the waiting message",
      { details: detailsOf(bench) },
    );
    await service.back();
    await until(() => bench.recorded("out").messages.length === 1, "the answer to the message that waited", {
      details: detailsOf(bench),
    });
    expect(bench.recorded("out").messages[0]).toMatchObject({ n: 1, payload: { name: "Rig A" } });
  });

  test.each<[Fields, Fields, string, string | RegExp]>([
    [{ scope: "miners", miners: "Nobody" }, {}, "not.found", 'Miners: unknown miner "Nobody"'],
    [{ scope: "miners", miners: "" }, {}, "input.invalid", "Miners: is empty"],
    [
      { scope: "miners", miners: "who", minersType: "msg" },
      { who: { a: 1 } },
      "input.invalid",
      /^Miners: must be a name/,
    ],
    [{ scope: "group", group: "Hall Z" }, {}, "not.found", 'Group: unknown group "Hall Z"'],
    [{ what: "history" }, { from: "yesterday" }, "input.invalid", /^From: must be a time like/],
    [{ what: "history" }, { to: {} }, "input.invalid", /^To: must be a time like/],
    [{ what: "history" }, { step: "often" }, "input.invalid", /^Step: must be a number of seconds/],
    [{ what: "history" }, { from: 2000, to: 1000 }, "input.invalid", /before/],
    [{ what: "history", from: "$no(", fromType: "jsonata" }, {}, "input.invalid", /^From: .*\(jsonata\)$/],
    [{ what: "all" }, {}, "config.invalid", /has the wrong type$/],
    [{ service: "gone" }, {}, "input.invalid", "Service: choose a service and deploy"],
  ])("with %j and %j says %s, and goes on", async (fields, msg, code, message) => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, fields);
    const { sent, error } = await ask(bench, msg);
    expect([sent, error?.code]).toEqual([[], code]);
    expect(error?.message).toMatch(message);
    expect((await ask(bench, msg)).error?.code).toBe(code);
  });
});

const pointsIn = (payload: unknown): unknown[] => (Array.isArray(payload) ? payload : []);

describe("the times of a history", () => {
  const end = Date.parse("2026-01-02T00:00:00Z");
  const hour = 3_600_000;

  test.each<[unknown, number | undefined]>([
    [undefined, undefined],
    [null, undefined],
    ["", undefined],
    [new Date(end), end],
    [end, end],
    [String(end), end],
    ["2026-01-02T00:00:00Z", end],
    ["2026-01-02T01:00:00+01:00", end],
    ["12 h", end - 12 * hour],
    ["-12h", end - 12 * hour],
    ["1.5 d", end - 36 * hour],
    ["2 w", end - 14 * 24 * hour],
    ["30 min", end - hour / 2],
    ["10s", end - 10_000],
  ])("%p is %p", (given, time) => {
    expect(instantOf("from", given, end)).toBe(time);
  });

  test.each([["soon"], ["12 x"], ["2026-99-99"], [Number.NaN], [-1], [new Date("no")], [true], [{}], ["1e400"]])(
    "%p is none",
    (given) => {
      expect(() => instantOf("from", given, end)).toThrow("no-time");
    },
  );

  test("have steps of seconds", () => {
    expect([stepOf(undefined), stepOf(""), stepOf("60"), stepOf(0)]).toEqual([undefined, undefined, 60, 0]);
    for (const given of ["often", -1, Number.POSITIVE_INFINITY, {}, true])
      expect(() => stepOf(given)).toThrow("no-step");
  });
});
