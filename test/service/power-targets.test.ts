import { afterEach, describe, expect, test } from "@jest/globals";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const bitaxe = { kind: "axeos", warm: true } as const;
const config = { power: { minOn: 300, minOff: 600, changesPerHour: 2 } };

async function bitaxeBench() {
  const clock = stoppedClock();
  const bench = await openBench({ rigs: [bitaxe], clock: clock.now, config });
  const id = await bench.add(bench.rig(0).address);
  const target = (watts: number) => bench.act(id, { action: "set", property: "power_target", value: String(watts) });
  const control = async () => (await bench.get(id)).controls.find(({ key }) => key === "power_target");
  return { bench, clock, id, target, control };
}

describe("power_target of a rig that can only be stopped", () => {
  test("is offered once it was seen what it draws", async () => {
    const { control } = await bitaxeBench();
    expect(await control()).toMatchObject({
      kind: "choice",
      options: [
        { watts: 0, label: "off" },
        { watts: 17, label: "on" },
      ],
      value: 17,
    });
  });

  test("stops and starts it, and shows what it then reports", async () => {
    const { bench, id, clock, target, control } = await bitaxeBench();
    expect(await target(0)).toMatchObject({ success: true, state: "done" });
    expect(bench.rig(0).model.mining).toBe(false);
    expect((await control())?.value).toBe(0);
    clock.pass(600);
    expect((await target(20).catch((error: unknown) => String(error))).toString()).toMatch(/takes up to 17 W/);
    expect(await target(17)).toMatchObject({ success: true });
    expect((await bench.get(id)).controls.find(({ key }) => key === "mining")?.value).toBe(true);
    expect(bench.rig(0).model.mining).toBe(true);
  });

  test("is held to the time that it shall stand and mine, over a restart too", async () => {
    const { bench, clock, target } = await bitaxeBench();
    await target(0);
    const early = await problem(target(17));
    expect([early.code, early.message]).toEqual([
      "not.possible",
      "The rig has not been stopped for 10 min yet; wait 10 min more",
    ]);
    await bench.restart(config);
    clock.pass(599);
    await bench.poll(1_000_000_001);
    expect((await problem(target(17))).message).toBe("The rig has not been stopped for 10 min yet; wait 1 s more");
    clock.pass(1);
    expect(await refusal(target(17))).toBe("done");
    expect((await problem(target(0))).message).toMatch(/^The rig has not mined for 5 min yet/);
  });

  test("leaves a person's own stop and start alone, and waits after them as after its own", async () => {
    const { bench, id, clock, target } = await bitaxeBench();
    await bench.act(id, { action: "stop" });
    await bench.act(id, { action: "start" });
    expect(await refusal(target(0))).toBe("not.possible");
    clock.pass(300);
    expect(await refusal(target(0))).toBe("done");
  });

  test("waits after the rig was stopped elsewhere", async () => {
    const { bench, id, target } = await bitaxeBench();
    bench.rig(0).model.change((model) => {
      model.mining = false;
    });
    await bench.poll(id);
    expect((await problem(target(17))).message).toMatch(/^The rig has not been stopped/);
  });

  test.each(["-1", "much", "1e3", "NaN", ""])("refuses %j", async (value) => {
    const { bench, id } = await bitaxeBench();
    expect(await refusal(bench.act(id, { action: "set", property: "power_target", value }))).toBe(
      "input.invalid value",
    );
  });

  test("is offered from the first day if the owner declares the draw, also for a stopped rig", async () => {
    const bench = await openBench({ rigs: [bitaxe], config });
    bench.rig(0).model.change((model) => {
      model.mining = false;
    });
    const { address } = bench.rig(0);
    await bench.restart({ ...config, miners: [{ address, powerNameplate: 20 }] });
    const id = bench.store.miners.all().find((miner) => miner.address === address)?.id ?? 0;
    await bench.poll(id);
    const { controls } = await bench.get(id);
    expect(controls.find(({ key }) => key === "power_target")).toMatchObject({ max: 20, value: 0 });
  });

  test("is absent where nothing changes the rig's power", async () => {
    const bench = await openBench({ rigs: [{ kind: "cgminer", warm: true }] });
    const id = await bench.add(bench.rig(0).address);
    expect((await bench.get(id)).controls.some(({ key }) => key === "power_target")).toBe(false);
    expect(await refusal(bench.act(id, { action: "set", property: "power_target", value: "0" }))).toBe(
      "control.absent",
    );
  });
});

test("power_target of a rig with a few powers takes their names", async () => {
  const rig = { kind: "avalon", generation: "q", warm: true, restartSeconds: 0 } as const;
  const bench = await openBench({ rigs: [rig], config: { power: { minOn: 0, minOff: 0, changesPerHour: 9 } } });
  const id = await bench.add(bench.rig(0).address, { username: "root", password: "root" });
  const target = (value: string) => bench.act(id, { action: "set", property: "power_target", value });
  expect(await target("eco")).toMatchObject({ success: true });
  expect((await bench.get(id)).readings.mode).toBe("eco");
  const error = await problem(target("fast"));
  expect([error.code, error.message]).toEqual([
    "input.invalid",
    expect.stringContaining('"power_target" takes watts or one of eco, standard, super; 0 stops the rig'),
  ]);
});

describe("power_target of a rig with a throttle and a limit", () => {
  const whatsminer = { kind: "whatsminer", warm: true, restartSeconds: 0 } as const;
  const login = { username: "admin", password: "admin" };
  const rules = { power: { minOn: 0, minOff: 0, changesPerHour: 2 } };

  test("throttles it, which is counted as no change, and stops it below what it can mine with", async () => {
    const bench = await openBench({ rigs: [whatsminer], config: rules });
    const id = await bench.add(bench.rig(0).address, login);
    const target = (watts: number) => bench.act(id, { action: "set", property: "power_target", value: String(watts) });
    for (const watts of [1500, 2000, 1200, 2500]) expect(await target(watts)).toMatchObject({ state: "done" });
    expect(bench.rig(0).requests.writes.every((write) => write.startsWith("set_power_pct"))).toBe(true);
    const { controls } = await bench.get(id);
    expect(controls.find(({ key }) => key === "power_target")?.value).toBeGreaterThan(2400);
    expect(controls.find(({ key }) => key === "power_target")?.value).toBeLessThanOrEqual(2500);
    await target(0);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Stopped");
    await target(2000);
    const throttle = (await bench.get(id)).controls.find(({ key }) => key === "throttle");
    expect(throttle?.value).toBeGreaterThan(55);
    expect(throttle?.value).toBeLessThan(65);
  });

  test("is raised at once after it was lowered, over a restart of the service too", async () => {
    // The clock stands still, so the rig does not ramp up again.
    const bench = await openBench({ rigs: [whatsminer], clock: stoppedClock().now, config: rules });
    const id = await bench.add(bench.rig(0).address, login);
    const ranges = async () =>
      (await bench.poll(id)).controls.flatMap(({ key, min, max }) =>
        key.startsWith("power_") ? [[key, min, max]] : [],
      );
    const before = await ranges();
    await bench.act(id, { action: "set_power_limit", watts: 1500 });
    expect(await ranges()).toEqual(before);
    await bench.restart(rules);
    expect(await ranges()).toEqual(before);
    expect(await bench.act(id, { action: "set_power_limit", watts: 3000 })).toMatchObject({ success: true });
    expect((await bench.get(id)).readings.powerLimit).toBe(3000);
  });

  test("stays a range with the same bounds while the draw goes up and down, and while it is unknown", async () => {
    const clock = stoppedClock();
    const vnish = { kind: "vnish", warm: true, restartSeconds: 0 } as const;
    const bench = await openBench({ rigs: [vnish], clock: clock.now, config: rules });
    const id = await bench.add(bench.rig(0).address, { password: "admin" });
    const { model } = bench.rig(0);
    const { voltage } = model;
    const seen = new Set<string>();
    const read = async () => {
      clock.pass(60);
      const control = (await bench.poll(id)).controls.find(({ key }) => key === "power_target");
      seen.add(`${control?.kind} of ${control?.min} to ${control?.max}`);
      expect(control?.value ?? 0).toBeLessThanOrEqual(control?.max ?? 0);
    };
    for (const share of [1.02, 1, 0.97, 1.01, 0.98, 1.02]) {
      model.change((rig) => {
        rig.voltage = voltage * share;
      });
      await read();
    }
    const mode = (await bench.get(id)).controls.find(({ key }) => key === "mode");
    const labels = (mode?.options ?? []).map((option) => (typeof option === "string" ? option : option.label));
    // What it draws at the other preset is not known at first.
    await bench.act(id, { action: "set_mode", mode: labels.find((label) => label !== mode?.value) ?? "" });
    await read();
    expect([...seen]).toEqual([expect.stringMatching(/^range of 0 to \d+$/)]);
  });

  test("counts what lasts, and waits when that was too often", async () => {
    const bench = await openBench({ rigs: [{ kind: "braiins", warm: true, restartSeconds: 0 }], config: rules });
    const id = await bench.add(bench.rig(0).address, { username: "root", password: "" });
    const target = (watts: number) => bench.act(id, { action: "set", property: "power_target", value: String(watts) });
    await target(2000);
    await target(2500);
    expect((await problem(target(3000))).message).toMatch(/power was changed 2 times within an hour; wait 60 min more/);
    expect((await bench.get(id)).readings.powerLimit).toBe(2500);
    // A person's own word holds all the same.
    expect(await refusal(bench.act(id, { action: "set_power_limit", watts: 3000 }))).toBe("done");
  });
});

test("a start brings back the mode that the rig had before it was stopped, over a restart of the service", async () => {
  const bench = await openBench({ rigs: [{ kind: "antminer", warm: true, restartSeconds: 0 }] });
  const id = await bench.add(bench.rig(0).address, { username: "root", password: "root" });
  await bench.act(id, { action: "set_mode", mode: "low" });
  await bench.act(id, { action: "stop" });
  await bench.restart();
  await bench.poll(id);
  expect(await bench.act(id, { action: "start" })).toMatchObject({ state: "done" });
  expect((await bench.get(id)).readings.mode).toBe("low");
});

test("power_target above what a WhatsMiner takes is done at what it takes, with a remark, and is not sent again", async () => {
  const bench = await openBench({ rigs: [{ kind: "whatsminer", warm: true, restartSeconds: 0 }] });
  const id = await bench.add(bench.rig(0).address, { password: "admin" });
  const most = Math.round(bench.rig(0).model.powerAt(0.9));
  const highest = (await bench.get(id)).controls.find(({ key }) => key === "power_target")?.max ?? 0;
  expect(highest).toBeGreaterThan(most);
  const limits = () => bench.rig(0).requests.writes.filter((write) => write.startsWith("adjust_power_limit"));
  const target = () => bench.act(id, { action: "set", property: "power_target", value: String(highest) });
  expect(await target()).toMatchObject({
    state: "done",
    message: expect.stringContaining(`limits itself to ${most} W`),
  });
  expect((await bench.get(id)).readings.powerLimit).toBe(most);
  expect(await target()).toMatchObject({ state: "done" });
  expect(limits()).toHaveLength(1);
});
