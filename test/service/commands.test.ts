import { afterEach, describe, expect, test } from "@jest/globals";
import { problem, refusal } from "../errors.ts";
import { http, serve } from "../link/servers.ts";
import { caller, openBench } from "./bench.ts";
import { axeos, cgminer, closeAll, states, withOne, xmrig } from "./command-bench.ts";

afterEach(closeAll);

test("a command waits for the page that says which rig it is, and is sent once", async () => {
  const ok = { STATUS: [{ STATUS: "S", Msg: "fine" }] };
  const answers: Readonly<Record<string, object>> = {
    version: { ...ok, VERSION: [{ CGMiner: "2.3.3", API: "3.1", Type: "Hammer D10" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 1000, "MHS 5s": "4885.0", "MHS av": "4872.9" }] },
  };
  let busy = 0;
  const asked: string[] = [];
  const server = await serve((socket, request) => {
    if (request.startsWith("{")) {
      const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
      return socket.end(`${JSON.stringify(answers[JSON.parse(request).command] ?? refused)}\0`);
    }
    asked.push(request.split(" ")[1] ?? "");
    busy -= 1;
    return socket.end(http(200, busy >= 0 ? "busy" : '{"macaddr":"02:00:00:00:00:09"}'));
  });
  const bench = await openBench();
  const login = { username: "root", password: "root" };
  const id = await bench.add(`127.0.0.1:${server.port}`, { driver: "hammer", ...login });
  busy = 1;
  asked.length = 0;
  const reply = await bench.act(id, { action: "set", property: "reboot", value: "true" });
  expect(reply).toMatchObject({ success: true, taken: true });
  expect(asked.filter((path) => path.includes("reboot"))).toHaveLength(1);
  expect(asked.filter((path) => path.includes("system")).length).toBeGreaterThan(1);
});

test.each([
  ["refuses the restart", "Not now", {}],
  ["no longer accepts the login", "Log in", { extensions: { code: "UNAUTHENTICATED" } }],
])("an Apollo that stores a mode and %s is not reported as done, nor told again", async (_, message, more) => {
  const bench = await openBench({ rigs: [{ kind: "apollo", warm: true, restartSeconds: 0 }] });
  const rig = bench.rig(0);
  const failed = { errors: [{ message, ...more }], data: null };
  const door = await serve((socket, request) => {
    if (request.includes("{ Miner { restart")) return socket.end(http(200, JSON.stringify(failed)));
    socket.pause();
    socket.unshift(Buffer.from(request));
    rig.serve(socket);
    return socket.resume();
  });
  const id = await bench.add(`127.0.0.1:${door.port}`, { driver: "apollo", password: "apollopass" });
  expect(await refusal(bench.act(id, { action: "set_mode", mode: "eco" }))).toBe("rig.unconfirmed");
  expect(rig.requests.writes).toEqual(['Settings.update {"minerMode":"eco"}']);
  expect(await states(bench, id)).toEqual(["set_mode unknown"]);
});

describe("stop and start", () => {
  test.each([
    ["a Bitaxe", axeos],
    ["an XMRig", xmrig],
  ])("of %s are confirmed by reading back, and refused when it is so already", async (_, spec) => {
    const { bench, id, rig } = await withOne(spec);
    expect(await bench.get(id)).toMatchObject({ canStop: true, canStart: false });
    expect(await refusal(bench.act(id, { action: "start" }))).toBe("not.possible");

    const stopped = await bench.act(id, { action: "stop" });
    expect(stopped).toMatchObject({ success: true, state: "done", commandId: expect.any(Number) });
    expect(stopped.message).not.toBe("");
    expect(rig.model.mining).toBe(false);
    expect(await bench.get(id)).toMatchObject({
      statusInfo: { statusDisplay: "Stopped" },
      isRunning: false,
      canStop: false,
      canStart: true,
    });
    expect((await problem(bench.act(id, { action: "stop" }))).status).toBe(409);

    await bench.act(id, { action: "start" });
    expect(rig.model.mining).toBe(true);
    expect(rig.requests.writes).toHaveLength(2);
    expect(await states(bench, id)).toEqual(["start done", "stop failed", "stop done", "start failed"]);
  });

  test("are absent on a cgminer: quit is never sent", async () => {
    const { bench, id, rig } = await withOne(cgminer);
    expect(await bench.get(id)).toMatchObject({ canStop: false, canStart: false, canRestart: true });
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("control.absent");
    expect(rig.requests.writes).toEqual([]);
    expect(await states(bench, id)).toEqual(["stop failed"]);
  });
});

describe("controls", () => {
  test("are set once and confirmed", async () => {
    const { bench, id, rig } = await withOne(axeos);
    await bench.act(id, { action: "set", property: "frequency", value: "500" });
    expect(rig.model.frequency).toBe(500e6);
    await bench.act(id, { action: "set", property: "fan", value: "70" });
    await bench.act(id, { action: "set", property: "fan", value: "auto" });
    expect(rig.model.fanSetting).toBeNull();
    expect(rig.requests.writes).toHaveLength(3);
    const { controls } = await bench.get(id);
    expect(controls.find(({ key }) => key === "frequency")?.value).toBe(500);
  });

  test.each([
    ["beyond its range", { action: "set", property: "frequency", value: "99999" }, "input.invalid value"],
    ["between its steps", { action: "set", property: "frequency", value: "500.5" }, "input.invalid value"],
    ["no number", { action: "set", property: "frequency", value: "0x1f4" }, "input.invalid value"],
    ["but true for what is done once", { action: "set", property: "reboot", value: "false" }, "input.invalid value"],
    ["no switch's word", { action: "set", property: "mining", value: "perhaps" }, "input.invalid value"],
    ["of which it has none", { action: "set", property: "throttle", value: "5" }, "control.absent"],
    ["for its power", { action: "set_power_limit", watts: 10 }, "control.absent"],
    ["for its mode", { action: "set_mode", mode: "eco" }, "control.absent"],
  ] as const)("take nothing %s", async (_, action, refused) => {
    const { bench, id, rig } = await withOne(axeos);
    expect(await refusal(bench.act(id, action))).toBe(refused);
    expect(rig.requests.writes).toEqual([]);
    expect((await bench.commands(id))[0]).toMatchObject({ action: action.action, state: "failed", actor: "test" });
  });

  // As places are located: what ends by itself has ended, so a job over many rigs does not fail at these.
  test("a lamp that only flashes needs no command to end", async () => {
    const { bench, id, rig } = await withOne(axeos);
    expect(await bench.act(id, { action: "locate", on: false })).toMatchObject({ state: "done" });
    expect(rig.requests.writes).toEqual([]);
  });

  test("reboot, restart and locate reach the rig once each", async () => {
    const { bench, id, rig } = await withOne(axeos);
    await bench.act(id, { action: "reboot" });
    await bench.act(id, { action: "restart" });
    await bench.act(id, { action: "locate", on: true });
    expect(rig.requests.writes).toEqual([
      "POST /api/system/restart",
      "POST /api/system/restart",
      "POST /api/system/identify",
    ]);
  });
});

describe("commands to one rig", () => {
  test("go in the order in which they were given, one after the other", async () => {
    const { bench, id, rig } = await withOne(axeos);
    const both = [
      bench.act(id, { action: "set", property: "frequency", value: "490" }),
      bench.act(id, { action: "set", property: "frequency", value: "510" }),
    ];
    await Promise.all(both);
    expect(rig.requests.writes.map((write) => write.replace(/\s/g, ""))).toEqual([
      'PATCH/api/system{"frequency":490}',
      'PATCH/api/system{"frequency":510}',
    ]);
    expect(await states(bench, id)).toEqual(["set done", "set done"]);
    const [second, first] = await bench.commands(id);
    expect([first?.parameters, second?.parameters]).toEqual([
      { property: "frequency", value: "490" },
      { property: "frequency", value: "510" },
    ]);
  });

  test("are not disturbed by a new name for the miner", async () => {
    const { bench, id, rig } = await withOne(axeos);
    const stopping = bench.act(id, { action: "stop" });
    await bench.service.changeMiner({ id, name: "renamed", tags: ["x"] }, caller);
    await expect(stopping).resolves.toMatchObject({ state: "done" });
    expect(await bench.get(id)).toMatchObject({ name: "renamed", hasValidStatus: true, readings: { mining: false } });
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("that wait while its address is changed are not sent to the old one", async () => {
    const bench = await openBench({ rigs: [axeos, axeos] });
    const rig = bench.rig(0);
    const id = await bench.add(rig.address, { driver: "axeos" });
    rig.fault = { name: "delay", ms: 100 };
    const outcomes = Promise.allSettled(
      ["490", "510"].map((value) => bench.act(id, { action: "set", property: "frequency", value })),
    );
    await bench.service.changeMiner({ id, address: bench.rig(1).address }, caller);
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([...rig.requests.writes, ...bench.rig(1).requests.writes]).toEqual([]);
    expect(await states(bench, id)).toEqual(["set failed", "set failed"]);
  });

  test("that it refuses carry its own words", async () => {
    const { bench, id, rig } = await withOne(axeos);
    rig.fault = "denied";
    const error = await problem(bench.act(id, { action: "stop" }));
    expect(error).toMatchObject({ code: "rig.refused", status: 502 });
    expect(error.message).toContain("Unauthorized");
    expect((await bench.commands(id))[0]).toMatchObject({ state: "failed", message: error.message });
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("are not sent to one that is away", async () => {
    const { bench, id, rig } = await withOne(axeos, { config: { poll: { interval: 3600, timeout: 5 } } });
    rig.fault = "silent";
    expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({ code: "rig.timeout", status: 504 });
    rig.fault = "off";
    expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({ status: 504 });
    expect(rig.requests.writes).toEqual([]);
    expect(await states(bench, id)).toEqual(["stop failed", "stop failed"]);
  });

  test("can be found by miner, uid, actor and time", async () => {
    const { bench, id } = await withOne(axeos);
    await bench.act(id, { action: "stop" });
    const { uid } = await bench.get(id);
    const count = async (query: object) => (await bench.service.listCommands(query, caller)).commandList.length;
    expect(await count({ miner: id })).toBe(1);
    expect(await count({ miner: uid })).toBe(1);
    expect(await count({ miner: "no-such-uid" })).toBe(0);
    expect(await count({ actor: "test" })).toBe(1);
    expect(await count({ actor: "somebody" })).toBe(0);
    expect(await count({ since: Date.parse("2000-01-01T00:00:00Z") })).toBe(1);
    expect(await count({ since: Date.parse("2100-01-01T00:00:00Z") })).toBe(0);
  });

  test("for a miner, pool, template or rule that is not there leave no trace", async () => {
    const { bench, id } = await withOne(axeos);
    expect(await refusal(bench.act(99, { action: "stop" }))).toBe("not.found");
    expect(await refusal(bench.act(id, { action: "add_pool", pool_id: 99, pool_type: "single" }))).toBe("not.found");
    expect(await refusal(bench.act(id, { action: "add_pool", pool_id: 99, pool_type: "group" }))).toBe("not.found");
    expect(await refusal(bench.act(id, { action: "apply_template", template_id: 9 }))).toBe("not.found");
    expect(await refusal(bench.act(id, { action: "rule", rule_id: 9 }))).toBe("not.found");
    expect(await bench.commands(id)).toEqual([]);
  });
});
