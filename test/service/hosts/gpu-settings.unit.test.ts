import { expect, test } from "@jest/globals";
import { withModelSettings } from "../../../src/service/hosts/gpu-settings.ts";
import { gpu } from "./agent-double.ts";

const none = { bus: null, powerLimit: null, coreClock: null, memoryClock: null, fan: null };
const gpus = [gpu(0, 1, { name: "NVIDIA GeForce RTX 3080" }), gpu(1, 10, { name: "AMD Radeon RX 6800" })];
const settings = [
  { algorithm: "kawpow", powerLimit: 250, fan: 70 },
  { algorithm: "kawpow", model: "rtx 3080", powerLimit: 220, coreClock: 1_400 },
];

test("cards get what the file says of their model, the later entry first", () => {
  expect(withModelSettings([], { settings, gpus })).toEqual([
    { ...none, bus: 1, powerLimit: 220, coreClock: 1_400e6, fan: 70 },
    { ...none, bus: 10, powerLimit: 250, fan: 70 },
  ]);
});

test("the managed miner's own settings come first, and what it leaves open is the file's", () => {
  const own = [
    { ...none, powerLimit: 180 },
    { ...none, bus: 10, fan: 90 },
  ];
  expect(withModelSettings(own, { settings, gpus })).toEqual([
    { ...none, bus: 1, powerLimit: 180, coreClock: 1_400e6, fan: 70 },
    { ...none, bus: 10, powerLimit: 250, fan: 90 },
    own[0],
  ]);
});

test("without settings in the file, or without cards that they name, its own stay as they are", () => {
  const own = [{ ...none, powerLimit: 180 }];
  expect(withModelSettings(own, { settings: [], gpus })).toEqual(own);
  expect(withModelSettings(own, { settings: [{ algorithm: "kawpow", model: "Arc", fan: 1 }], gpus })).toEqual(own);
  expect(withModelSettings(own, { settings, gpus: [] })).toEqual(own);
});
