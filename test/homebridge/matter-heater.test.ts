import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import type { HomebridgeOptions, RunningHomebridge } from "./homebridge.ts";
import { isMatterPossible, MatterController, type MatterHub, matterHome } from "./matter-controller.ts";

(isMatterPossible ? describe : describe.skip)("Matter shows what heats a room", () => {
  let controller: MatterController;
  let farm: Farm;
  let options: HomebridgeOptions;
  let homebridge: RunningHomebridge;
  let hub: MatterHub;
  const thermometer = createServer((_, reply) => void reply.end("18.5"));
  beforeAll(async () => {
    controller = await MatterController.start();
    farm = await startFarm({
      rigs: [
        { kind: "axeos", warm: true },
        { kind: "whatsminer", warm: true },
      ],
    });
    await new Promise<void>((resolve) => thermometer.listen(0, "127.0.0.1", resolve));
    const address = thermometer.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const roomTemperature = { url: `http://127.0.0.1:${port}/`, every: 5 };
    const heating = { name: "Study", target: 21, roomTemperature };
    const sensors = ["temperature", "room_temperature"];
    const [heater, shed] = farm.rigs.map((rig) => ({ address: rig.address, interval: 1 }));
    const rigs = [
      { ...heater, name: "Heater", as: "heater", heating, sensors, group: "Upstairs" },
      { ...shed, name: "Shed" },
    ];
    ({ options, homebridge, hub } = await matterHome({ name: "Rigbridge", rigs }, controller));
    await until(
      () =>
        ["Heater", "Heater room temperature", "Heater temperature", "Shed", "Upstairs"].every((name) => hub.has(name)),
      "the rigs, sensors and group to appear",
    );
  });
  afterAll(async () => {
    thermometer.close();
    await homebridge.close();
    await farm.close();
    await controller.close();
  });
  const heater = () => hub.device("Heater");
  const thermostat = (attribute: string) => heater().read("thermostat", attribute);

  test("as a thermostat with the room's temperature and target, which only heats", async () => {
    await until(() => thermostat("localTemperature") === 1850, "the thermostat to show the room temperature");
    expect(thermostat("occupiedHeatingSetpoint")).toBe(2100);
    expect(thermostat("featureMap")).toMatchObject({ heating: true, cooling: false });
    await until(() => thermostat("systemMode") === 4, "the thermostat to show that the heater is on");
  });

  test("with temperature sensors beside it", async () => {
    const sensor = (name: string) => hub.device(name).read("temperatureMeasurement", "measuredValue");
    await until(() => sensor("Heater room temperature") === 1850, "the sensor to show the room temperature");
    await until(() => Number(sensor("Heater temperature")) > 2000, "the sensor to show the rig's temperature");
  });

  test("whose target the controller sets, and that survives a restart", async () => {
    expect(await heater().write("thermostat", { occupiedHeatingSetpoint: 2350 })).toBe(0);
    expect(await heater().write("thermostat", { occupiedHeatingSetpoint: 4000 })).not.toBe(0);
    await until(() => thermostat("occupiedHeatingSetpoint") === 2350, "the thermostat to show its new target");
    homebridge = await homebridge.restart(options);
    await hub.reconnect();
    await until(() => hub.has("Heater") && heater().reachable, "the thermostat to be reachable again");
    expect(thermostat("occupiedHeatingSetpoint")).toBe(2350);
  });

  test("which can be stopped and returned to its room's control, as HomeKit also shows", async () => {
    const active = await homebridge.controller.find("Heater", "heater-cooler", "active");
    const isActive = async () => (await homebridge.controller.read(active)).value;
    expect(await heater().write("thermostat", { systemMode: 0 })).toBe(0);
    await until(async () => (await isActive()) === 0, "HomeKit to show that the heater is off");
    expect(farm.rigs[0]?.model.mining).toBe(false);
    await until(
      () => hub.device("Upstairs").read("onOff", "onOff") === false,
      "the group's outlet to show that it is off",
    );
    expect(await heater().write("thermostat", { systemMode: 4 })).toBe(0);
    await until(async () => (await isActive()) === 1, "HomeKit to show that the heater is on");
    await until(() => thermostat("systemMode") === 4, "the thermostat to show that the heater is on");
  });

  test("and beside it a meter for a rig that cannot be stopped, whose energy grows", async () => {
    const shed = hub.device("Shed");
    expect(shed.read("onOff", "onOff")).toBeUndefined();
    const energy = () => JSON.stringify(shed.read("electricalEnergyMeasurement", "cumulativeEnergyImported"), plain);
    const before = energy();
    await until(() => energy() !== before, "the meter to count more energy");
    expect(Number(shed.read("electricalPowerMeasurement", "activePower"))).toBeGreaterThan(1_000_000);
  });

  test("and its group without power, which would be counted twice", () => {
    expect(hub.device("Upstairs").read("electricalPowerMeasurement", "activePower")).toBeUndefined();
  });
});

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
