import { afterEach, describe, expect, test } from "@jest/globals";
import type { RigModel } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { refusal } from "../errors.ts";
import { closeLoopBenches, openLoopBench, openValueServer } from "./loop-bench.ts";

afterEach(closeLoopBenches);

const bitaxe = { kind: "axeos", warm: true } as const;

interface RoofOptions {
  readonly rigs?: number;
  readonly follow?: Record<string, unknown>;
}

/** A roof with virtual rigs of some 17 W that can only be stopped; all of them mine. */
async function roof({ rigs = 2, follow = {} }: RoofOptions = {}) {
  const clock = stoppedClock();
  const bench = await openLoopBench({
    rigs: Array.from({ length: rigs }, () => bitaxe),
    clock: clock.now,
    config: (addresses) => ({
      groups: [{ name: "shed" }],
      miners: addresses.map((address, index) => ({ address, name: `rig ${index}`, group: "shed" })),
      follow: { name: "Roof", group: "shed", surplus: { api: true }, minOn: 300, minOff: 300, ...follow },
    }),
  });
  const surplus = (watts: number) => bench.act(0, { action: "set_surplus", surplus: watts });
  /** W that the rigs draw together. */
  const draw = () => bench.farm.rigs.reduce((sum, { model }) => sum + powerOf(model), 0);
  const pass = async (seconds: number) => {
    clock.pass(seconds);
    await bench.turn();
  };
  return { bench, clock, surplus, draw, pass };
}

function powerOf(model: RigModel): number {
  model.advance();
  return model.power;
}

describe("rigs that follow a surplus", () => {
  test("count what they draw already to what the meter at the grid sees", async () => {
    const { bench, surplus, pass } = await roof();
    await surplus(1);
    await pass(5);
    expect(bench.mining()).toEqual([true, true]);
    await surplus(-10);
    await pass(60);
    expect(bench.mining()).toEqual([true, false]);
    await pass(30);
    await surplus(-30);
    await pass(60);
    expect(bench.mining()).toEqual([false, false]);
  });

  test("understand a meter that counts what is drawn as positive", async () => {
    const meter = await openValueServer("-1");
    const { bench, pass } = await roof({ follow: { measures: "import", surplus: { url: meter.url, every: 5 } } });
    await pass(5);
    expect(bench.mining()).toEqual([true, true]);
    meter.answer = "10";
    await pass(60);
    expect(bench.mining()).toEqual([true, false]);
  });

  test("take a surplus without them as it is, and keep the reserve back", async () => {
    const { bench, surplus, pass } = await roof({ follow: { measures: "available", reserve: 100 } });
    await surplus(120);
    await pass(5);
    expect(bench.mining()).toEqual([true, false]);
    await pass(30);
    await surplus(110);
    await pass(300);
    expect(bench.mining()).toEqual([false, false]);
  });

  test("get power in the configured order, once there has been enough for long enough", async () => {
    const { bench, surplus, pass } = await roof({ follow: { order: ["rig 1"], dwell: 240 } });
    await surplus(-100);
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    for (const [watts, mining] of [
      [50, [false, false]],
      [25, [false, false]],
      [25, [false, true]],
    ] as const) {
      await pass(60);
      await surplus(watts);
      await pass(60);
      expect([watts, bench.mining()]).toEqual([watts, mining]);
    }
  });

  test("stop when the surplus is too old, with one notification until it is known again", async () => {
    const { bench, surplus, pass } = await roof();
    await surplus(500);
    await pass(900);
    expect(bench.mining()).toEqual([true, true]);
    await pass(5);
    await pass(600);
    expect(bench.mining()).toEqual([false, false]);
    const told = ["Roof: The surplus is older than 15 minutes, so rigs no longer follow it"];
    expect(await bench.notifications()).toEqual(told);
    await surplus(500);
    for (let turn = 0; turn < 5; turn += 1) await pass(60);
    expect(bench.mining()).toEqual([true, true]);
    expect(await bench.notifications()).toEqual(told);
  });

  test("leave a rig that a person has stopped, and what it would have had to the others", async () => {
    const { bench, surplus, pass } = await roof({ follow: { measures: "available" } });
    await bench.act(0, { action: "stop" });
    for (let turn = 0; turn < 8; turn += 1) {
      await surplus(25);
      await pass(60);
    }
    expect(bench.mining()).toEqual([false, true]);
  });

  test("get no commands that are not for them", async () => {
    const { bench } = await roof();
    expect(await refusal(bench.act(0, { action: "set_room_temperature", temperature: 20 }))).toBe("not.possible");
    expect((await bench.miner(0)).heating).toBeNull();
    const { url } = await openValueServer("100");
    const other = await roof({ follow: { surplus: { url } } });
    expect(await refusal(other.surplus(5))).toBe("not.possible");
  });
});

/** W of the roof beside the house, for rigs of some 17 W: a sunny day with a few clouds. */
function surplusAt(minute: number): number {
  const hour = minute / 60;
  const sun = Math.max(0, Math.sin(((hour - 6) / 12) * Math.PI)) * 130;
  return sun * (Math.floor(minute / 20) % 11 === 7 ? 0.6 : 1) - 8;
}

describe("a simulated day of sun over sockets", () => {
  test("is followed within 5 % of what the ladder can follow, over a restart, and no rig is switched oftener than allowed", async () => {
    const values = await openValueServer();
    const surplus = { url: values.url, path: "meter.0.power" };
    const { bench, draw, pass } = await roof({ rigs: 6, follow: { surplus, dwell: 60 } });
    // The first turn at midnight stops them all.
    values.answer = JSON.stringify({ meter: [{ power: -200 }] });
    await pass(60);
    expect(bench.mining()).not.toContain(true);
    const idle = draw() / 6;
    const minutes = 2;
    let [drawn, could] = [0, 0];
    for (let minute = 300; minute < 1200; minute += minutes) {
      if (minute === 720) await bench.restart();
      const available = surplusAt(minute);
      const drawing = draw();
      // What they draw while they stand is the house's.
      values.answer = JSON.stringify({ meter: [{ power: available - drawing }] });
      const running = bench.mining().filter((mining) => mining).length;
      drawn += (drawing - idle * (6 - running)) * minutes;
      could += Math.max(0, Math.floor(available / 17.4)) * 17.4 * minutes;
      await pass(minutes * 60);
    }
    expect(could / 60).toBeGreaterThan(700);
    expect(Math.abs(drawn / could - 1)).toBeLessThan(0.05);
    const { commandList } = await bench.service.listCommands({}, { actor: "test" });
    expect(commandList.every(({ state }) => state === "done")).toBe(true);
    for (const id of bench.ids) {
      const times = commandList.filter(({ minerId }) => minerId === id).map(({ time }) => Date.parse(time));
      for (const [index, time] of times.entries())
        if (index > 0) expect((times[index - 1] ?? 0) - time).toBeGreaterThanOrEqual(300_000);
    }
    expect(await bench.notifications()).toEqual([]);
  });
});
