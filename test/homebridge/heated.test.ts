import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { noResponse } from "./controller.ts";
import { type RunningHomebridge, startHomebridge } from "./homebridge.ts";

/** A study with two rigs, one of which heats it. */
describe("a room", () => {
  let farm: Farm;
  let thermometer: { readonly server: Server; readonly url: string; celsius: number };
  let homebridge: RunningHomebridge;
  beforeAll(async () => {
    farm = await startFarm({
      rigs: [
        { kind: "axeos", warm: true },
        { kind: "axeos", warm: true, host: ownHost() },
      ],
    });
    thermometer = await startThermometer(18);
    const [heater, other] = farm.rigs.map(({ address }) => ({ address, interval: 1, group: "Study" }));
    const roomTemperature = { url: thermometer.url, every: 5 };
    homebridge = await startHomebridge({
      platform: {
        name: "Rigbridge",
        rigs: [
          { ...heater, name: "Heater", as: "heater", heating: { name: "Study", target: 21, roomTemperature } },
          { ...other, name: "Shelf", sensors: ["temperature"] },
        ],
      },
    });
    await until(
      async () => (await homebridge.controller.accessories()).length === 4,
      "the room and its rigs to appear",
    );
    const on = await homebridge.controller.find("Study", "outlet", "on");
    await until(async () => (await homebridge.controller.read(on)).status === 0, "the room's outlet to respond");
  });
  afterAll(async () => {
    await homebridge.close();
    await farm.close();
    thermometer.server.close();
  });
  const rig = (index: number) => {
    const found = farm.rigs[index];
    if (found === undefined) throw new Error(`the farm has no rig ${index}`);
    return found;
  };
  const find = (name: string, service: string, characteristic: string) =>
    homebridge.controller.find(name, service, characteristic);
  const reads = (name: string, service: string, characteristic: string, value: unknown) => async (): Promise<boolean> =>
    (await homebridge.controller.read(await find(name, service, characteristic))).value === value;

  test("has the temperature of its thermometer, and a target that HomeKit can set", async () => {
    await until(reads("Heater", "heater-cooler", "temperature.current", 18), "the heater to show the room temperature");
    const target = await find("Heater", "heater-cooler", "temperature.heating-threshold");
    expect(target).toMatchObject({ value: 21, minValue: 5, maxValue: 35 });
    expect(await homebridge.controller.write(target, 30.5)).toBe(0);
    expect(await homebridge.controller.read(target)).toMatchObject({ value: 30.5, status: 0 });
    expect(await homebridge.controller.write(target, 40)).not.toBe(0);
    const mode = await find("Heater", "heater-cooler", "heater-cooler.state.target");
    expect([await homebridge.controller.write(mode, 2), await homebridge.controller.write(mode, 1)]).toEqual([
      expect.any(Number),
      0,
    ]);
    expect(await homebridge.controller.read(mode)).toMatchObject({ value: 1 });
  });

  test("has a heater that can be stopped and returned to the room's control", async () => {
    const active = await find("Heater", "heater-cooler", "active");
    const state = await find("Heater", "heater-cooler", "heater-cooler.state.current");
    expect(await homebridge.controller.write(active, 0)).toBe(0);
    expect(rig(0).model.mining).toBe(false);
    expect(await homebridge.controller.read(active)).toMatchObject({ value: 0, status: 0 });
    expect(await homebridge.controller.read(state)).toMatchObject({ value: 0 });
    const target = await find("Heater", "heater-cooler", "temperature.heating-threshold");
    const both = [
      [target, 25],
      [active, 1],
    ] as const;
    expect(await homebridge.controller.writeAll(both)).toEqual([0, 0]);
    expect(await homebridge.controller.read(active)).toMatchObject({ value: 1, status: 0 });
    expect(await homebridge.controller.read(target)).toMatchObject({ value: 25 });
  });

  test("has fans that can be set to a speed, made automatic, and never switched off", async () => {
    await until(reads("Shelf", "fanv2", "fan.state.target", 1), "the fan to show that it is automatic");
    const [speed, mode, active] = [
      await find("Shelf", "fanv2", "rotation.speed"),
      await find("Shelf", "fanv2", "fan.state.target"),
      await find("Shelf", "fanv2", "active"),
    ];
    expect(await homebridge.controller.write(speed, 80)).toBe(0);
    expect(rig(1).model.fanSetting).toBe(0.8);
    expect(await homebridge.controller.read(mode)).toMatchObject({ value: 0 });
    const { writes } = rig(1).requests;
    const sent = writes.length;
    expect(await homebridge.controller.write(active, 0)).toBe(0);
    await until(
      async () => (await homebridge.controller.read(active)).value === 1,
      "the fan to show that it is on again",
    );
    expect([rig(1).model.fanSetting, writes.length]).toEqual([0.8, sent]);
    expect(await homebridge.controller.write(speed, 0)).toBe(0);
    expect(rig(1).model.fanSetting).toBeNull();
    expect(await homebridge.controller.read(mode)).toMatchObject({ value: 1 });
  });

  test("has an outlet for all its rigs", async () => {
    const on = await find("Study", "outlet", "on");
    expect(await homebridge.controller.write(on, false)).toBe(0);
    expect(farm.rigs.map(({ model }) => model.mining)).toEqual([false, false]);
    expect(await homebridge.controller.read(on)).toMatchObject({ value: 0 });
    expect(await homebridge.controller.write(on, true)).toBe(0);
    expect(farm.rigs.map(({ model }) => model.mining)).toEqual([true, true]);
  });

  test("shows no temperature of an offline rig, and opens the alarm of all rigs", async () => {
    const contact = await find("Rig alarm", "sensor.contact", "contact-state");
    const warm = await find("Shelf", "sensor.temperature", "temperature.current");
    expect(warm.maxValue).toBe(200);
    expect(Number((await homebridge.controller.read(warm)).value)).toBeGreaterThan(20);
    expect(await homebridge.controller.read(contact)).toMatchObject({ value: 0 });
    rig(1).powerOff();
    await until(async () => (await homebridge.controller.read(contact)).value === 1, "the alarm to open");
    expect((await homebridge.controller.read(warm)).status).toBe(noResponse);
    await rig(1).powerOn();
    await until(async () => (await homebridge.controller.read(contact)).value === 0, "the alarm to close");
  });

  test("causes no complaints by Homebridge", () => {
    expect(homebridge.lines.filter((line) => /illegal|characteristic|NaN|slow/i.test(line))).toEqual([]);
  });
});

async function startThermometer(celsius: number) {
  const thermometer = { celsius };
  const server = createServer((_, response) => response.end(String(thermometer.celsius)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return Object.assign(thermometer, { server, url: `http://127.0.0.1:${port}/` });
}
