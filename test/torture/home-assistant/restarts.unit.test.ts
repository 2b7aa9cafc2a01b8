import { expect, test } from "@jest/globals";
import type { Change, State } from "./instance.ts";
import { falseChanges } from "./restarts.ts";

/** Rigbridge is away from 1000 to 5000 ms. */
const away = { from: 1000, until: 5000, lagMs: 1000 };

const known: Readonly<Record<string, readonly [state: string, attributes: Record<string, string>]>> = {
  "switch.desk": ["on", {}],
  "sensor.desk_status": ["mining", { device_class: "enum" }],
  "sensor.desk_power": ["18", { state_class: "measurement" }],
  "sensor.desk_energy": ["100", { state_class: "total_increasing" }],
  "sensor.desk_started": ["2026-11-22T10:00:00+00:00", { device_class: "timestamp" }],
  "event.desk_event": ["2026-11-22T09:00:00+00:00", {}],
  "sensor.farm_offline": ["0", { state_class: "measurement" }],
  "sensor.desk_reason": ["unknown", {}],
  "sensor.attic_power": ["unavailable", { state_class: "measurement" }],
};
const before = new Map<string, State>(
  Object.entries(known).map(([id, [state, attributes]]) => [id, { entity_id: id, state, attributes }]),
);
const uniqueIds = new Map(Object.keys(known).map((id) => [id, id.replace("farm_offline", "farm_miners_offline")]));

/** What is said of an entity that was unavailable from 2000 to 5500 ms and then had this state. */
const said = (entity: string, to: string | null, at = 5500): string[] => {
  const changes: Change[] = [
    { at: 2000, entity, from: before.get(entity)?.state ?? null, to: "unavailable" },
    { at, entity, from: "unavailable", to },
  ];
  return falseChanges(before, changes, away, uniqueIds);
};

test.each([
  ["switch.desk", "on"],
  ["sensor.desk_status", "mining"],
  ["sensor.desk_power", "21.5"],
  ["sensor.desk_energy", "100.2"],
  ["sensor.desk_started", "2026-11-22T10:00:02+00:00"],
  ["event.desk_event", "2026-11-22T09:00:00+00:00"],
  ["sensor.farm_offline", "0"],
  ["sensor.desk_reason", "unknown"],
  ["sensor.attic_power", "unavailable"],
])("%s may be %s after a restart", (entity, state) => {
  expect(said(entity, state)).toEqual([]);
});

test.each([
  ["switch.desk", "off"],
  ["sensor.desk_status", "disconnected"],
  ["sensor.desk_power", "unknown"],
  ["sensor.desk_energy", "12"],
  ["sensor.desk_started", "2026-11-22T11:00:00+00:00"],
  ["event.desk_event", "2026-11-22T11:00:00+00:00"],
  ["sensor.farm_offline", "9"],
  ["sensor.desk_reason", "offline"],
  ["sensor.attic_power", "12"],
  ["switch.desk", null],
])("that %s is %s after a restart is not so", (entity, state) => {
  expect(said(entity, state)).toHaveLength(1);
});

test("an entity is unavailable only while Rigbridge is away", () => {
  const late: Change = { at: 9000, entity: "switch.desk", from: "on", to: "unavailable" };
  expect(falseChanges(before, [late], away, uniqueIds)).toEqual([
    "switch.desk: on -> unavailable while Rigbridge was there",
  ]);
});

test("entities of others do not matter", () => {
  const other: Change = { at: 2000, entity: "sun.sun", from: "above_horizon", to: "below_horizon" };
  expect(falseChanges(before, [other], away, uniqueIds)).toEqual([]);
});
