import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Control, unknownReadings } from "../../../src/contract/readings.ts";
import type { Component, DeviceConfig } from "../../../src/mqtt/home-assistant/component.ts";
import { type DeviceContext, deviceConfig } from "../../../src/mqtt/home-assistant/device.ts";
import { noPrevious, type PreviousComponents } from "../../../src/mqtt/home-assistant/entities.ts";
import { rangeOf } from "../../../src/mqtt/home-assistant/retained-discovery.ts";
import { type MinerWithUid, minerState } from "../../../src/mqtt/miner-state.ts";
import { specimens } from "../../docs/specimens.ts";
import { checkDevice, checkState } from "../home-assistant-checker.ts";
import { alone, context, displayOf, type Families, openFamilies } from "./families.ts";

let families: Families;
beforeAll(async () => {
  families = await openFamilies();
});
afterAll(async () => {
  await families.close();
});

const minerOf = (rigs: string): MinerWithUid => {
  const miner = families.miners.find(({ name }) => name === rigs);
  if (miner === undefined) throw new Error(`${rigs} was not read`);
  return miner;
};

const configOf = (miner: MinerWithUid, before = noPrevious, with_: Partial<DeviceContext> = {}): DeviceConfig =>
  deviceConfig(miner, displayOf(miner), alone, before, { ...context, ...with_ });

const beforeOf = ({ components }: DeviceConfig): PreviousComponents => {
  const optionsOf = (id: string): readonly unknown[] => [components[id]?.options ?? []].flat();
  return {
    has: (id) => components[id]?.unique_id !== undefined,
    options: (id) => optionsOf(id).filter((each) => typeof each === "string"),
    range: (id) => rangeOf(components[id]),
  };
};

/** The miner as it is published while it cannot be reached: its shape and controls stay. */
const off = (miner: MinerWithUid): MinerWithUid => ({
  ...miner,
  pool: "",
  poolList: [],
  hasValidStatus: false,
  canPoolSwitch: false,
  isRunning: false,
  isOffline: true,
  statusInfo: { ...miner.statusInfo, statusDisplay: "Disconnected" },
  readings: {
    ...miner.readings,
    ...unknownReadings(),
    efficiency: null,
    startedAt: null,
    stale: true,
    boards: miner.readings.boards.map((board) => ({
      ...board,
      hashrate: null,
      temperature: null,
      chipTemperature: null,
    })),
    fans: miner.readings.fans.map(() => ({ rpm: null, percent: null })),
  },
  money: {
    revenuePerDay: null,
    costPerDay: null,
    profitPerDay: null,
    currency: null,
    electricityPrice: null,
    breakEvenPrice: null,
    energyCost: null,
  },
  controls: miner.controls.map((control) => ({ ...control, value: null })),
});

const withoutEntityIds = (config: DeviceConfig): DeviceConfig => ({
  ...config,
  components: Object.fromEntries(
    Object.entries(config.components).map(([id, { default_entity_id: _, ...component }]) => [id, component]),
  ),
});

const topicOf = ({ device }: DeviceConfig): string => `homeassistant/device/${device.identifiers[0]}/config`;

const commandsOf = ({ components }: DeviceConfig): [string, Component][] =>
  Object.entries(components).filter(([, { command_topic: topic }]) => topic !== undefined);

const labelsOf = ({ options }: Control): string[] =>
  (options ?? []).map((option) => (typeof option === "string" ? option : option.label));

/** A rig that can be held to one power alone leaves nothing to choose, and off and on are its switch. */
const isChoosable = (control: Control): boolean =>
  (control.min === null || control.min !== control.max) &&
  (control.kind !== "choice" || labelsOf(control).filter((label) => label !== "off").length > 1);

/** The command topic of a control, and for a trigger its payload. */
const wayOf = ({ uid }: MinerWithUid, { key, kind }: Control): string =>
  kind === "trigger" && key !== "locate" ? `rigbridge/miner/${uid}/action ${key}` : `rigbridge/miner/${uid}/${key}/set`;

const wayOfComponent = ({
  platform,
  command_topic: topic,
  payload_press: word,
  device_class: of,
}: Component): string => (platform === "button" && of === "restart" ? `${topic} ${word}` : `${topic}`);

describe.each(specimens.map(({ rigs }, index) => ({ rigs, name: `Rig ${index + 1}` })))("$rigs", ({ name }) => {
  test.each(["usual", "all"])("is announced in a valid message, detail %s", (detail) => {
    const miner = minerOf(name);
    const config = configOf(miner, noPrevious, { detail: detail === "all" });
    expect(checkDevice(topicOf(config), JSON.stringify(config))).toEqual([]);
    expect(checkState(JSON.stringify(config), JSON.stringify(minerState(miner, displayOf(miner))))).toEqual([]);
  });

  test("keeps its entities while it is off, and its state fits them", () => {
    const miner = minerOf(name);
    const config = configOf(miner);
    const display = displayOf(miner);
    const now = deviceConfig(off(miner), display, alone, beforeOf(config), context);
    expect(Object.keys(now.components)).toEqual(Object.keys(config.components));
    expect(now).toEqual(config);
    expect(checkState(JSON.stringify(now), JSON.stringify(minerState(off(miner), display)))).toEqual([]);
  });

  test("has an entity for each of its controls, and none for missing ones", () => {
    const miner = minerOf(name);
    const told = commandsOf(configOf(miner)).map(([, component]) => wayOfComponent(component));
    const own = miner.controls.filter(isChoosable);
    const ways = own.map((control) => wayOf(miner, control));
    expect(told).toEqual(expect.arrayContaining(ways));
    const others = told.filter((way) => !ways.includes(way) && !way.endsWith("/pool/set"));
    expect(others).toEqual([]);
    expect(told.some((way) => way.endsWith("/pool/set"))).toBe(
      miner.canPoolSwitch || miner.poolList.some(({ canPrioritize }) => canPrioritize),
    );
  });

  test("has numbers with its own ranges and modes with its own names", () => {
    const miner = minerOf(name);
    const { components } = configOf(miner);
    for (const control of miner.controls.filter(isChoosable)) {
      const component =
        components[control.key === "power_target" && control.kind === "choice" ? "power_target_choice" : control.key];
      if (control.kind === "range") {
        expect(component).toMatchObject({
          platform: "number",
          min: control.min,
          max: control.max,
          step: control.step ?? 1,
        });
        expect(component?.unit_of_measurement).toBe(control.unit ?? undefined);
      } else if (control.kind === "choice") {
        expect(component).toMatchObject({ platform: "select", options: labelsOf(control) });
      }
    }
  });

  test("has entities with an icon, their own or that of their class", () => {
    const plain = Object.entries(configOf(minerOf(name)).components).filter(
      ([, { icon, device_class: of }]) => icon === undefined && (of === undefined || of === "enum"),
    );
    expect(plain).toEqual([]);
  });

  test("has readings that expire, and commands that are not retained", () => {
    const { components } = configOf(minerOf(name));
    for (const [id, { platform, expire_after: expires, ...options }] of Object.entries(components)) {
      const ages = (platform === "sensor" || platform === "binary_sensor") && id !== "connectivity";
      expect([id, expires]).toEqual([id, ages ? 180 : undefined]);
      if (options.command_topic === undefined) continue;
      expect([id, options.qos, options.retain, options.message_expiry_interval]).toEqual([id, 1, false, 60]);
    }
  });

  test("a new name changes only the device's name and the ids of new entities", () => {
    const miner = minerOf(name);
    const config = configOf(miner);
    const renamed = configOf({ ...miner, name: "Größe #1/+ 🔥" });
    expect(renamed.device.name).toBe("Größe #1/+ 🔥");
    const idsIn = ({ components }: DeviceConfig) =>
      Object.values(components).map(({ default_entity_id: id }) => String(id));
    const slug = name.toLowerCase().replace(" ", "_");
    expect(idsIn(renamed)).toEqual(idsIn(config).map((id) => id.replace(slug, "grosse_1")));
    expect(new Set(idsIn(config)).size).toBe(idsIn(config).length);
    expect(withoutEntityIds({ ...renamed, device: { ...renamed.device, name } })).toEqual(withoutEntityIds(config));
    expect(checkDevice(topicOf(renamed), JSON.stringify(renamed))).toEqual([]);
  });
});

test("entities with a device class have the units and state classes that Home Assistant requires", () => {
  const { components } = configOf(minerOf("Rig 4"));
  const said = ["platform", "device_class", "unit_of_measurement", "state_class", "entity_category"];
  const classes = (id: string) => said.map((key) => components[id]?.[key] ?? "-");
  expect(classes("hashrate")).toEqual(["sensor", "-", "TH/s", "measurement", "-"]);
  expect(classes("hashrate_average")).toEqual(["sensor", "-", "TH/s", "measurement", "diagnostic"]);
  expect(classes("hashrate_expected")).toEqual(["sensor", "-", "TH/s", "measurement", "diagnostic"]);
  expect(classes("power")).toEqual(["sensor", "power", "W", "measurement", "-"]);
  expect(classes("energy")).toEqual(["sensor", "energy", "kWh", "total_increasing", "-"]);
  expect(classes("efficiency")).toEqual(["sensor", "-", "J/TH", "measurement", "diagnostic"]);
  expect(classes("temperature")).toEqual(["sensor", "temperature", "°C", "measurement", "diagnostic"]);
  expect(classes("started_at")).toEqual(["sensor", "timestamp", "-", "-", "diagnostic"]);
  expect(classes("fan_0_rpm")).toEqual(["sensor", "-", "rpm", "measurement", "diagnostic"]);
  expect(classes("shares_accepted")).toEqual(["sensor", "-", "-", "total_increasing", "diagnostic"]);
  expect(classes("status")).toEqual(["sensor", "enum", "-", "-", "-"]);
  expect(classes("problem")).toEqual(["binary_sensor", "problem", "-", "-", "diagnostic"]);
  expect(classes("connectivity")).toEqual(["binary_sensor", "connectivity", "-", "-", "diagnostic"]);
  expect(classes("mining")).toEqual(["switch", "switch", "-", "-", "-"]);
  expect(classes("power_limit")).toEqual(["number", "power", "W", "-", "config"]);
  expect(classes("reboot")).toEqual(["button", "restart", "-", "-", "config"]);
  expect(classes("restart")).toEqual(["button", "restart", "-", "-", "config"]);
  expect(classes("mode")).toEqual(["select", "-", "-", "-", "config"]);
  expect(components.mining?.name).toBeNull();
  expect(components.status?.options).toEqual("mining idle stopped starting disconnected disabled error".split(" "));
});

test("only entities of boards, fans and shares are disabled by default", () => {
  const off_ = /^(board_\d+(_.*)?|fan_\d+_.*|shares_.*|hardware_errors)$/;
  const disabledIn = (detail: boolean) =>
    Object.entries(configOf(minerOf("Rig 11"), noPrevious, { detail }).components).flatMap(([id, component]) =>
      component.enabled_by_default === false ? [id] : [],
    );
  const all = Object.keys(configOf(minerOf("Rig 11")).components);
  expect(disabledIn(false)).toEqual(all.filter((id) => off_.test(id)));
  expect(disabledIn(false).length).toBeGreaterThan(10);
  expect(disabledIn(true)).toEqual([]);
});

test.each([1, 2])("fans and boards are enabled by default where there are %i boards", (count) => {
  const miner = minerOf("Rig 11");
  const { boards } = miner.readings;
  const small = { ...miner, readings: { ...miner.readings, boards: boards.slice(0, count) } };
  const disabled = Object.entries(configOf(small).components).flatMap(([id, component]) =>
    component.enabled_by_default === false ? [id] : [],
  );
  expect(boards.length).toBeGreaterThan(2);
  expect(disabled.filter((id) => !/^(board_\d+|shares_.*|hardware_errors)$/.test(id))).toEqual([]);
});

test("efficiency in J/TH exists for SHA-256 only", () => {
  const miner = minerOf("Rig 4");
  const with_ = (algorithm: string) => ({ ...miner, readings: { ...miner.readings, algorithm } });
  expect(configOf(with_("sha256")).components.efficiency).toBeDefined();
  expect(configOf(with_("SHA-256")).components.efficiency).toBeDefined();
  expect(configOf(with_("scrypt")).components.efficiency).toBeUndefined();
  expect(configOf(with_("sha256csm")).components.efficiency).toBeUndefined();
});

test("money exists once it is known, per day and in the display currency", () => {
  const miner = minerOf("Rig 4");
  const rich = { ...miner, money: { ...miner.money, revenuePerDay: 5.2, profitPerDay: -0.3 } };
  expect(configOf(miner).components).not.toHaveProperty("revenue");
  const config = configOf(rich);
  for (const id of ["revenue", "profit"]) {
    expect(config.components[id]).toMatchObject({ unit_of_measurement: "SEK/d", state_class: "measurement" });
    expect(config.components[id]).not.toHaveProperty("device_class");
  }
  expect(checkDevice(topicOf(config), JSON.stringify(config))).toEqual([]);
  expect(configOf(miner, beforeOf(config)).components).toHaveProperty("profit");
  expect(configOf(rich, noPrevious, { currency: null }).components.revenue?.unit_of_measurement).toBe("money/d");
});

test("the hash rate has no entity before its unit is known, since a changed unit would break statistics", () => {
  const miner = minerOf("Rig 4");
  const ids = Object.keys(deviceConfig(miner, null, alone, noPrevious, context).components);
  expect(ids.filter((id) => id.includes("hashrate"))).toEqual([]);
});

test("only a miner that heats a room has a thermostat", () => {
  const miner = minerOf("Rig 1");
  expect(miner.heating?.name).toBe("Study");
  const config = configOf(miner);
  expect(config.components.thermostat).toMatchObject({
    platform: "climate",
    modes: ["off", "heat"],
    min_temp: 5,
    max_temp: 35,
    temp_step: 0.5,
    temperature_unit: "C",
    mode_command_topic: `rigbridge/miner/${miner.uid}/heating_mode/set`,
    temperature_command_topic: `rigbridge/miner/${miner.uid}/action`,
    temperature_command_template: '{"action": "set_target_temperature", "temperature": {{ value }}}',
  });
  expect(config.components.room_temperature).toBeDefined();
  const others = Object.keys(configOf(minerOf("Rig 2")).components);
  expect(others).not.toEqual(expect.arrayContaining(["thermostat"]));
  expect(others).not.toEqual(expect.arrayContaining(["room_temperature"]));
});

test("a room's mode is off while its rig is stopped by a user, not while the room is warm", () => {
  const miner = minerOf("Rig 1");
  const { heating } = miner;
  if (heating === null) throw new Error("it heats a room");
  const stateOf = (held: boolean, isRunning: boolean) => {
    const controls = miner.controls.map((control) =>
      control.key === "mining" ? { ...control, value: isRunning } : control,
    );
    const { heating_mode: mode, heating_action: action } = minerState(
      { ...miner, controls, isRunning, heating: { ...heating, held } },
      null,
    );
    return `${mode} ${action}`;
  };
  expect(stateOf(false, true)).toBe("heat heating");
  expect(stateOf(true, true)).toBe("heat heating");
  expect(stateOf(false, false)).toBe("heat idle");
  expect(stateOf(true, false)).toBe("off off");
});

test("a fan controlled by the rig has no number but the mode auto, and there is a button to return to that", () => {
  const miner = minerOf("Rig 15");
  const regulated = {
    ...miner,
    controls: miner.controls.map((control) => (control.key === "fan" ? { ...control, value: "auto" } : control)),
  };
  const config = configOf(regulated);
  expect(minerState(regulated, null)).toMatchObject({ fan: "auto", fan_number: null, fan_mode: "auto" });
  expect(config.components.fan_mode).toMatchObject({
    platform: "sensor",
    device_class: "enum",
    options: ["auto", "manual"],
    value_template: "{{ value_json.fan_mode }}",
  });
  const at60 = {
    ...miner,
    controls: miner.controls.map((control) => (control.key === "fan" ? { ...control, value: 60 } : control)),
  };
  expect(minerState(at60, null)).toMatchObject({ fan: 60, fan_number: 60, fan_mode: "manual" });
  expect(config.components.fan?.value_template).toBe("{{ value_json.fan_number }}");
  expect(config.components.fan_auto).toMatchObject({
    platform: "button",
    name: "Fan auto",
    payload_press: "auto",
    command_topic: `rigbridge/miner/${miner.uid}/fan/set`,
  });
});

test("pools are selected by unique names, and the one in use is among them", () => {
  const miner = minerOf("Rig 4");
  const [pool] = miner.poolList;
  if (pool === undefined) throw new Error("the rig has no pool");
  const at = (name: string, displayUrl: string, worker: string, priority: number) => ({
    ...pool,
    name,
    canPrioritize: true,
    additionalInfo: { displayUrl, worker },
    priorityInfo: { priority, quota: 1 },
  });
  const pooled = {
    ...miner,
    pool: "north.example.com",
    canPoolSwitch: false,
    poolList: [
      at("North", "north.example.com:3333", "a", 1),
      at("North", "north.example.com:3333", "b", 0),
      at("East", "east.example.com:1", "a", 2),
    ],
  };
  const config = configOf(pooled);
  expect(config.components.pool).toMatchObject({ platform: "select", options: ["North", "North (b)", "East"] });
  expect(minerState(pooled, null).pool_name).toBe("North (b)");
  expect(configOf({ ...pooled, canPoolSwitch: true }).components.pool).toMatchObject({
    options: ["North", "North (b)", "East", "South"],
  });
});

test("the pool selection stays while the pool definitions are unknown", () => {
  const miner = { ...minerOf("Rig 13"), canPoolSwitch: true };
  const config = configOf(miner);
  expect(config.components.pool?.options).toEqual(expect.arrayContaining(["North", "South"]));
  expect(configOf(miner, beforeOf(config), { pools: null }).components.pool).toEqual(config.components.pool);
});

test("a device has its MAC, the rig's web page, its room and its parent device", () => {
  const miner = { ...minerOf("Rig 4"), macAddress: "0251AB000003", hostDescription: "[fe80::1]:4028" };
  const identity = miner.identity;
  if (identity === null) throw new Error("it was read");
  const place = { via: "rigbridge_group_7", area: "Hall A" };
  const {
    device,
    origin,
    availability,
    availability_mode: mode,
  } = deviceConfig(miner, null, place, noPrevious, context);
  expect(device).toMatchObject({
    connections: [["mac", "02:51:ab:00:00:03"]],
    configuration_url: "http://[fe80::1]",
    via_device: "rigbridge_group_7",
    suggested_area: "Hall A",
  });
  expect(origin).toEqual({ name: "Rigbridge", sw_version: "1.2.3" });
  expect([mode, availability]).toEqual([
    "all",
    [{ topic: "rigbridge/bridge/state" }, { topic: `rigbridge/miner/${miner.uid}/availability` }],
  ]);
  expect(device).toMatchObject({
    manufacturer: identity.make,
    model: identity.model,
    sw_version: identity.firmware,
    serial_number: identity.serial,
  });
  const nothing = { macAddress: "", hostDescription: "%", hardware: "", softwareType: "", identity: null };
  const bare = configOf({ ...miner, ...nothing });
  expect(Object.keys(bare.device)).toEqual(["identifiers", "name"]);
});

test("a managed miner has no web page: its address is only the name of its host", () => {
  const miner = { ...minerOf("Rig 4"), hostDescription: "rig-3" };
  expect(configOf(miner).device.configuration_url).toBe("http://rig-3");
  expect(configOf({ ...miner, id: 1 }).device.configuration_url).toBeUndefined();
});

test.each([
  ["sgminer", "Card 0 hash rate", "Card 0"],
  ["cgminer and compatible software", "Board 0 hash rate", "Board 0"],
  ["ethminer and its forks", undefined, "Card 0"],
])("the parts of %s are named %s and %s", (rigs, hashrate, board) => {
  const miner = minerOf(`Rig ${specimens.findIndex((each) => each.rigs === rigs) + 1}`);
  const { components } = configOf(miner, noPrevious, { detail: true });
  expect([components.board_0_hashrate?.name, components.board_0?.name]).toEqual([hashrate, board]);
});

test("an id consists of the base and the uid, and nothing that a user may change", () => {
  const miner = { ...minerOf("Rig 4"), uid: "serial-42" };
  const config = configOf(miner, noPrevious, { base: "site/one" });
  expect(config.device.identifiers).toEqual(["site_one_miner_serial-42"]);
  const ids = Object.entries(config.components).map(([id, component]) => [id, component.unique_id]);
  expect(ids).toEqual(ids.map(([id]) => [id, `site_one_miner_serial-42_${id}`]));
});

test.each([
  ["192.168.1.20:80", "http://192.168.1.20"],
  ["192.168.1.20:8080", "http://192.168.1.20:8080"],
  ["miner.local:443", "https://miner.local"],
  // These are APIs of miners, not their web pages.
  ["192.168.1.20:4028", "http://192.168.1.20"],
  ["[fd00::2]:4433", "http://[fd00::2]"],
  ["[fd00::2]:8080", "http://[fd00::2]:8080"],
])("the web page of a rig at %s is %s", (hostDescription, page) => {
  expect(configOf({ ...minerOf("Rig 4"), hostDescription }).device.configuration_url).toBe(page);
});
