import { once } from "node:events";
import { createServer } from "node:http";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { statusOf } from "../../src/fleet/state.ts";
import { parseAddress } from "../../src/link/address.ts";
import { CommandExecutor, type CommandTimeouts } from "../../src/service/commands/command-executor.ts";
import { changePool, type Step, setControl } from "../../src/service/commands/steps.ts";
import { type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { type Specimen, specimens } from "../docs/specimens.ts";
import { problem, refusal } from "../errors.ts";
import { openPoller, workers } from "../pollers.ts";
import { until } from "../until.ts";
import { type Bench, type BenchOptions, caller, closeBenches, openBench } from "./bench.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await closeBenches();
});

const token = "token-of-the-rig";
const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
const xmrig: RigSpec = { kind: "xmrig", warm: true, token, restricted: false };

async function withOne(
  spec: RigSpec,
  options: BenchOptions = {},
): Promise<{ bench: Bench; id: number; rig: SimulatedRig }> {
  const bench = await openBench({ ...options, rigs: [spec] });
  const rig = bench.rig(0);
  return { bench, rig, id: await bench.add(rig.address, { token, driver: spec.kind }) };
}

const states = async (bench: Bench, id: number): Promise<string[]> =>
  (await bench.commands(id)).map(({ action, state }) => `${action} ${state}`);

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
    ["that is off for a lamp that only flashes", { action: "locate", on: false }, "input.invalid on"],
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
    const { bench, id, rig } = await withOne(axeos);
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

/** A rig and its executor, with timeouts that suit a test. */
async function steered(
  timeouts: Omit<CommandTimeouts, "queueMs"> & { readonly queueMs?: number },
  interval = 3_600_000,
  spec: RigSpec = axeos,
  timeout = 1_000,
) {
  const farm = await startFarm({ rigs: [spec] });
  const store = await openStore({ file: ":memory:", now: Date.now });
  let answered = 0;
  const fleet = openPoller({
    listener: {
      read: () => {
        answered += 1;
      },
      disconnected: () => undefined,
      refused: () => undefined,
      failed: () => undefined,
    },
    timeout,
    remember: async () => undefined,
    now: Date.now,
  });
  const executor = new CommandExecutor(fleet, store, pino({ level: "silent" }), {
    queueMs: 60_000,
    ...timeouts,
  });
  closers.push(async () => {
    const closed = executor.close();
    await fleet.close();
    await closed;
    await store.close();
    await farm.close();
  });
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("the farm has one rig");
  const miner = fleet.put({
    id: 1,
    address: parseAddress(rig.address),
    credentials: {},
    driver: spec.kind,
    uid: null,
    interval,
    powerNameplate: null,
    offlineExpected: false,
    disabled: false,
  });
  // A worker thread takes a moment to start.
  if (workers > 0) await fleet.poll(miner);
  const order = { minerId: 1, minerName: "one", action: "set", parameters: {} };
  const run = (...steps: Step[]) => executor.run(miner, order, caller, steps);
  const set = (key: string, value: string) => run(setControl(key, value));
  const status = () => statusOf(miner.state, false);
  const switchOff = () => set("mining", "false");
  const row = async () => (await store.commands.list())[0];
  const poll = () => fleet.poll(miner);
  return { rig, miner, store, executor, run, set, status, switchOff, row, poll, reads: () => answered };
}

/** Breaks the rig from its first write on. */
function breakAtWrite(rig: SimulatedRig, fault: SimulatedRig["fault"]): void {
  const { writes } = rig.requests;
  writes.push = (...items) => {
    rig.fault = fault;
    return Array.prototype.push.apply(writes, items);
  };
}

/** What something was when the rig was told the first thing from now on. */
function atWrite<T>(rig: SimulatedRig, look: () => T): () => T | undefined {
  const { writes } = rig.requests;
  let seen: T | undefined;
  writes.push = (...items) => {
    seen ??= look();
    return Array.prototype.push.apply(writes, items);
  };
  return () => seen;
}

/** A Bitaxe that takes its time, as a person would notice, and has said who it is a moment ago. */
async function withSlow() {
  const one = await withOne(axeos);
  one.rig.fault = { name: "delay", ms: 600 };
  await one.bench.poll(one.id);
  return one;
}

/** Requests to a rig that were no writes, while something is done. */
async function readsWhile({ requests }: SimulatedRig, work: () => Promise<unknown>): Promise<number> {
  const reads = () => requests.count - requests.writes.length;
  const before = reads();
  await work();
  return reads() - before;
}

describe("a slow rig", () => {
  test("is identified before it is switched, and confirmed by one more read", async () => {
    const { bench, id, rig } = await withSlow();
    expect(await readsWhile(rig, () => bench.act(id, { action: "stop" }))).toBe(2);
    expect(rig.model.mining).toBe(false);
    expect(await bench.get(id)).toMatchObject({ canStart: true, readings: { mining: false } });
    expect(await states(bench, id)).toEqual(["stop done"]);
  });

  test("is refused a change that it already has only by its present reading", async () => {
    const { bench, id, rig } = await withSlow();
    await bench.act(id, { action: "stop" });
    rig.model.mining = true;
    await bench.act(id, { action: "stop" });
    expect(rig.model.mining).toBe(false);
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("not.possible");
    expect(rig.requests.writes).toHaveLength(2);
  });

  test("that was not identified yet is identified before it gets a command", async () => {
    const bench = await openBench({ rigs: [axeos] });
    const rig = bench.rig(0);
    let says = "its name";
    const door = createServer(async ({ method, url }, response) => {
      const reply = await fetch(`http://${rig.address}${url}`, { method: method ?? "GET" });
      const text = await reply.text();
      setTimeout(() => response.end(says === "its name" ? text : text.replace(/"macAddr":"[^"]*",/, "")), 600);
    }).listen(0, "127.0.0.1");
    closers.push(async () => void door.close());
    await once(door, "listening");
    const address = door.address();
    if (address === null || typeof address === "string") throw new Error("it listens on a port");
    const id = await bench.add(`127.0.0.1:${address.port}`, { driver: "axeos" });
    says = "nothing of that";
    await bench.poll(id);
    expect(await bench.get(id)).toMatchObject({ hasValidStatus: true });
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("rig.garbled");
    expect(rig.requests.writes).toEqual([]);
  });

  test("that is off by now has received nothing: failed, not unknown", async () => {
    const { bench, id, rig } = await withSlow();
    rig.fault = "off";
    expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({ code: "rig.unreachable", status: 504 });
    expect(await states(bench, id)).toEqual(["stop failed"]);
  });

  test("that is another rig by now gets no command", async () => {
    const { rig, switchOff, row, poll } = await steered({ requestMs: 9_000, answerMs: 2_000, changeMs: 1_000 });
    rig.fault = { name: "delay", ms: 600 };
    await poll();
    rig.fault = "other-rig";
    expect(await refusal(switchOff())).toBe("rig.other");
    expect(await row()).toMatchObject({ state: "failed", message: expect.stringContaining("Another rig answers at") });
    expect(rig.requests.writes).toEqual([]);
  });

  test("is not waited for when it is just being read: that read is aborted without effect", async () => {
    const timeouts = { requestMs: 30_000, answerMs: 10_000, changeMs: 20_000 };
    const { rig, miner, switchOff, poll, reads } = await steered(timeouts, 1_000, axeos, 10_000);
    // Long enough that it is cut before it answers, on a busy machine too.
    rig.fault = { name: "delay", ms: 2_000 };
    await poll();
    const readsAtWrite = atWrite(rig, reads);
    const readBefore = reads();
    const before = rig.requests.count;
    await until(() => rig.requests.count > before, "the rig to be asked");
    // Only its worker thread knows of its own read.
    expect(miner.busy).toBe(workers === 0);
    const done = switchOff();
    await until(() => rig.requests.writes.length > 0, "the stop to be sent");
    // One answer, the command's own: the question that was under way has been cut.
    expect(readsAtWrite()).toBe(readBefore + 1);
    await expect(done).resolves.toMatchObject({ state: "done" });
    expect(miner.state).toMatchObject({ missed: 0, trouble: null });
  });
});

describe("a rig that takes its time", () => {
  test("is answered with the command's id, and done when the rig confirms it", async () => {
    const { rig, set, row } = await steered({ requestMs: 150, answerMs: 5_000, changeMs: 5_000 });
    breakAtWrite(rig, { name: "delay", ms: 600 });
    const reply = await set("frequency", "500");
    expect(reply).toMatchObject({ success: true, state: "sent" });
    expect(await row()).toMatchObject({ id: reply.commandId, state: "sent" });
    await until(async () => (await row())?.state !== "sent", "the command to end");
    expect(await row()).toMatchObject({ state: "done" });
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("and the command behind it is shown as queued", async () => {
    const { rig, set } = await steered({ requestMs: 150, answerMs: 5_000, changeMs: 5_000 });
    breakAtWrite(rig, { name: "delay", ms: 600 });
    const replies = await Promise.all([set("frequency", "500"), set("frequency", "510")]);
    expect(replies.map(({ state }) => state)).toEqual(["sent", "queued"]);
  });

  test("too long, is not sent again: the result is unknown", async () => {
    const { rig, set, row } = await steered({ requestMs: 5_000, answerMs: 200, changeMs: 300 });
    breakAtWrite(rig, { name: "delay", ms: 3_000 });
    const error = await problem(set("reboot", "true"));
    expect(error.status).toBe(504);
    expect(await row()).toMatchObject({ state: "unknown" });
    rig.fault = null;
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("and reports the change without having answered, has done it", async () => {
    const { rig, set, row } = await steered({ requestMs: 5_000, answerMs: 100, changeMs: 3_000 });
    breakAtWrite(rig, { name: "delay", ms: 300 });
    const done = set("frequency", "500");
    await expect(done).resolves.toMatchObject({ state: "done" });
    expect((await row())?.message).toContain("did not answer");
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("while the service closes, leaves the command unknown and never queued ones sent", async () => {
    const { rig, set, store, executor } = await steered({ requestMs: 5_000, answerMs: 5_000, changeMs: 5_000 });
    breakAtWrite(rig, { name: "delay", ms: 2_000 });
    const both = [set("frequency", "500"), set("frequency", "510")];
    const outcomes = Promise.allSettled(both);
    await until(() => rig.requests.writes.length > 0, "the first frequency to be sent");
    rig.fault = "off";
    await executor.close();
    await outcomes;
    const rows = await store.commands.list();
    expect(rows.map(({ state }) => state)).toEqual(["failed", "unknown"]);
    expect(rig.requests.writes).toHaveLength(1);
  });
});

describe("a rig that dies while a command waits", () => {
  test.each([
    ["for its answer", { answerMs: 30_000 }],
    ["for what becomes of it without an answer", { answerMs: 50 }],
  ])("%s is stale after its interval, and Disconnected after three", async (_, { answerMs }) => {
    const { rig, miner, status, switchOff, poll, row } = await steered(
      { requestMs: 30_000, answerMs, changeMs: 30_000 },
      1_000,
    );
    await poll();
    breakAtWrite(rig, "silent");
    const told = switchOff().catch(() => undefined);
    await until(() => miner.state.missed > 0, "its readings to be stale");
    expect([status(), miner.state.reading === null]).toEqual(["Mining", false]);
    await until(() => miner.state.reading === null, "three intervals to pass");
    expect(status()).toBe("Disconnected");
    expect(await row()).toMatchObject({ state: "sent" });
    rig.fault = "off";
    expect(miner.busy).toBe(true);
    closers.push(async () => void (await told));
  });
});

describe("a command that waits for its turn with the rig", () => {
  test("too long is no longer sent: command.expired", async () => {
    const { rig, store, set, poll } = await steered({
      queueMs: 300,
      requestMs: 9_000,
      answerMs: 9_000,
      changeMs: 5_000,
    });
    await poll();
    breakAtWrite(rig, { name: "delay", ms: 900 });
    const first = set("frequency", "490");
    await until(() => rig.requests.writes.length > 0, "the first command to be sent");
    const late = await problem(set("frequency", "510"));
    expect(late).toMatchObject({ code: "command.expired", status: 503 });
    expect((await store.commands.list())[0]).toMatchObject({ state: "failed", message: late.message });
    expect(late.message).toContain("command.expired");
    await first;
    rig.fault = null;
    expect(await set("frequency", "520")).toMatchObject({ state: "done" });
    expect(rig.requests.writes.map((write) => write.replace(/\D+/, ""))).toEqual(["490}", "520}"]);
  });

  test("is cancelled by DELETE, and what was sent is not", async () => {
    const { bench, id, rig } = await withOne(axeos);
    breakAtWrite(rig, { name: "delay", ms: 600 });
    const first = bench.act(id, { action: "set", property: "frequency", value: "490" });
    await until(() => rig.requests.writes.length > 0, "the first command to be sent");
    const second = problem(bench.act(id, { action: "set", property: "frequency", value: "510" }));
    await until(async () => (await bench.commands(id)).length === 2, "the second command to wait");
    const [waiting, sent] = await bench.commands(id);
    const cancel = (command: number | undefined) => bench.service.cancelCommand({ id: command ?? 0 }, caller);
    expect(await cancel(waiting?.id)).toMatchObject({ success: true });
    expect(await second).toMatchObject({ code: "not.possible", message: "Cancelled before it was sent" });
    expect((await problem(cancel(sent?.id))).message).toContain("it is sent");
    await first;
    expect((await problem(cancel(sent?.id))).message).toContain("it is done");
    expect(await refusal(cancel(waiting?.id))).toBe("not.possible");
    expect(await refusal(cancel(4711))).toBe("not.found");
    expect(await states(bench, id)).toEqual(["set failed", "set done"]);
    expect(rig.requests.writes).toHaveLength(1);
  });
});

const restartable = specimens.filter(({ rigs }) => !["Antminer without its login"].includes(rigs));

describe("a restart", () => {
  // One service for all of them: starting one takes longer than the restarts.
  test("of every kind of rig is sent when the rig took it, and done when the rig shows it", async () => {
    const bench = await openBench({
      rigs: restartable.map(({ spec }) => ({ ...spec, warm: true, restartSeconds: 1 })),
      // For many at once on a busy machine.
      config: { poll: { interval: 3600, timeout: 10 } },
    });
    const restarts = async ({ rigs }: Specimen, rig: SimulatedRig, id: number, keys: string[]): Promise<void> => {
      for (const key of keys) {
        const name = `${key} of ${rigs}`;
        // It has been up for an hour again.
        rig.model.startedAt -= 3_600_000;
        const { startedAt } = rig.model;
        const reply = await bench.act(id, { action: "set", property: key, value: "true" });
        expect(reply, name).toMatchObject({ success: true, state: "sent", taken: true });
        const row = async () => (await bench.commands(id)).find((command) => command.id === reply.commandId);
        expect(await row(), name).toMatchObject({ state: "sent", message: reply.message });
        await until(async () => (await row())?.state !== "sent", `the ${name} to show`);
        expect(await row(), name).toMatchObject({ state: "done", message: reply.message });
        expect(rig.model.startedAt, name).toBeGreaterThan(startedAt);
        expect(await bench.get(id), name).toMatchObject({ isOffline: false });
      }
    };
    const all: (() => Promise<void>)[] = [];
    for (const [index, specimen] of restartable.entries()) {
      const rig = bench.rig(index);
      const id = await bench.add(rig.address, { driver: specimen.driver, ...specimen.credentials });
      const { controls } = await bench.get(id);
      const keys = controls.flatMap((each) => (each.kind === "trigger" && each.restartsMining ? [each.key] : []));
      if (keys.length > 0) all.push(() => restarts(specimen, rig, id, keys));
    }
    expect(all.length).toBeGreaterThan(15);
    await Promise.all(all.map((run) => run()));
  });

  test("of a rig that never comes back ends unknown; until then it is Starting", async () => {
    const gone: RigSpec = { ...axeos, restartSeconds: 3_600 };
    const { miner, set, status, row, poll } = await steered(
      { requestMs: 9_000, answerMs: 2_000, changeMs: 4_000 },
      200,
      gone,
    );
    await poll();
    expect(await set("reboot", "true")).toMatchObject({ state: "sent", taken: true });
    await until(() => miner.state.reading === null, "three reads to be missed");
    expect(status()).toBe("Starting");
    await until(async () => (await row())?.state !== "sent", "the command to be given up");
    expect(await row()).toMatchObject({
      state: "unknown",
      message: expect.stringContaining("was not seen to restart"),
    });
  });

  test("that does not happen ends unknown, and keeps no later command waiting", async () => {
    const { rig, store, set, row, poll } = await steered({ requestMs: 9_000, answerMs: 2_000, changeMs: 1_500 });
    await poll();
    rig.model.restart = () => undefined;
    const { commandId } = await set("reboot", "true");
    expect(await set("frequency", "490")).toMatchObject({ state: "done" });
    expect(await store.commands.get(commandId ?? 0)).toMatchObject({ state: "sent" });
    const ended = async () => (await store.commands.get(commandId ?? 0))?.state !== "sent";
    await until(ended, "the reboot to be given up");
    expect(await store.commands.get(commandId ?? 0)).toMatchObject({ state: "unknown" });
    expect(await row()).toMatchObject({ state: "done" });
  });

  test("is unknown when the service stops before it shows", async () => {
    const gone: RigSpec = { ...axeos, restartSeconds: 3_600 };
    const { store, executor, set } = await steered(
      { requestMs: 9_000, answerMs: 2_000, changeMs: 9_000 },
      3_600_000,
      gone,
    );
    const { commandId = 0 } = await set("reboot", "true");
    await executor.close();
    expect(await store.commands.get(commandId)).toMatchObject({
      state: "unknown",
      message: expect.stringContaining("The service stopped"),
    });
  });
});

describe("a change to a pool that stays dead", () => {
  const worker = "acct.rig";
  const urlOf = (name: string) => `stratum+tcp://${name}.example.com:3333`;
  const url = urlOf("two");
  const pools = ["one", "two"].map((name) => ({ url: urlOf(name), user: worker }));

  test("says so", async () => {
    const spec: RigSpec = { ...cgminer, pools };
    const { rig, run, poll } = await steered({ requestMs: 9_000, answerMs: 2_000, changeMs: 500 }, 3_600_000, spec);
    await poll();
    rig.model.setPoolAlive(1, false);
    const login = { url, worker, password: "x" };
    const reply = await run(...changePool(login, []));
    expect(reply).toMatchObject({ state: "done", message: expect.stringContaining(`${url} as dead`) });
    rig.model.setPoolAlive(1, true);
    expect((await run(...changePool(login, []))).message).not.toContain("dead");
  });
});
