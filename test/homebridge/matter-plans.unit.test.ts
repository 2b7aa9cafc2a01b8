import { describe, expect, test } from "@jest/globals";
import { OnOffPlugInUnitDevice } from "@matter/main/devices/on-off-plug-in-unit";
import fc from "fast-check";
import type { MatterAccessory } from "homebridge";
import { failureOf } from "../../homebridge/src/failure.ts";
import { planDevices } from "../../homebridge/src/matter/devices.ts";
import { due } from "../../homebridge/src/matter/due.ts";
import type { DevicePlan } from "../../homebridge/src/matter/plan.ts";
import { rememberedPlan, withoutReadings } from "../../homebridge/src/matter/remembered.ts";
import { centidegrees, matterText, milliwattHours, milliwatts } from "../../homebridge/src/matter/values.ts";
import { type Heating, type Miner, RigbridgeError } from "../../src/index.ts";
import { control, farmOf, miner, off, readings, settings } from "./miners.ts";

const unlisted = () => undefined;
const devicesOf = (miners: readonly Miner[], given: object = {}) =>
  planDevices(farmOf(miners), settings(given), unlisted);
const only = (rig: Miner, given: object = {}): DevicePlan => {
  const [device] = devicesOf([rig], given);
  if (device === undefined) throw new Error("there is no device");
  return device;
};

const stopped = { readings: readings({ hashrate: 0, power: 1, mining: false }), controls: [control("mining")] };
const study: Heating = { name: "Study", target: 21, room: 18.5, at: null, demand: 1, held: false };
const heater = { defaults: { as: "heater" } };

describe("a device", () => {
  test.each([
    [
      "mines, with its power and energy",
      miner({ readings: readings({ hashrate: 1, power: 15.25, energy: 1234 }) }),
      { reachable: true, on: { onOff: true }, power: 15_250, energy: { energy: 1_234_000 } },
    ],
    [
      "is stopped",
      miner({ ...stopped, readings: readings({ hashrate: 0, power: 1, energy: 0, mining: false }) }),
      { reachable: true, on: { onOff: false }, power: 1_000, energy: { energy: 0 } },
    ],
    [
      "does not report its power",
      miner({ readings: readings({ hashrate: 1 }) }),
      { reachable: true, on: { onOff: true }, power: null, energy: null },
    ],
    [
      "is off: energy stays, and on/off is left as it was",
      off({ readings: readings({ energy: 1234 }) }),
      { reachable: false, on: {}, power: null, energy: { energy: 1_234_000 } },
    ],
  ])("of a rig that %s", (_, rig, { reachable, on, power, energy }) => {
    expect(only(rig)).toMatchObject({ type: "OnOffOutlet", reachable });
    expect(only(rig).clusters).toEqual({
      onOff: on,
      electricalPowerMeasurement: { activePower: power },
      electricalEnergyMeasurement: { cumulativeEnergyImported: energy },
    });
  });

  test.each([
    ["an outlet, even if set to be a switch", miner(), { defaults: { as: "switch" } }, "OnOffOutlet", "outlet"],
    ["a thermostat for a heater with a room", miner({ heating: study }), heater, "Thermostat", "heater"],
    ["an outlet for a heater without a room", miner(), heater, "OnOffOutlet", "outlet"],
    ["a meter if it cannot be stopped", miner({ controls: [] }), {}, "ElectricalSensor", "meter"],
  ])("is %s", (_, rig, given, type, key) => {
    expect(only(rig, given)).toMatchObject({ type, key: `${key}:025100000001` });
  });

  test("does not exist for an offline rig while it is unknown whether it can be stopped", () => {
    expect(devicesOf([off({ controls: [] })])).toEqual([]);
  });

  test("is identified by the rig's uid and stays the same with another address or name", () => {
    const moved = miner({ id: 9, uid: miner().uid, name: "Cellar", hostDescription: "10.0.0.9:80" });
    expect(only(moved).key).toBe(only(miner()).key);
  });

  test("exists for the rigs and groups that HomeKit shows, not for hidden and unidentified ones", () => {
    expect(devicesOf([miner({ uid: null })])).toEqual([]);
    expect(devicesOf([miner()], { defaults: { as: "hidden" } })).toEqual([]);
    const many = Array.from({ length: 141 }, (_, index) => miner({ id: index + 1, uid: `uid-${index}` }));
    expect(devicesOf(many).map(({ key }) => key)).toEqual(["rigs"]);
  });

  test("is accompanied by one per temperature sensor, without a value while the rig is off", () => {
    const wanted = { defaults: { sensors: ["temperature", "temperature_out", "room_temperature"] } };
    const sensors = (rig: Miner) =>
      devicesOf([rig], wanted)
        .filter(({ type }) => type === "TemperatureSensor")
        .map(({ key, reachable, clusters }) => [key, reachable, clusters.temperatureMeasurement?.measuredValue]);
    expect(sensors(miner({ readings: readings({ temperature: 61.25 }) }))).toEqual([
      ["temperature:025100000001", true, 6125],
      ["temperature_out:025100000001", true, null],
    ]);
    expect(sensors(off({ heating: study }))).toEqual([
      ["temperature:025100000001", false, null],
      ["temperature_out:025100000001", false, null],
      ["room_temperature:025100000001", true, 1850],
    ]);
  });

  test("of a temperature is named after the rig, with a long name shortened", () => {
    const wanted = { defaults: { sensors: ["temperature", "temperature_out"] } };
    const named = (name: string) => devicesOf([miner({ name })], wanted).map((device) => device.name);
    expect(named("Garage")).toEqual(["Garage", "Garage temperature", "Garage temperature out"]);
    expect(named("Köksminern i källaren bredvid pannan")).toEqual([
      "Köksminern i källaren bredvid",
      "Köksminern i källa temperature",
      "Köksminern i k temperature out",
    ]);
  });

  test("turns what a controller does into commands", () => {
    const { commands } = only(miner({ id: 7 }));
    expect(commands.on?.(false)).toEqual({
      miners: [7],
      intents: [{ kind: "set", property: "mining", value: "false" }],
    });
    expect(commands.target).toBeUndefined();
  });
});

describe("a heater", () => {
  test.each([
    ["that mines is on", miner({ heating: study }), 4],
    ["that waits for a colder room is on", miner({ ...stopped, heating: study }), 4],
    ["that a person has stopped is off", miner({ ...stopped, heating: { ...study, held: true } }), 0],
    ["that is offline is left as it was", off({ heating: study }), undefined],
  ])("%s", (_, rig, mode) => {
    const { thermostat } = only(rig, heater).clusters;
    expect(thermostat?.systemMode).toBe(mode);
    expect(thermostat).toMatchObject({
      localTemperature: 1850,
      occupiedHeatingSetpoint: 2100,
      minHeatSetpointLimit: 500,
      maxHeatSetpointLimit: 3500,
      controlSequenceOfOperation: 2,
    });
  });

  test("can be set, stopped, and returned to its room by its target", () => {
    const { commands } = only(miner({ heating: study }), heater);
    const target = (value: string) => ({ miners: [1], intents: [{ kind: "set", property: "room_target", value }] });
    expect(commands.target?.(23.5)).toEqual(target("23.5"));
    expect(commands.on?.(true)).toEqual(target("21"));
    expect(commands.on?.(false).intents).toEqual([{ kind: "set", property: "mining", value: "false" }]);
  });

  test("whose room has no temperature yet has none", () => {
    const { thermostat } = only(miner({ heating: { ...study, room: null } }), heater).clusters;
    expect(thermostat?.localTemperature).toBeNull();
  });
});

test("a group is an outlet without power, on while one of its rigs mines, that commands the rigs that answer", () => {
  const rigs = [miner({ id: 1, groupId: 1 }), miner({ id: 2, groupId: 1, ...stopped }), off({ id: 3, groupId: 1 })];
  const farm = farmOf(rigs, [{ id: 1, name: "Hall", parentId: 0 }]);
  const [hall] = planDevices(farm, settings(), unlisted);
  expect(hall).toMatchObject({ key: "group:1", type: "OnOffOutlet", name: "Hall", reachable: true });
  expect(hall?.clusters).toEqual({ onOff: { onOff: true } });
  expect(hall?.commands.on?.(true).miners).toEqual([1, 2]);
});

describe("what is reported to controllers", () => {
  const power = (activePower: number | null) => ({ electricalPowerMeasurement: { activePower } });
  const energy = (wattHours: number | null) => ({
    electricalEnergyMeasurement: {
      cumulativeEnergyImported: wattHours === null ? null : { energy: wattHours * 1000 },
    },
  });
  test.each([
    ["immediately: on and off", { onOff: { onOff: true } }, { onOff: { onOff: false } }, true],
    ["immediately: power that moved far", power(1_000_000), power(1_020_000), true],
    ["in the regular report: power that moved a little", power(1_000_000), power(1_019_999), false],
    ["in the regular report: power of a small rig that moved by less than 2 W", power(15_000), power(16_999), false],
    ["immediately: power that became unknown", power(15_000), power(null), true],
    ["immediately: power that became known", power(null), power(15_000), true],
    ["in the regular report: energy", energy(1), energy(500), false],
    ["immediately: the first energy", energy(null), energy(1), true],
  ])("%s", (_, before, now, atOnce) => {
    expect(due(before, now, false)).toEqual(atOnce ? now : {});
    expect(due(before, now, true)).toEqual(now);
  });

  test("never twice: the same value", () => {
    expect(due(energy(1), energy(1), true)).toEqual({});
  });

  test("of a cluster: only changed attributes", () => {
    const before = { thermostat: { systemMode: 4, occupiedHeatingSetpoint: 2100 } };
    const now = { thermostat: { systemMode: 4, occupiedHeatingSetpoint: 2200 } };
    expect(due(before, now, false)).toEqual({ thermostat: { occupiedHeatingSetpoint: 2200 } });
  });
});

describe("a device that Homebridge remembers", () => {
  const contextOf = ({ key, type, host }: DevicePlan): MatterAccessory["context"] => ({ key, type, host });
  const written = (plan: DevicePlan, context = contextOf(plan)): MatterAccessory => ({
    UUID: "uuid",
    displayName: plan.name,
    deviceType: OnOffPlugInUnitDevice,
    manufacturer: plan.information.manufacturer,
    model: plan.information.model,
    serialNumber: plan.information.serial,
    firmwareRevision: plan.information.firmware,
    context,
    clusters: { ...plan.clusters, bridgedDeviceBasicInformation: { reachable: true } },
  });

  test.each([
    ["an outlet", miner({ readings: readings({ power: 15, energy: 7 }) })],
    ["a heater", miner({ heating: study, readings: readings({ power: 15 }) })],
    ["a meter", miner({ controls: [] })],
  ])("is %s without its readings", (_, rig) => {
    const plan = only(rig, heater);
    const remembered = rememberedPlan(written(plan));
    expect(remembered).toEqual(withoutReadings(plan));
    expect(remembered).toMatchObject({ reachable: false, commands: {} });
    expect(remembered?.clusters.electricalPowerMeasurement?.activePower).toBeNull();
  });

  test("is an unknown temperature", () => {
    const hot = miner({ readings: readings({ temperature: 60 }) });
    const sensor = devicesOf([hot], { defaults: { sensors: ["temperature"] } }).at(-1);
    expect(sensor && rememberedPlan(written(sensor))).toMatchObject({
      type: "TemperatureSensor",
      reachable: false,
      clusters: { temperatureMeasurement: { measuredValue: null } },
    });
  });

  test("is dropped if the plugin did not make it", () => {
    expect(rememberedPlan(written(only(miner()), { key: "a", type: "Fan" }))).toBeNull();
    expect(rememberedPlan(written(only(miner()), {}))).toBeNull();
  });
});

test("texts have at most as many bytes as Matter accepts, and whole characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.integer({ min: 4, max: 64 }), (text, bytes) => {
      const short = matterText(text, bytes);
      expect(Buffer.byteLength(short)).toBeLessThanOrEqual(bytes);
      expect(text).toContain(short);
    }),
  );
  expect(matterText("Köksminern i källaren bredvid pannan")).toBe("Köksminern i källaren bredvid");
});

test.each([
  [milliwatts(3499.9996), 3_500_000],
  [milliwattHours(12), 12_000],
  [centidegrees(21.5), 2150],
  [centidegrees(-40), -4000],
  [centidegrees(400), null],
  [centidegrees(-273.15), -27_315],
  [centidegrees(-300), null],
  [milliwatts(1e20), null],
  [milliwatts(null), null],
])("figure %#: %j is %j", (figure, expected) => {
  expect(figure).toBe(expected);
});

test.each([
  ["rig.busy", "Busy"],
  ["rig.timeout", "Timeout"],
  ["input.invalid", "ConstraintError"],
  ["control.absent", "InvalidInState"],
  ["user.forbidden", "PermissionDenied"],
  ["not.found", "NotFound"],
  ["rig.refused", "Failure"],
] as const)("%s is reported as %s", (code, name) => {
  const error = failureOf(new RigbridgeError(code, "The rig refused"));
  expect(error).toEqual({ status: name, message: "The rig refused" });
});
