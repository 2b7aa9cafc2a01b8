import { afterEach, describe, expect, test } from "@jest/globals";
import { curtailmentFamilies } from "../../../src/metrics/curtailment-metrics.ts";
import { familyText } from "../../../src/metrics/exposition.ts";
import { startModbusServer } from "../../../src/simulator/facility/modbus-server.ts";
import { problem } from "../../errors.ts";
import { ownHost } from "../../own-host.ts";
import { caller, closeBenches } from "../bench.ts";
import { hooks, signalBench } from "./signal-bench.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

const maestro = { kind: "mqtt", topic: "maestro/target", preset: "maestro", maxAge: "4m", onStale: "hold" };
const target = (percent: number, at: number): string => JSON.stringify({ target: percent, timestamp: at / 1000 });

describe("a signal over MQTT", () => {
  test("begins a curtailment, changes it while it lasts, and ends it", async () => {
    const { say, now, curtailments, turn, settles, get, mining, view } = await signalBench(maestro);
    say(target(50, now()));
    await turn();
    const [begun] = await curtailments();
    expect(begun).toMatchObject({ plan: "peak", cause: "signal", actor: "signal grid", reason: "Grid", until: null });
    expect(begun?.target).toEqual({ share: 50 });
    const id = begun?.id ?? 0;
    await settles(async () => (await get(id)).state === "holding", "half of the power");
    expect((await get(id)).power.now).toBeLessThanOrEqual((await get(id)).power.target + 50);
    say(target(0, now()));
    await turn();
    expect((await get(id)).target).toEqual({ all: true });
    await settles(async () => (await mining()).every((each) => each === false), "the stop");
    expect(await view()).toMatchObject({ state: "curtail", value: 0, curtailment: id, problem: null });
    say(target(100, now()));
    await settles(async () => (await get(id)).state === "ended", "the end");
    expect(await mining()).toEqual([true, true]);
    expect(await curtailments()).toHaveLength(1);
  });

  test("counts a message by the time in it, also a retained one", async () => {
    const { say, now, curtailments, turn, view } = await signalBench(maestro);
    say(target(0, now() - 300_000), { retained: true });
    await turn();
    expect(await view()).toMatchObject({ state: "stale", value: 0, age: 301 });
    say(target(0, now() + 3_600_000));
    await turn();
    expect((await view())?.problem).toMatch(/has a time in the future; check both clocks/);
    expect(await curtailments()).toEqual([]);
    say(target(0, now() - 60_000), { retained: true });
    // An older message that arrives later says nothing new.
    say(target(100, now() - 120_000));
    await turn();
    expect(await curtailments()).toHaveLength(1);
  });

  test.each(["{", "text", '{"target":"x","timestamp":1}', '{"target":-1,"timestamp":1}', '{"target":5}', "null", "[]"])(
    "ignores %s, and says so",
    async (payload) => {
      const { say, curtailments, turn, view } = await signalBench(maestro, { rigs: [] });
      say(payload);
      await turn();
      expect((await view())?.problem).toMatch(/^maestro\/target /);
      expect(await curtailments()).toEqual([]);
    },
  );

  test("that a person has ended begins again only when it changes", async () => {
    const { say, now, curtailments, turn, service } = await signalBench(maestro);
    say(target(0, now()));
    await turn();
    await service.endCurtailment({ id: (await curtailments())[0]?.id ?? 0 }, caller);
    say(target(0, now()));
    await turn();
    expect(await curtailments()).toHaveLength(1);
    say(target(20, now()));
    await turn();
    expect(await curtailments()).toHaveLength(2);
  });

  test("goes on after a restart, and a person's end is still respected", async () => {
    const { say, now, curtailments, turn, bench, view } = await signalBench(maestro);
    say(target(0, now()));
    await turn();
    const restart = () =>
      bench.restart({ hooks, mqtt: { url: "mqtt://127.0.0.1" }, signals: [{ ...maestro, key: "grid", plan: "peak" }] });
    await restart();
    await turn();
    expect(await view()).toMatchObject({ state: "unknown", curtailment: 1 });
    say(target(50, now()));
    await turn();
    expect((await curtailments())[0]).toMatchObject({ id: 1, target: { share: 50 }, ended: null });
    await bench.service.endCurtailment({ id: 1 }, caller);
    await restart();
    say(target(50, now()));
    await turn();
    expect(await curtailments()).toHaveLength(1);
  });

  test("does not become stale by a changed clock, and is right again with the next message", async () => {
    const { say, now, turn, setClock, view, curtailments } = await signalBench({ ...maestro, onStale: "curtail" });
    say(target(100, now()));
    await turn();
    for (const hour of [3_600, -7_200]) {
      setClock(hour);
      await turn();
      expect(await view()).toMatchObject({ state: "run" });
      say(target(100, now()));
      await turn();
      expect(await view()).toMatchObject({ state: "run", problem: null });
    }
    expect(await curtailments()).toEqual([]);
  });
});

describe("a stale signal", () => {
  test.each([
    ["curtail", 1, 1],
    ["run", 0, 0],
    ["hold", 0, 1],
  ] as const)("with onStale: %s", async (onStale, fromRunning, fromCurtailed) => {
    for (const [percent, expected] of [
      [100, fromRunning],
      [0, fromCurtailed],
    ] as const) {
      const { say, now, turn, curtailments, bench, view } = await signalBench({ ...maestro, onStale });
      const open = async () => (await curtailments()).filter(({ ended }) => ended === null).length;
      say(target(percent, now()));
      await turn();
      await turn(241);
      expect(await view()).toMatchObject({ state: "stale" });
      expect(await open()).toBe(expected);
      const notices = (await bench.notifications()).filter((each) => each.includes("No message of Grid"));
      expect(notices).toEqual([expect.stringMatching(/^Grid: No message of Grid since .+ as its settings say$/)]);
      say(target(percent, now()));
      await turn();
      expect(await open()).toBe(percent === 0 ? 1 : 0);
      expect(bench.store.notifications.open("signal:grid:stale")).toBeUndefined();
    }
  });

  test("that was never heard is stale after its maxAge", async () => {
    const { turn, curtailments, view } = await signalBench({ ...maestro, onStale: "curtail" });
    await turn(200);
    expect([await view(), await curtailments()]).toMatchObject([{ state: "unknown" }, []]);
    await turn(60);
    expect(await curtailments()).toMatchObject([{ reason: "Grid: no signal received", target: { all: true } }]);
  });
});

describe("a web hook", () => {
  const hook = { kind: "hook", hook: "grid" };

  test("begins, changes and ends curtailments by their keys", async () => {
    const { bench, turn, curtailments, now } = await signalBench(hook);
    const post = async (body: unknown) => {
      bench.service.receiveHook?.("grid", body);
      await turn();
    };
    const until = new Date(now() + 3_600_000).toISOString();
    await post({ target: 40, key: "a", until });
    await post({ target: 20, key: "a" });
    await post("");
    expect(await curtailments()).toMatchObject([
      { target: { all: true }, until: null },
      { target: { share: 80 }, until },
    ]);
    await post({ key: "a", end: true });
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([true, false]);
    await post({ target: 100 });
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([false, false]);
    // The key means a curtailment that is over.
    await post({ target: 40, key: "a" });
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([false, false]);
  });

  test.each([
    [{ target: "x" }, /target/],
    [{ target: -1 }, /target/],
    [{ targte: 1 }, /targte/],
    [{ until: "tomorrow" }, /until: must be a time with its zone/],
    [{ until: "2000-01-01T00:00:00Z" }, /until/],
    [{ end: true, target: 5 }, /end: does not go with target or until/],
    ["text", /body/],
    [[], /body/],
  ])("refuses %j and names what is wrong", async (body, sentence) => {
    const { bench, curtailments } = await signalBench(hook, { rigs: [] });
    const refused = await problem((async () => bench.service.receiveHook?.("grid", body))());
    expect(refused.code).toBe("input.invalid");
    expect(refused.errors.map(({ path, message }) => `${path}: ${message}`).join()).toMatch(sentence);
    expect(await curtailments()).toEqual([]);
  });
});

describe("a signal over Modbus", () => {
  async function rtu(value = 0) {
    const memory = { value, answers: true, read: () => memory.value, write: () => false };
    const host = ownHost();
    const server = await startModbusServer(memory, host);
    closing.push(() => server.close());
    return { memory, address: `${host}:${server.port}` };
  }
  const stale = { maxAge: "30s", onStale: "hold" };

  test("takes the target from a register of the RTU", async () => {
    const { memory, address } = await rtu(5_000);
    const register = { address: 0, type: "u16", scale: 1000, max: 10_000_000 };
    const signal = { kind: "modbus", address, register, quantity: "watts", runFrom: 5_000_000, ...stale };
    const { turn, curtailments, view } = await signalBench(signal);
    expect(await view()).toMatchObject({ state: "run", value: 5_000_000 });
    memory.value = 3;
    await turn(2);
    expect(await curtailments()).toMatchObject([{ target: { limit: 3_000 } }]);
    memory.value = 60_000;
    await turn(2);
    expect((await view())?.problem).toMatch(/holding 0 is 60000000, which is not from 0 to 10000000/);
    memory.answers = false;
    memory.value = 5_000;
    await turn(31);
    expect(await view()).toMatchObject({ state: "stale", curtailment: 1 });
  });

  test("follows a dry contact", async () => {
    const { memory, address } = await rtu();
    const { turn, curtailments, view } = await signalBench({ kind: "contact", address, input: 3, ...stale });
    expect(await view()).toMatchObject({ state: "run", value: "open" });
    memory.value = 1;
    await turn(2);
    expect(await curtailments()).toMatchObject([{ target: { all: true }, ended: null }]);
    memory.value = 0;
    await turn(2);
    expect((await curtailments())[0]?.ended).not.toBeNull();
  });
});

describe("times of peaks", () => {
  const at = (now: number, seconds: number): string => new Date(now + seconds * 1000).toISOString();

  test("are curtailed until they end, so many in a month, and a hook replaces them", async () => {
    const { turn, curtailments, bench, now, view } = await signalBench({ kind: "peak", hook: "grid", perMonth: 1 });
    const post = (windows: object[]) => bench.service.receiveHook?.("grid", { windows });
    post([{ from: at(now(), 60), until: at(now(), 120) }]);
    await turn();
    expect(await curtailments()).toEqual([]);
    await turn(60);
    expect(await curtailments()).toMatchObject([{ ended: null, target: { all: true } }]);
    await turn(60);
    expect((await curtailments())[0]?.ended).not.toBeNull();
    post([{ from: at(now(), 0), until: at(now(), 60) }]);
    await turn();
    expect(await curtailments()).toHaveLength(1);
    expect((await view())?.problem).toBe("this month has had its 1 curtailments");
    const refused = await problem((async () => post([{ from: at(now(), 60), until: at(now(), 0) }]))());
    expect(refused.errors).toMatchObject([{ path: "windows.0.until", message: "must be after from" }]);
  });
});

test("a plan that a signal names cannot be removed, and a signal without its plan says so", async () => {
  const { service, bench, turn, view, say, now } = await signalBench(maestro);
  const refused = await problem(service.deleteCurtailmentPlan({ key: "peak" }, caller));
  expect([refused.code, refused.message]).toEqual([
    "in.use",
    "The plan peak is named by the signal grid; change that first",
  ]);
  await service.saveSettings({ section: "mqtt", value: { url: "mqtt://127.0.0.1" } }, caller);
  await service.saveSettings({ section: "signals", value: [{ ...maestro, key: "grid", plan: "other" }] }, caller);
  await service.deleteCurtailmentPlan({ key: "peak" }, caller);
  say(target(0, now()));
  await turn();
  expect((await view())?.problem).toMatch(/other/);
  expect(await bench.notifications()).toContainEqual(expect.stringMatching(/^grid: grid: .*other/));
});

test("metrics say what is curtailed, and how old a signal is", async () => {
  const { say, now, turn, bench } = await signalBench(maestro);
  const text = async (): Promise<string> => (await curtailmentFamilies(bench.service, caller)).map(familyText).join("");
  expect(await text()).toMatch(/^rigbridge_curtailment_active\{plan="peak"\} 0$/m);
  say(target(0, now() - 5_000));
  await turn();
  await turn(30);
  const given = await text();
  expect(given).toMatch(/^rigbridge_curtailment_active\{plan="peak"\} 1$/m);
  expect(given).toMatch(/^rigbridge_curtailment_target_watts\{plan="peak"\} 0$/m);
  expect(given).toMatch(/^rigbridge_curtailment_shed_watts\{plan="peak"\} [1-9]\d+/m);
  expect(given).toMatch(/^rigbridge_signal_age_seconds\{signal="grid"\} 36$/m);
});
