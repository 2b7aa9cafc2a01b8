import { describe, expect, test } from "@jest/globals";
import type { ManagedMiner } from "../../src/contract/resources.ts";
import {
  blankMiner,
  bodyOf,
  extrasOf,
  poolOf,
  poolRef,
  withChoices,
  without,
} from "../../src/web/pages/hosts/miner-data.ts";
import type { Schema } from "../../src/web/parts/schema-form/schema.ts";

describe("a pool in a form", () => {
  test.each([
    { poolId: 12, isPoolGroup: false, ref: "p12" },
    { poolId: 3, isPoolGroup: true, ref: "g3" },
    { poolId: 0, isPoolGroup: false, ref: "" },
  ])("is $ref, and back", ({ ref, ...pool }) => {
    expect(poolRef(pool)).toBe(ref);
    expect(poolOf(ref)).toEqual(pool);
  });
});

describe("the settings beside a program", () => {
  const gpu = { bus: 1, powerLimit: 120, coreClock: null, memoryClock: null, fan: null, algorithm: null };
  const switching = { mode: "profit", hysteresis: 5, minimumStay: 600 } as const;
  const miner: ManagedMiner = {
    ...blankMiner,
    gpuSettings: [gpu],
    switching: {
      ...switching,
      choices: [{ algorithm: "kawpow", poolId: 3, isPoolGroup: true, softwareType: "" }],
    },
    idle: { processes: ["game"], load: null },
  };

  test("lack what is not set, and name a pool or group by its reference", () => {
    expect(extrasOf(blankMiner)).toEqual({});
    expect(extrasOf(miner)).toEqual({
      gpuSettings: [{ bus: 1, powerLimit: 120 }],
      switching: { ...switching, choices: [{ algorithm: "kawpow", poolId: "g3" }] },
      idle: { processes: ["game"] },
    });
  });

  test("are sent with the ids, and what was removed as nothing", () => {
    expect(bodyOf(extrasOf(miner))).toEqual({
      gpuSettings: [{ bus: 1, powerLimit: 120 }],
      switching: { ...switching, choices: [{ algorithm: "kawpow", poolId: 3, isPoolGroup: true }] },
      idle: { processes: ["game"] },
    });
    const nothing = { gpuSettings: [], idle: null, switching: null };
    expect([bodyOf({}), bodyOf(null)]).toEqual([nothing, nothing]);
    expect(bodyOf({ switching: { mode: "profit" } }).switching).toEqual({ mode: "profit" });
  });
});

test("the schema offers what exists in place of ids, wherever a pool is chosen", () => {
  const properties = { poolId: { type: "integer" }, isPoolGroup: { type: "boolean" }, algorithm: { type: "string" } };
  const schema: Schema = {
    type: "object",
    properties: { choices: { type: "array", items: { type: "object", properties } } },
  };
  const named = (id: string) => ({ id, name: id });
  const lists = { algorithms: [named("kawpow")], pools: [named("p1"), named("g2")], software: [] };
  const changed = withChoices(schema, { hosts: [], groups: [], ...lists });
  const offered = (list: readonly string[]) => ({ type: "string", enum: list });
  expect(changed.properties?.choices).toEqual({
    type: "array",
    items: {
      type: "object",
      properties: { poolId: offered(["p1", "g2"]), algorithm: offered(["kawpow"]), softwareType: offered([]) },
    },
  });
  expect(Object.keys(without(changed, "choices").properties ?? {})).toEqual([]);
  expect(Object.keys(changed.properties ?? {})).toEqual(["choices"]);
});
