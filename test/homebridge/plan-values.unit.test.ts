import { Characteristic } from "@homebridge/hap-nodejs";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { planAccessories } from "../../homebridge/src/homekit/accessories.ts";
import type { CharacteristicPlan } from "../../homebridge/src/homekit/plan.ts";
import { type Miner, minerStatuses } from "../../src/index.ts";
import { control, farmOf, miner, readings, settings } from "./miners.ts";

/** Including values that no rig should report. */
const figure = fc.oneof(fc.double(), fc.integer({ min: -500, max: 500 }), fc.constant(null));
const text = fc.string({ unit: "binary", maxLength: 80 });
const fan = fc
  .record({
    value: fc.oneof(figure, fc.constant("auto")),
    min: fc.constantFrom(null, 0, 20.5),
    max: fc.constantFrom(null, 80, 100),
    step: fc.constantFrom(null, 0, 1, 5),
    auto: fc.boolean(),
  })
  .map(({ auto, ...range }) => control("fan", { ...range, options: auto ? ["auto"] : null }));
const power = fc
  .record({ value: figure, min: fc.constantFrom(null, 0, 400), max: fc.constantFrom(null, 0, 900.5) })
  .map((range) => control("power_target", range));
const trigger = fc.constantFrom("restart", "reboot").map((key) => control(key, { kind: "trigger" }));
const mining = fc.constantFrom(true, false, null).map((value) => control("mining", { kind: "switch", value }));
const heating = fc.record({
  name: text,
  target: fc.double({ min: 5, max: 35, noNaN: true }),
  room: figure,
  at: fc.constant(null),
  demand: figure,
  held: fc.boolean(),
});

const rig: fc.Arbitrary<Miner> = fc
  .record({
    id: fc.integer({ min: 1, max: 99 }),
    name: text,
    isOffline: fc.boolean(),
    hasValidStatus: fc.boolean(),
    status: fc.constantFrom(...minerStatuses),
    read: fc.record({
      hashrate: figure,
      power: figure,
      temperature: figure,
      temperatureIn: figure,
      temperatureOut: figure,
      mining: fc.constantFrom(true, false, null),
      fans: fc.array(fc.record({ rpm: figure, percent: figure }), { maxLength: 3 }),
      energy: fc.oneof(fc.nat(), fc.constant(null)),
    }),
    controls: fc.tuple(mining, fan, power, trigger),
    heating: fc.option(heating),
  })
  .map(({ status, read, ...each }) =>
    miner({
      ...each,
      statusInfo: { statusDisplay: status, statusLine3: null, secondsSinceStart: 0 },
      readings: readings(read),
    }),
  );

const wanted = fc.constantFrom("outlet", "switch", "heater").map((as) =>
  settings({
    defaults: {
      as,
      alarm: true,
      sensors: ["temperature", "temperature_in", "temperature_out", "room_temperature"],
      switches: ["restart", "reboot"],
    },
    groups: { all: true },
    rules: ["Restart all"],
  }),
);

test("whatever a rig reports, HomeKit gets no NaN, no value out of range and none of another type", () => {
  fc.assert(
    fc.property(fc.array(rig, { maxLength: 4 }), wanted, (miners, given) => {
      const farm = { ...farmOf(miners), rules: [{ id: 1, name: "Restart all" }] };
      const { accessories } = planAccessories(farm, given, () => undefined);
      for (const { services } of accessories)
        for (const { characteristics } of services) for (const each of characteristics) expect(fault(each)).toBeNull();
    }),
    { numRuns: 500 },
  );
});

test("whatever a controller writes, rigs get valid words and numbers", () => {
  const written = fc.oneof(fc.boolean(), fc.double({ min: 0, max: 100, noNaN: true }));
  fc.assert(
    fc.property(rig, wanted, written, (miner, given, value) => {
      const { accessories } = planAccessories(farmOf([miner]), given, () => undefined);
      const plans = accessories.flatMap(({ services }) => services.flatMap(({ characteristics }) => characteristics));
      for (const { requestFor } of plans)
        for (const intent of requestFor?.(value).intents ?? [])
          expect(JSON.stringify(intent)).not.toMatch(/NaN|Infinity|null/);
    }),
  );
});

/** What HAP would reject about a value; null = nothing. */
function fault({ type, value, props }: CharacteristicPlan): string | null {
  if (value === null) return null;
  if (typeof type !== "string") return Number.isFinite(value) ? null : `${type.name} is ${String(value)}`;
  const { format, minValue, maxValue, validValues } = { ...new Characteristic[type]().props, ...props };
  if (format === "bool") return typeof value === "boolean" ? null : `${type} is ${String(value)}`;
  const isIn = typeof value === "number" && value >= (minValue ?? value) && value <= (maxValue ?? value);
  return isIn && (validValues?.includes(value) ?? true) ? null : `${type} is ${String(value)}`;
}
