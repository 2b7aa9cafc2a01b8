import { afterEach, describe, expect, test } from "@jest/globals";
import type { HttpPlugSettings } from "../../src/contract/plug-settings.ts";
import { type PlugKind, startPlug, type VirtualPlug } from "../../src/simulator/index.ts";
import { problem, refusal } from "../errors.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

const plugs: VirtualPlug[] = [];
afterEach(async () => {
  await closeBenches();
  await Promise.all(plugs.splice(0).map((plug) => plug.close()));
});

const hash = { kind: "cgminer", hardware: "sticks", warm: true } as const;

async function rigOnPlug(kind: PlugKind, said: Partial<HttpPlugSettings> = {}, password?: string) {
  const bench = await openBench({ rigs: [hash] });
  const plug = await startPlug({ kind, rig: bench.rig(0), ...(password === undefined ? {} : { password }) });
  plugs.push(plug);
  const id = await bench.add(bench.rig(0).address, { supply: supplyOf(kind, plug, said) });
  return { bench, plug, id };
}

const supplyOf = (kind: PlugKind, { address }: VirtualPlug, said: Partial<HttpPlugSettings>): HttpPlugSettings => ({
  type: kind === "tasmota" ? "tasmota" : "shelly",
  address,
  channel: 0,
  cutPower: true,
  delay: 0,
  ...said,
});

const switchOf = async (bench: Bench, id: number) => (await bench.get(id)).controls.find(({ key }) => key === "mining");

describe.each<PlugKind>(["shelly1", "shelly2", "tasmota"])("a rig behind a plug (%s)", (kind) => {
  test("shows the watts that the plug measures, and that the plug can stop it", async () => {
    const { bench, id } = await rigOnPlug(kind);
    const { readings } = await bench.get(id);
    expect([readings.powerSource, readings.mining]).toEqual(["measured", true]);
    expect(readings.power).toBeCloseTo(bench.rig(0).model.power, -1);
    expect(await switchOf(bench, id)).toMatchObject({ kind: "switch", value: true });
  });

  test("is stopped by cutting its power, is known to be off and no alarm, and is started again", async () => {
    const { bench, plug, id } = await rigOnPlug(kind);
    expect(await bench.act(id, { action: "stop" })).toMatchObject({ success: true, state: "done" });
    expect([plug.on, bench.rig(0).powered]).toEqual([false, false]);
    for (let reads = 0; reads < 4; reads += 1) await bench.poll(id);
    const off = await bench.get(id);
    expect(off).toMatchObject({ isOffline: false, canStop: false, canStart: true });
    expect([off.statusInfo.statusDisplay, off.readings.mining, off.readings.power]).toEqual(["Stopped", false, 0]);
    expect([off.readings.hashrate, off.readings.temperature, off.readings.stale]).toEqual([null, null, false]);
    expect(off.readings.notes).toEqual(["its plug is switched off"]);
    expect(await bench.notifications()).toEqual([]);
    expect(await bench.act(id, { action: "start" })).toMatchObject({ success: true, state: "done" });
    expect(plug.on).toBe(true);
    expect((await bench.get(id)).readings.mining).toBe(true);
    expect(plug.switched).toBe(2);
  });

  test("is off when its plug is switched by hand", async () => {
    const { bench, plug, id } = await rigOnPlug(kind);
    await plug.press(false);
    await bench.poll(id);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Stopped");
  });
});

describe("a rig behind a plug", () => {
  test("that may not cut its power is not stopped by it, and is disconnected while the plug is off", async () => {
    const { bench, plug, id } = await rigOnPlug("shelly2", { cutPower: false });
    expect(await switchOf(bench, id)).toBeUndefined();
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("control.absent");
    await plug.press(false);
    for (let reads = 0; reads < 3; reads += 1) await bench.poll(id);
    const { statusInfo, readings } = await bench.get(id);
    expect(statusInfo.statusDisplay).toBe("Disconnected");
    expect(readings.notes).toEqual(["The plug of this rig is switched off"]);
  });

  test("is stopped by its own control if it has one, with its power left on", async () => {
    const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
    const plug = await startPlug({ kind: "shelly1", rig: bench.rig(0) });
    plugs.push(plug);
    const id = await bench.add(bench.rig(0).address, { supply: supplyOf("shelly1", plug, {}) });
    await bench.act(id, { action: "stop" });
    expect([plug.on, bench.rig(0).model.mining]).toEqual([true, false]);
    expect((await bench.get(id)).readings.mining).toBe(false);
  });

  test("is read on when the plug does not answer, with a note", async () => {
    const { bench, plug, id } = await rigOnPlug("tasmota");
    await plug.close();
    await bench.poll(id);
    const { readings } = await bench.get(id);
    expect(readings.mining).toBe(true);
    expect(readings.notes.join()).toMatch(/its plug cannot be read: 127\.0\.0\.1:\d+: connection refused/);
    expect(readings.powerSource).not.toBe("measured");
    const failed = await problem(bench.act(id, { action: "stop" }));
    expect([failed.code, failed.message]).toEqual([
      "rig.refused",
      expect.stringMatching(/^The plug cannot be reached: /),
    ]);
    expect(bench.rig(0).model.boardsOff.size).toBe(0);
  });

  test("hashes on when the service ends in the midst of a stop", async () => {
    const { bench, plug, id } = await rigOnPlug("shelly2", { delay: 60 });
    const stopped = refusal(bench.act(id, { action: "stop" }));
    await until(() => bench.rig(0).model.boardsOff.size > 0, "the boards to be switched off");
    await bench.restart();
    expect(await stopped).toBe("rig.timeout");
    expect([bench.rig(0).model.boardsOff.size, plug.on]).toEqual([0, true]);
    await bench.poll(id);
    expect((await bench.get(id)).readings.mining).toBe(true);
  });

  test("keeps its shape and its name when it starts off", async () => {
    const { bench, plug, id } = await rigOnPlug("shelly1");
    const before = await bench.get(id);
    await bench.act(id, { action: "stop" });
    await bench.restart();
    await bench.poll(id);
    const after = await bench.get(id);
    expect(after.uid).toBe(before.uid);
    expect(after.readings.boards).toHaveLength(before.readings.boards.length);
    expect(after.controls.map(({ key }) => key).sort()).toEqual(before.controls.map(({ key }) => key).sort());
    expect(plug.on).toBe(false);
    expect((await bench.act(id, { action: "start" })).state).toBe("done");
  });

  test("counts the energy that its plug has counted", async () => {
    const { bench, id } = await rigOnPlug("shelly2");
    const readAgain = async () => (await bench.poll(id)).readings.energy ?? 0;
    const first = await readAgain();
    expect(await readAgain()).toBeGreaterThanOrEqual(first);
  });

  test("takes another plug, and none", async () => {
    const { bench, id } = await rigOnPlug("shelly1");
    await bench.service.changeMiner({ id, supply: null }, caller);
    await bench.poll(id);
    expect(await switchOf(bench, id)).toBeUndefined();
  });
});

describe("the login of a plug", () => {
  test.each<PlugKind>(["shelly1", "shelly2", "tasmota"])(
    "is sent where it is required, and never shown (%s)",
    async (kind) => {
      const { bench, plug, id } = await rigOnPlug(kind, { password: "plug-secret" }, "plug-secret");
      const given = supplyOf(kind, plug, {});
      expect((await bench.get(id)).readings.powerSource).toBe("measured");
      await bench.service.changeMiner({ id, supply: { ...given, password: "wrong-secret" } }, caller);
      await bench.poll(id);
      const text = JSON.stringify(await bench.get(id));
      expect(text).toMatch(/its plug cannot be read/);
      expect(text).not.toMatch(/secret/);
    },
  );
});
