import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { whatsminer } from "../../../src/link/drivers/whatsminer/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { SimulatedRig, WhatsminerSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, rigAt, values } from "../rigs.ts";
import { serve } from "../servers.ts";

const clock = stoppedClock();

async function start(
  spec: Partial<WhatsminerSpec> = {},
  credentials: object = { password: spec.generation === "v3" ? "super" : "admin" },
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "whatsminer", warm: true, ...spec }, clock.now);
  return { rig: rigAt(whatsminer, simulated.address, credentials), simulated };
}

const generations = [["v1"], ["v2"], ["v3"]] as const;

describe.each(generations)("a WhatsMiner of %s", (generation) => {
  test("is recognised by its address", async () => {
    const { simulated } = await start({ generation });
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect(found.driver.id).toBe("whatsminer");
    expect(found.identity).toMatchObject({ make: "WhatsMiner" });
    const { identity } = await found.rig.read(deadline());
    expect(identity.mac).toBe(simulated.mac);
    found.rig.close();
  });

  test("is read with every figure that it reports", async () => {
    const { rig, simulated } = await start({ generation });
    const reading = await rig.read(deadline());
    const { readings } = reading;
    const { model } = simulated;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -11),
      hashrateAverage: expect.closeTo(model.averageHashrate, -11),
      hashrateExpected: expect.closeTo(model.hardware.hashrate * 0.9, -11),
      algorithm: "sha256",
      power: Math.round(model.power),
      powerLimit: Math.round(model.powerAt(0.9)),
      powerSource: "reported",
      temperature: expect.closeTo(model.temperature, 0),
      temperatureIn: 25,
      fans: [
        { rpm: model.fanRpm, percent: null },
        { rpm: model.fanRpm - 60, percent: null },
      ],
      uptime: 3600,
      mining: true,
      mode: "normal",
      errors: [],
      notes: [],
    });
    expect(readings.boards).toHaveLength(3);
    for (const [slot, board] of readings.boards.entries()) {
      expect(board).toMatchObject({
        slot,
        hashrate: expect.closeTo(model.hashrate(5) / 3, -13),
        temperature: expect.any(Number),
        chipTemperature: expect.closeTo(model.temperature + 14, 0),
        chips: model.hardware.chips,
        frequency: model.frequency,
        serial: expect.stringMatching(/^B[HK]M/),
      });
    }
    expect(reading.devices).toHaveLength(3);
    expect(reading.devices[0]).toMatchObject({ kind: "asic", status: "enabled", clock: model.frequency });
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    expect(reading.identity).toMatchObject({
      make: "WhatsMiner",
      model: model.hardware.model.replaceAll("_", " "),
      mac: simulated.mac,
      firmware: expect.stringMatching(/^202\d{5}\./),
    });
  });

  test("is stopped and started, and reports it", async () => {
    const { rig, simulated } = await start({ generation });
    await rig.read(deadline());
    await rig.set("mining", false, deadline());
    expect(simulated.model.mining).toBe(false);
    clock.pass(60);
    const stopped = await rig.read(deadline());
    expect(stopped.readings).toMatchObject({ mining: false, hashrate: 0 });
    expect(stopped.readings.power).toBeLessThan(100);
    expect(values(stopped).mining).toBe(false);
    expect(stopped.readings.boards.map(({ hashrate }) => hashrate)).toEqual([0, 0, 0]);
    await rig.set("mining", true, deadline());
    clock.pass(120);
    const started = await rig.read(deadline());
    expect(started.readings).toMatchObject({ mining: true, uptime: 120 });
  });

  test("takes a mode, and is away while it restarts for it", async () => {
    const { rig, simulated } = await start({ generation, restartSeconds: 60 });
    await rig.read(deadline());
    await rig.set("mode", "low", deadline());
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
    clock.pass(600);
    const low = await rig.read(deadline());
    expect(values(low).mode).toBe("low");
    expect(low.readings.power).toBeCloseTo(simulated.model.powerAt(0.7), -2);
    await rig.set("mode", "high", deadline());
    clock.pass(600);
    expect((await rig.read(deadline())).readings.power).toBeCloseTo(simulated.model.hardware.power, -2);
  });

  test("takes a power limit within bounds that stay where they are", async () => {
    const { rig, simulated } = await start({ generation });
    const [before] = (await rig.read(deadline())).controls.filter(({ key }) => key === "power_limit");
    const full = simulated.model.powerAt(0.9);
    expect(before).toMatchObject({ unit: "W", step: 1, value: Math.round(full), lasting: true, restartsMining: true });
    expect(before?.max).toBeGreaterThanOrEqual(full);
    expect(before?.max).toBeLessThan(full * 1.1);
    expect(before?.min).toBeLessThan(full / 2);
    await rig.set("power_limit", 2000, deadline());
    clock.pass(900);
    const limited = await rig.read(deadline());
    const [after] = limited.controls.filter(({ key }) => key === "power_limit");
    expect(after).toMatchObject({ value: 2000, min: before?.min, max: before?.max });
    expect(limited.readings.power).toBeCloseTo(2000, -2);
    expect(limited.readings.powerLimit).toBe(2000);
    const writes = simulated.requests.writes.length;
    for (const watts of [0, 99_999, Number(before?.max) + 1]) {
      await expect(rig.set("power_limit", watts, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    }
    expect(simulated.requests.writes).toHaveLength(writes);
  });

  test("is located, and stops blinking", async () => {
    const { rig } = await start({ generation });
    await rig.read(deadline());
    await rig.set("locate", true, deadline());
    const shown = generation === "v1" ? null : true;
    expect(values(await rig.read(deadline())).locate).toBe(shown);
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline())).locate).toBe(generation === "v1" ? null : false);
  });

  test.each(["restart", "reboot"] as const)("does a %s, once", async (key) => {
    const { rig, simulated } = await start({ generation, restartSeconds: 120 });
    await rig.read(deadline());
    await rig.set(key, true, deadline());
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
    clock.pass(150);
    expect((await rig.read(deadline())).readings.uptime).toBe(30);
    expect(simulated.requests.writes).toHaveLength(1);
  });

  test("shows its errors by their codes", async () => {
    const { rig } = await start({ generation, errors: [329, 2010] });
    const { errors } = (await rig.read(deadline())).readings;
    expect(errors.map(({ code }) => code).sort()).toEqual(["2010", "329"]);
    expect(errors.every(({ text }) => text !== "")).toBe(true);
  });

  test("without a password is read, offers nothing, and notes what it requires", async () => {
    const { rig, simulated } = await start({ generation }, {});
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.readings.notes).toEqual([expect.stringContaining("password")]);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.login" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("is opened with the maker's login where that is allowed", async () => {
    const { simulated } = await start({ generation });
    const found = await identify(parseAddress(simulated.address), { makersLogin: true }, deadline());
    await found.rig.read(deadline());
    await found.rig.set("locate", true, deadline());
    expect(simulated.requests.writes).toHaveLength(1);
    found.rig.close();
  });
});

describe("the bounds of the power limit", () => {
  test.each(generations)("of %s end where the rig limits itself, as long as its mode stays", async (generation) => {
    const { rig, simulated } = await start({ generation });
    const limit = async () => (await rig.read(deadline())).controls.find(({ key }) => key === "power_limit");
    const before = await limit();
    const most = Math.round(simulated.model.powerAt(0.9));
    expect(before?.max).toBeGreaterThan(most);
    await rig.set("power_limit", before?.max ?? 0, deadline());
    clock.pass(10);
    expect(await limit()).toMatchObject({ value: most, max: most, min: before?.min });
    clock.pass(500);
    expect(await limit()).toMatchObject({ value: most, max: most });
    await rig.set("power_limit", most - 100, deadline());
    clock.pass(500);
    expect(await limit()).toMatchObject({ value: most - 100, max: most });
    await rig.set("mode", "high", deadline());
    clock.pass(500);
    expect((await limit())?.max).toBe(before?.max);
  });

  test("leave room above a limit that stood before the rig was first read, once it works evenly", async () => {
    const { rig, simulated } = await start({ generation: "v2" });
    await rig.read(deadline());
    await rig.set("power_limit", 2000, deadline());
    clock.pass(60);
    const later = rigAt(whatsminer, simulated.address, { password: "admin" });
    const bounds = async () => (await later.read(deadline())).controls.find(({ key }) => key === "power_limit");
    expect(await bounds()).toMatchObject({ min: 600, max: 2000, value: 2000 });
    clock.pass(900);
    const settled = await bounds();
    expect(settled?.max).toBeGreaterThan(simulated.model.powerAt(0.9));
    clock.pass(900);
    expect(await bounds()).toEqual(settled);
    await later.set("power_limit", settled?.max ?? 0, deadline());
    clock.pass(900);
    expect((await later.read(deadline())).readings.power).toBeCloseTo(simulated.model.powerAt(0.9), -2);
  });
});

describe("a throttle", () => {
  test.each([["v2"], ["v3"]] as const)(
    "of %s holds it to a part of its power at once, and only till a restart",
    async (generation) => {
      const { rig, simulated } = await start({ generation });
      const before = await rig.read(deadline());
      expect(before.controls.find(({ key }) => key === "throttle")).toMatchObject({
        unit: "%",
        min: 1,
        max: 100,
        step: 1,
        value: null,
        lasting: false,
        restartsMining: false,
        seconds: 5,
      });
      await rig.set("throttle", 50, deadline());
      const half = await rig.read(deadline());
      expect(values(half).throttle).toBe(50);
      expect(half.readings.power).toBeCloseTo(simulated.model.powerAt(0.9) / 2, -2);
      expect(half.readings.uptime).toBe(before.readings.uptime);
      await rig.set("restart", true, deadline());
      clock.pass(600);
      const after = await rig.read(deadline());
      expect(values(after).throttle).toBeNull();
      expect(after.readings.power).toBeCloseTo(simulated.model.powerAt(0.9), -2);
    },
  );

  test("is not offered by firmware of 2021, which lacks it", async () => {
    const { rig } = await start({ generation: "v1" });
    expect(Object.keys(values(await rig.read(deadline())))).toEqual(expect.not.arrayContaining(["throttle"]));
    await expect(rig.set("throttle", 50, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });
});

describe("which API is spoken", () => {
  test("is v3 on firmware that has it, even beside v2", async () => {
    const { rig, simulated } = await start({ generation: "v3" });
    await rig.set("locate", true, deadline());
    expect(simulated.requests.writes).toEqual([expect.stringContaining("set.system.led")]);
  });

  test("is v3 where v2 is switched off, and such a rig is recognised by its web", async () => {
    const { simulated } = await start({ generation: "v3", compatible: false });
    const found = await identify(parseAddress(simulated.address), { password: "super" }, deadline());
    expect(found.driver.id).toBe("whatsminer");
    const reading = await found.rig.read(deadline());
    expect(reading.identity).toMatchObject({ model: "M60S VK40", mac: simulated.mac });
    expect(reading.readings.psu).toMatchObject({ model: "P221B", voltage: 229 });
    found.rig.close();
  });

  test("is v2 on older firmware, one connection at a time, with seldom changes read seldom", async () => {
    const { rig, simulated } = await start({ generation: "v2" });
    const first = await rig.read(deadline());
    expect(first.identity).toMatchObject({ hostname: "whatsminer-1", serial: expect.stringMatching(/^HTM/) });
    expect(first.readings.psu).toMatchObject({ model: "P222B", voltage: 229.5, serial: expect.stringMatching(/^PSU/) });
    expect(first.readings.shares).toMatchObject({ accepted: simulated.model.shares.accepted });
    const asked = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - asked).toBe(3);
    rig.doubt?.();
    expect((await rig.read(deadline())).identity).toEqual(first.identity);
  });
});

test("a v2 whose version is not answered in time still has its throttle", async () => {
  const simulated = await startRig({ kind: "whatsminer", warm: true, generation: "v2" }, clock.now);
  const { host, port } = parseAddress(simulated.address);
  let unanswered: readonly string[] = [];
  const slow = await serve((socket, request) => {
    if (unanswered.some((name) => request.includes(name))) return;
    const rig = connect(port ?? 0, host);
    rig.pipe(socket);
    rig.write(request);
  });
  const rig = rigAt(whatsminer, `127.0.0.1:${slow.port}`, { password: "admin" });
  const throttleOf = async () => values(await rig.read(deadline())).throttle;
  await throttleOf();
  await rig.set("throttle", 50, deadline());
  unanswered = ["get_version"];
  rig.doubt?.();
  expect(await throttleOf()).toBe(50);
});

test("a v3 that does not know its rate yet expects none", async () => {
  const { rig } = await start({ generation: "v3", warm: false });
  const { readings } = await rig.read(deadline());
  expect(readings).toMatchObject({ hashrateExpected: null, uptime: 0, notes: [] });
});
