import { describe, expect, test } from "@jest/globals";
import { parts as homeKit } from "../../homebridge/src/homekit/accessories.ts";
import { parts as matter } from "../../homebridge/src/matter/devices.ts";
import { visibleFarm } from "../../homebridge/src/visible-farm.ts";
import { type Control, type Miner, type PropertyKey, propertyKeys } from "../../src/index.ts";
import { control, farmOf, miner, readings, settings } from "./miners.ts";

const fans = [{ rpm: 3000, percent: 47 }];
const read = { hashrate: 1, mining: true, power: 15, temperature: 60, temperatureIn: 20, temperatureOut: 30, fans };
const room = { name: "Den", target: 21, room: 20, at: null, demand: 0.5, held: true };
const auto = { unit: "%", min: 0, max: 100, options: ["auto"] } as const;
const controls = (mining: boolean, fan: Control["value"], ...triggers: readonly Control["key"][]): Control[] => [
  control("mining", { kind: "switch", value: mining }),
  control("fan", { ...auto, options: [...auto.options], value: fan }),
  ...triggers.map((key) => control(key, { kind: "trigger" })),
];
const base: Partial<Miner> = {
  readings: readings({ ...read, energy: 1000 }),
  controls: controls(true, "auto", "restart", "reboot"),
  heating: room,
};
const reading = (changes: object): Partial<Miner> => ({ readings: readings({ ...read, energy: 1000, ...changes }) });

/** For each mapped property a rig that differs from `base` in that property. */
const changed: Partial<Record<PropertyKey, Partial<Miner>>> = {
  status: { isOffline: true },
  mining: { controls: controls(false, "auto", "restart", "reboot") },
  hashrate: reading({ hashrate: 0 }),
  power: reading({ power: 16 }),
  energy: reading({ energy: 2000 }),
  power_target: { heating: null, controls: [control("power_target", { unit: "W", min: 0, max: 900, value: 450 })] },
  fan: { controls: controls(true, 60, "restart", "reboot") },
  temperature: reading({ temperature: 61 }),
  temperature_in: reading({ temperatureIn: 21 }),
  temperature_out: reading({ temperatureOut: 31 }),
  room_temperature: { heating: { ...room, room: 19 } },
  room_target: { heating: { ...room, target: 22 } },
  problem: reading({ errors: [{ code: "1", text: "fan lost" }] }),
  restart: { controls: controls(true, "auto", "reboot") },
  reboot: { controls: controls(true, "auto", "restart") },
  fan_rpm: reading({ fans: [{ rpm: 0, percent: 47 }] }),
  fan_percent: reading({ fans: [{ rpm: 3000, percent: 48 }] }),
};

const everything = {
  alarm: true,
  sensors: ["temperature", "temperature_in", "temperature_out", "room_temperature"],
  switches: ["restart", "reboot"],
};

describe.each(["outlet", "heater"])("%s", (as) => {
  const rig = (changes: Partial<Miner>) => {
    const given = settings({ defaults: { ...everything, as } });
    const [only] = visibleFarm(farmOf([miner({ ...base, ...changes })]), given, () => undefined).rigs;
    if (only === undefined) throw new Error("the rig is not visible");
    return only;
  };
  for (const [name, parts] of Object.entries({ HomeKit: homeKit, Matter: matter })) {
    const keys = propertyKeys.filter((key) => parts[key] !== null && (as === "heater" || key !== "room_target"));
    test.each(keys)(`${name} shows a change of %s, by its own part`, (key) => {
      const [before, after] = [{}, changed[key] ?? {}].map((changes) => parts[key]?.(rig(changes), key));
      expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
    });
  }
});
