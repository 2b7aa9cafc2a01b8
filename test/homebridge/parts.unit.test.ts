import { describe, expect, test } from "@jest/globals";
import { planAccessories } from "../../homebridge/src/homekit/accessories.ts";
import { isAlarming } from "../../homebridge/src/homekit/alarm.ts";
import type { CharacteristicPlan, ServicePlan } from "../../homebridge/src/homekit/plan.ts";
import type { Miner } from "../../src/index.ts";
import { control, farmOf, miner, notAsked, off, readings, settings } from "./miners.ts";

const unlisted = () => undefined;
const accessoriesOf = (miners: readonly Miner[], given: object = {}) =>
  planAccessories(farmOf(miners), settings({ alarm: false, eve: false, ...given }), unlisted).accessories;

/** The services of the accessory of one rig that are of a type. */
const services = (rig: Miner, type: string, given: object = {}): readonly ServicePlan[] =>
  (accessoriesOf([rig], given)[0]?.services ?? []).filter((each) => each.type === type);

const characteristic = (service: ServicePlan | undefined, type: string): CharacteristicPlan | undefined =>
  service?.characteristics.find((each) => (typeof each.type === "string" ? each.type : each.type.name) === type);

const values = (service: ServicePlan | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (service?.characteristics ?? []).map(({ type, value }) => [typeof type === "string" ? type : type.name, value]),
  );

const set = (property: string, value: string) => ({ miners: [1], intents: [{ kind: "set", property, value }] });
const nothing = { miners: [1], intents: [] };

const stopped: Partial<Miner> = {
  statusInfo: { statusDisplay: "Stopped", statusLine3: "", secondsSinceStart: 0 },
  readings: readings({ hashrate: 0, mining: false }),
  controls: [control("mining", { kind: "switch", value: false })],
};
const den = { name: "Den", target: 21, room: 20.4, at: "2026-01-01T00:00:00.000Z", demand: 0.6, held: false };

describe("a heater", () => {
  const heater = { defaults: { as: "heater" } };
  const shown = (changes: Partial<Miner>) =>
    values(services(miner({ heating: den, ...changes }), "HeaterCooler", heater)[0]);
  const heats = { TargetHeaterCoolerState: 1, CurrentTemperature: 20.4, HeatingThresholdTemperature: 21 };

  test.each([
    ["mines", {}, { ...heats, Active: 1, CurrentHeaterCoolerState: 2 }],
    ["is stopped, since its room is warm", stopped, { ...heats, Active: 1, CurrentHeaterCoolerState: 1 }],
    [
      "a person has stopped",
      { ...stopped, heating: { ...den, held: true } },
      { ...heats, Active: 0, CurrentHeaterCoolerState: 0 },
    ],
    [
      "a person has started, and does not hash yet",
      { readings: readings({ mining: true }), heating: { ...den, held: true } },
      { ...heats, Active: 1, CurrentHeaterCoolerState: 1 },
    ],
    [
      "has a room whose temperature is unknown",
      { heating: { ...den, room: null } },
      { ...heats, Active: 1, CurrentHeaterCoolerState: 2, CurrentTemperature: null },
    ],
    ["is off", off({ heating: den }), { ...heats, Active: null, CurrentHeaterCoolerState: null }],
  ])("that %s", (_, changes, expected) => {
    expect(shown(changes)).toEqual(expected);
  });

  test("stops when switched off, and is regulated by its room again when switched on", () => {
    const [service] = services(miner({ heating: den }), "HeaterCooler", heater);
    const active = characteristic(service, "Active");
    expect([active?.requestFor?.(0), active?.requestFor?.(1)]).toEqual([
      set("mining", "false"),
      set("room_target", "21"),
    ]);
  });

  test("accepts its room's target in steps of half a degree, and only heats", () => {
    const [service] = services(miner({ heating: den }), "HeaterCooler", heater);
    const threshold = characteristic(service, "HeatingThresholdTemperature");
    expect(threshold?.props).toEqual({ minValue: 5, maxValue: 35, minStep: 0.5 });
    expect(threshold?.requestFor?.(22.5)).toEqual(set("room_target", "22.5"));
    expect(characteristic(service, "TargetHeaterCoolerState")).toMatchObject({ props: { validValues: [1] } });
    expect(characteristic(service, "TargetHeaterCoolerState")?.requestFor?.(1)).toEqual(nothing);
  });

  test("without a room is an outlet, and a note says why", () => {
    expect(services(miner(), "HeaterCooler", heater)).toEqual([]);
    expect(services(miner(), "Outlet", heater)).toHaveLength(1);
    const { notes } = planAccessories(farmOf([miner()]), settings(heater), unlisted);
    expect(notes).toEqual(["Rig 1 is not shown as a heater: it heats no room of the service"]);
  });
});

describe("temperature sensors", () => {
  const all = { defaults: { sensors: ["temperature", "temperature_in", "room_temperature"] } };
  const hot = miner({ readings: readings({ hashrate: 1, temperature: 112.5 }), heating: den });
  const shown = (rig: Miner) => services(rig, "TemperatureSensor", all).map((each) => [each.name, values(each)]);

  test("exist only if the settings ask for them", () => {
    expect(services(hot, "TemperatureSensor")).toEqual([]);
  });

  test("show what the rig reports, beyond HAP's own range, and are inactive if it reports nothing", () => {
    const fine = { StatusFault: 0 };
    expect(shown(hot)).toEqual([
      ["Rig 1 temperature", { CurrentTemperature: 112.5, StatusActive: true, ...fine }],
      ["Rig 1 temperature in", { CurrentTemperature: null, StatusActive: false, ...fine }],
      ["Rig 1 room temperature", { CurrentTemperature: 20.4, StatusActive: true, ...fine }],
    ]);
    expect(characteristic(services(hot, "TemperatureSensor", all)[0], "CurrentTemperature")?.props?.maxValue).toBe(200);
    expect(planAccessories(farmOf([hot]), settings(all), unlisted).notes).toEqual([
      "Rig 1 does not report its temperature in",
    ]);
  });

  test("of an offline rig stay without an old value; its room still has one", () => {
    expect(shown(off({ heating: den })).map(([, each]) => each)).toMatchObject([
      { CurrentTemperature: null, StatusActive: false },
      { CurrentTemperature: null, StatusActive: false },
      { CurrentTemperature: 20.4, StatusActive: true },
    ]);
  });

  test("show a fault while the rig has a problem", () => {
    const sick = { ...hot, readings: { ...hot.readings, errors: [{ code: "1", text: "fan lost" }] } };
    expect(shown(sick).map(([, each]) => each)).toMatchObject([
      { StatusFault: 1 },
      { StatusFault: 1 },
      { StatusFault: 1 },
    ]);
  });

  test("show no impossible temperature", () => {
    const absurd = miner({ readings: readings({ hashrate: 1, temperature: 6000 }) });
    expect(shown(absurd)[0]?.[1]).toMatchObject({ CurrentTemperature: null, StatusActive: false });
  });
});

describe("a fan", () => {
  const offered = { unit: "%", min: 0, max: 100, step: 1, options: ["auto"] } as const;
  const turning = { hashrate: 1, mining: true, fans: [{ rpm: 3000, percent: 47 }] };
  const fan = (value: string | number | null, changes: object = {}, read: object = {}) =>
    miner({
      readings: readings({ ...turning, ...read }),
      controls: [control("fan", { ...offered, options: [...offered.options], value, ...changes })],
    });
  const only = (rig: Miner, given: object = {}) =>
    services(rig, "Fanv2", given).find(({ subtype }) => subtype === "fan");

  test.each([
    ["is automatic", fan("auto"), { Active: 1, TargetFanState: 1, RotationSpeed: 47 }],
    ["is held at a speed", fan(60), { Active: 1, TargetFanState: 0, RotationSpeed: 60 }],
    ["does not report whether it is automatic", fan(null), { Active: 1, RotationSpeed: 47 }],
    [
      "does not report its speed",
      fan("auto", {}, { fans: [{ rpm: 3000, percent: null }] }),
      { Active: 1, TargetFanState: 1 },
    ],
    [
      "stands still",
      fan("auto", {}, { fans: [{ rpm: 0, percent: 0 }] }),
      { Active: 0, TargetFanState: 1, RotationSpeed: 0 },
    ],
    [
      "has no power",
      fan(null, {}, { hashrate: null, mining: false, fans: [{ rpm: null, percent: null }] }),
      { Active: 0, TargetFanState: 1, RotationSpeed: 0 },
    ],
    ["cannot be automatic", fan(60, { options: null }), { Active: 1, RotationSpeed: 60 }],
  ])("that %s", (_, rig, expected) => {
    expect(values(only(rig))).toEqual(expected);
  });

  test("of an offline rig is unknown", () => {
    const { controls } = fan(null);
    expect(values(only(off({ controls })))).toEqual({ Active: null, TargetFanState: null, RotationSpeed: null });
  });

  test("cannot be switched on or off, so that no scene overheats a rig", () => {
    const active = characteristic(only(fan(60)), "Active");
    expect([active?.requestFor?.(0), active?.requestFor?.(1)]).toEqual([nothing, nothing]);
    expect(active?.springsBack).toBe(true);
  });

  test.each([
    [40, fan("auto"), "40"],
    [0, fan(60), "auto"],
    [10, fan(60, { min: 25 }), "25"],
    [58, fan(60, { step: 5 }), "60"],
    [0, fan(60, { options: null, min: 20 }), "20"],
  ])("set to %d %% gets the nearest accepted speed, and 0 makes it automatic", (value, rig, expected) => {
    expect(characteristic(only(rig), "RotationSpeed")?.requestFor?.(value)).toEqual(set("fan", expected));
  });

  test.each([
    [1, fan(60), "auto"],
    [0, fan("auto"), "47"],
    [0, fan("auto", {}, { fans: [] }), "100"],
  ])("set to automatic (1) or manual (0): %d", (value, rig, expected) => {
    expect(characteristic(only(rig), "TargetFanState")?.requestFor?.(value)).toEqual(set("fan", expected));
  });

  test("does not exist if it cannot be set, or is off in the settings", () => {
    expect(only(miner())).toBeUndefined();
    expect(only(fan(60), { defaults: { fan: false } })).toBeUndefined();
  });
});

describe("a power slider", () => {
  const rungs = [
    { watts: 0, label: "off" },
    { watts: 400, label: "eco" },
    { watts: 800, label: "standard" },
    { watts: 1000, label: "super" },
  ];
  const choice = (value: number | null, options = rungs) =>
    miner({ controls: [control("power_target", { kind: "choice", unit: "W", min: 0, max: 1000, options, value })] });
  const range = (value: number | null, changes: object = {}) =>
    miner({ controls: [control("power_target", { unit: "W", min: 0, max: 2000, step: 1, value, ...changes })] });
  const only = (rig: Miner, given: object = {}) =>
    services(rig, "Fanv2", given).find(({ subtype }) => subtype === "power");

  test.each([
    ["has modes", choice(400), { Active: 1, RotationSpeed: 40 }],
    ["has a range", range(1500), { Active: 1, RotationSpeed: 75 }],
    ["does not report its setting", range(null), { Active: 1, RotationSpeed: null }],
    ["is offline", off({ controls: range(null).controls }), { Active: null, RotationSpeed: null }],
  ])("of a rig that %s", (_, rig, expected) => {
    expect(values(only(rig))).toEqual(expected);
  });

  test.each([
    [65, choice(400), "800"],
    [9, choice(400), "0"],
    [50, range(1500), "1000"],
    [0, range(1500), "0"],
    [10, range(1500, { min: 600 }), "600"],
  ])("set to %d %% sets the nearest power that the rig can have", (value, rig, expected) => {
    expect(characteristic(only(rig), "RotationSpeed")?.requestFor?.(value)).toEqual(set("power_target", expected));
  });

  test("cannot be switched on or off, so that no scene stops a rig", () => {
    const active = characteristic(only(choice(400)), "Active");
    expect([active?.requestFor?.(0), active?.requestFor?.(1)]).toEqual([nothing, nothing]);
    expect(active?.springsBack).toBe(true);
  });

  test("does not exist for a rig that is only on or off, one that heats a room, or if the settings say so", () => {
    expect(only(choice(400, rungs.slice(0, 2)))).toBeUndefined();
    expect(only(miner())).toBeUndefined();
    const heating = { name: "Den", target: 21, room: 20, at: null, demand: 0.5, held: true };
    expect(only({ ...range(1500), heating })).toBeUndefined();
    expect(only(range(1500), { defaults: { power: false } })).toBeUndefined();
  });
});

describe("an alarm", () => {
  const status = (statusDisplay: Miner["statusInfo"]["statusDisplay"]) => ({
    statusInfo: { statusDisplay, statusLine3: null, secondsSinceStart: 0 },
  });
  const sick = miner({ readings: readings({ hashrate: 1, errors: [{ code: "1", text: "fan lost" }] }) });
  const unread = notAsked();
  const missed = off({ readings: { ...readings(), stale: true } });

  test.each([
    ["mines", miner(), false, false],
    ["was stopped", miner(stopped), false, false],
    [
      "has its power cut, and says so",
      miner({ ...stopped, readings: readings({ mining: false, notes: ["cut"] }) }),
      false,
      false,
    ],
    ["idles", miner({ ...status("Idle"), readings: readings({ hashrate: 0, mining: true }) }), false, false],
    ["is disabled", off(status("Disabled")), false, false],
    ["has missed one read", miner({ readings: { ...readings({ hashrate: 1 }), stale: true } }), false, false],
    ["reports a problem", sick, false, true],
    ["reports a problem, and may be off", sick, true, true],
    ["is not the expected rig", off({ ...status("Error"), isOffline: false }), false, true],
    ["is off", missed, false, true],
    ["is off, and may be", missed, true, false],
    ["restarts", off({ ...status("Starting"), isOffline: false, readings: readings({ stale: true }) }), false, false],
    ["was not read yet", unread, false, null],
    ["was not read yet, and may be off", unread, true, false],
    ["heats a room", miner({ heating: den }), false, false],
    ["heats a room that was not measured yet", miner({ heating: { ...den, room: null, demand: null } }), false, false],
    ["heats a room whose temperature is lost", miner({ heating: { ...den, room: null, demand: 0 } }), false, true],
  ])("of a rig that %s", (_, rig, offlineExpected, expected) => {
    expect(isAlarming({ miner: rig, offlineExpected })).toBe(expected);
  });

  const farm = (rigs: readonly Miner[], given: object = {}) =>
    values(accessoriesOf(rigs, { alarm: true, ...given }).find(({ key }) => key === "alarm")?.services[0]);

  test("of all rigs is open while one rig raises it, and unknown while one was not read yet", () => {
    expect(farm([miner(), miner({ id: 2 })])).toEqual({ ContactSensorState: 0 });
    expect(farm([miner(), { ...sick, id: 2 }])).toEqual({ ContactSensorState: 1 });
    expect(farm([unread, { ...sick, id: 2 }])).toEqual({ ContactSensorState: 1 });
    expect(farm([unread, miner({ id: 2 })])).toEqual({ ContactSensorState: null });
  });

  test("of all rigs ignores hidden rigs", () => {
    const hidden = () => settings({ rigs: [{ address: "a", as: "hidden" }] }).rigs[0];
    const { accessories } = planAccessories(farmOf([sick]), settings(), hidden);
    expect(accessories).toEqual([]);
  });

  test("of a single rig exists if the settings ask for it", () => {
    expect(services(sick, "ContactSensor")).toEqual([]);
    const [own] = services(sick, "ContactSensor", { defaults: { alarm: true } });
    expect([own?.name, values(own)]).toEqual(["Rig 1 alarm", { ContactSensorState: 1 }]);
  });
});

describe("momentary switches", () => {
  const able = miner({ controls: [control("restart", { kind: "trigger" }), control("reboot", { kind: "trigger" })] });
  const both = { defaults: { switches: ["restart", "reboot"] } };

  test("of a rig exist if the settings ask for them and the rig has them", () => {
    expect(services(able, "Switch")).toEqual([]);
    expect(services(able, "Switch", both).map(({ name }) => name)).toEqual(["Rig 1 restart mining", "Rig 1 reboot"]);
    expect(services(miner(), "Switch", both)).toEqual([]);
  });

  test("command the rig when switched on, do nothing when switched off, and spring back", () => {
    const on = characteristic(services(able, "Switch", both)[1], "On");
    expect(on).toMatchObject({ value: false, springsBack: true });
    expect([on?.requestFor?.(true), on?.requestFor?.(false)]).toEqual([set("reboot", "true"), nothing]);
    const unknown = services(off({ controls: able.controls }), "Switch", both)[0];
    expect(values(unknown)).toEqual({ On: null });
  });

  test("run the manual rules of the settings on every rig, or elsewhere through one that answers", () => {
    const farm = { ...farmOf([off(), miner({ id: 2 })]), rules: [{ id: 4, name: "Restart all" }] };
    const ofOther = { ...farm, rulesRunOnEach: false };
    const wanted = settings({ alarm: false, eve: false, rules: ["Restart all", "Nap"] });
    const { accessories, notes } = planAccessories(farm, wanted, unlisted);
    const rule = accessories.find(({ key }) => key === "rule:4");
    expect(rule?.name).toBe("Restart all");
    const intents = [{ kind: "action", action: { action: "rule", rule_id: 4 } }];
    expect(characteristic(rule?.services[0], "On")?.requestFor?.(true)).toEqual({ miners: [1, 2], intents });
    const through = planAccessories(ofOther, wanted, unlisted).accessories.find(({ key }) => key === "rule:4");
    expect(characteristic(through?.services[0], "On")?.requestFor?.(true)).toEqual({ miners: [2], intents });
    expect(notes).toEqual(['The service has no manual rule "Nap"']);
    expect(accessoriesOf([miner()]).map(({ key }) => key)).toEqual(["rig:025100000001"]);
  });
});

describe("what Eve shows", () => {
  const drawing = (id: number, power: number | null, energy: number | null) =>
    miner({ id, groupId: 1, readings: { ...readings({ hashrate: 1, power }), energy } });
  const eve = (miners: readonly Miner[], key: string, given: object = {}) => {
    const groupList = [{ id: 1, name: "Hall", energy: 2500 }];
    const energies = { energy: 9000, groupList };
    const farm = { ...farmOf(miners, [{ id: 1, name: "Hall", parentId: 0 }]), energies };
    const { accessories } = planAccessories(farm, settings({ alarm: false, ...given }), unlisted);
    const own = accessories.find((each) => each.key === key)?.services.filter(({ type }) => typeof type !== "string");
    return own?.map(values);
  };
  const rig = "rig:025100000001";

  test("is watts and kWh of a rig; of an offline rig only the counted energy", () => {
    expect(eve([drawing(1, 17.5, 1250)], rig)).toEqual([{ Consumption: 17.5, "Total Consumption": 1.25 }]);
    const away = off({ readings: { ...readings(), energy: 1250 } });
    expect(eve([drawing(1, 17.123456, 0)], rig)).toEqual([{ Consumption: 17.123, "Total Consumption": 0 }]);
    expect(eve([away], rig)).toEqual([{ Consumption: null, "Total Consumption": 1.25 }]);
    expect(eve([drawing(1, null, null)], rig)).toEqual([{ Consumption: null, "Total Consumption": null }]);
  });

  test("is the power of a group's rigs, and the energy that the service has counted for the group", () => {
    const rigs = [drawing(1, 17.5, 1250), drawing(2, null, null), drawing(3, 20, 250)];
    expect(eve(rigs, "group:1")).toEqual([{ Consumption: 37.5, "Total Consumption": 2.5 }]);
    expect(eve(rigs, "rigs", { groups: { all: true } })).toEqual([{ Consumption: 37.5, "Total Consumption": 9 }]);
    const some = { groups: { all: true, only: ["Hall"] } };
    expect(eve(rigs, "rigs", some)).toEqual([{ Consumption: 37.5, "Total Consumption": 2.5 }]);
  });

  test("may be left out, and is never an accessory's only service", () => {
    expect(eve([drawing(1, 17.5, 1250)], rig, { eve: false })).toEqual([]);
    const unable = { ...drawing(1, 17.5, 1250), controls: [] };
    expect(eve([unable], rig)).toBeUndefined();
    expect(eve([unable], rig, { defaults: { sensors: ["temperature"] } })).toHaveLength(1);
  });
});
