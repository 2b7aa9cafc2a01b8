import { expect, test } from "@jest/globals";
import { callFor, type Names, toRequest } from "../../nodes/miner-action/to-service-call.ts";
import type { Miner, MinerPool } from "../../src/contract/resources.ts";
import { actionIntents, settingIntents, toServiceCall } from "../../src/farm/index.ts";
import { miner } from "../homebridge/miners.ts";

const none: Names = { pools: new Map(), poolGroups: new Map(), templates: new Map(), rules: new Map() };

test.each([
  ["REBOOT", { action: "reboot" }],
  [
    { action: "Set_Power_Limit", watts: "2,5 kW" },
    { action: "set_power_limit", watts: 2500 },
  ],
  [
    { action: "set_target_temperature", temperature: "68 °F" },
    { action: "set_target_temperature", temperature: 20 },
  ],
  [
    { action: "set_surplus", surplus: "-0.12 kW" },
    { action: "set_surplus", surplus: -120 },
  ],
  [
    { action: "locate", on: "Off" },
    { action: "locate", on: false },
  ],
])("an action may be in any case, and its numbers in any unit: %j", (payload, action) => {
  expect(actionIntents(payload)).toEqual([{ kind: "action", action }]);
});

test("an action with a number in a wrong unit says so, with every other mistake", () => {
  const wrong = { action: "set_power_limit", watts: "55 %", now: true };
  expect(() => actionIntents(wrong)).toThrow('watts: must be in W or kW or MW, not in "%"; now: is not known');
});

test("a command of Node-RED may have a unit too", () => {
  const request = toRequest("set_surplus", "1.5 kW");
  const call = callFor(miner(), request, none, new Set(["minerAction", "listCommands"]));
  expect(call).toEqual({ operation: "minerAction", action: { action: "set_surplus", surplus: 1500 } });
});

const { statusInfo, progressInfo } = miner();
const pool: MinerPool = {
  id: 0,
  minerID: 1,
  minerName: "Rig 1",
  name: "",
  coinName: "",
  statusInfo,
  progressInfo,
  canRemove: true,
  canDisable: true,
  canEnable: true,
  canPrioritize: true,
  additionalInfo: { displayUrl: "pool.example.com:3333", worker: "w" },
  priorityInfo: { priority: 0, quota: 0 },
};

test("a pool may be named in any case, if only one is meant", () => {
  const pooled = (...names: string[]): Miner => miner({ poolList: names.map((name, id) => ({ ...pool, id, name })) });
  const call = (of: Miner, name: string) =>
    settingIntents("pool", name).map((each) => toServiceCall(of, each, () => undefined));
  expect(call(pooled("North", "South"), "SOUTH")).toMatchObject([{ operation: "minerPoolAction", poolId: 1 }]);
  expect(call(pooled("North", "north"), "north")).toMatchObject([{ operation: "minerPoolAction", poolId: 1 }]);
  expect(() => call(pooled("North", "north"), "NORTH")).toThrow('"NORTH" is not a pool');
});
