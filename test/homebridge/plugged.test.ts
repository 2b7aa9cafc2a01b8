import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm, startPlug, type VirtualPlug } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type RunningHomebridge, startHomebridge } from "./homebridge.ts";

describe("a rig that cannot be stopped, with a plug that may cut its power", () => {
  let farm: Farm;
  let plug: VirtualPlug;
  let homebridge: RunningHomebridge;
  const rigs = (more: object = {}) =>
    farm.rigs.map(({ address }) => ({ address, name: "Attic", interval: 1, ...more }));
  beforeAll(async () => {
    farm = await startFarm({ rigs: [{ kind: "cgminer", warm: true, host: ownHost() }] });
    const [rig] = farm.rigs;
    if (rig === undefined) throw new Error("the farm has no rig");
    plug = await startPlug({ kind: "shelly2", rig, host: ownHost() });
    const supply = { type: "shelly", address: plug.address, cutPower: true };
    homebridge = await startHomebridge({ platform: { name: "Rigbridge", alarm: false, rigs: rigs({ supply }) } });
    await until(async () => (await homebridge.controller.accessories()).length === 1, "the rig to appear");
  });
  afterAll(async () => {
    await homebridge.close();
    await plug.close();
    await farm.close();
  });
  const on = () => homebridge.controller.find("Attic", "outlet", "on");

  test("is switched off within the time that HomeKit allows, and on again", async () => {
    await until(
      async () => (await homebridge.controller.read(await on())).value === 1,
      "the outlet to show that it is on",
    );
    expect([await homebridge.controller.write(await on(), false), plug.on]).toEqual([0, false]);
    expect(await homebridge.controller.read(await on())).toMatchObject({ value: 0, status: 0 });
    expect([await homebridge.controller.write(await on(), true), plug.on]).toEqual([0, true]);
  });

  test("is not an outlet any more when its plug is removed from the settings, and the log says why", async () => {
    homebridge = await homebridge.restart({ platform: { name: "Rigbridge", alarm: false, rigs: rigs() } });
    await homebridge.until(/Attic has no switch: it cannot be stopped/);
    await until(async () => (await homebridge.controller.accessories()).length === 0, "the outlet to disappear");
  });
});
