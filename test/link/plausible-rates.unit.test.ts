import { describe, expect, test } from "@jest/globals";
import { algorithms } from "../../src/catalogue/algorithms.ts";
import { asicModel } from "../../src/catalogue/asic-models.ts";
import { type RigReadings, unknownBoard, unknownReadings } from "../../src/contract/readings.ts";
import type { Reading } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { withPlausibleRates } from "../../src/link/plausible-rates.ts";
import { hardware } from "../../src/simulator/hardware.ts";

const reading = (make: string, model: string, readings: Partial<RigReadings>): Reading => ({
  identity: { ...unknownIdentity, make, model },
  readings: { ...unknownReadings(), mining: true, uptime: 3_600, ...readings },
  pools: [],
  devices: [],
  controls: [],
  poolActions: [],
  software: null,
  logInterval: null,
  workUtility: null,
});

const checked = (make: string, model: string, readings: Partial<RigReadings>): RigReadings =>
  withPlausibleRates(reading(make, model, readings)).readings;

describe("a hash rate is compared with the model's nameplate", () => {
  test.each([0, 1e9, 10e12, 95e12, 400e12])("%d H/s of an S19 stay", (hashrate) => {
    expect(checked("Antminer", "Antminer S19", { hashrate, hashrateAverage: 95e12 })).toMatchObject({
      hashrate,
      notes: [],
    });
  });

  test("what is several times as fast is unknown, also on one board", () => {
    const boards = [
      { ...unknownBoard(1), hashrate: 31e12 },
      { ...unknownBoard(2), hashrate: 3.1e16 },
    ];
    expect(checked("VNish", "S19j Pro (Vnish 1.3.4)", { hashrate: 62e12, boards })).toMatchObject({
      hashrate: 62e12,
      boards: [{ hashrate: 31e12 }, { hashrate: null }],
      notes: [expect.stringContaining("310 times the nameplate of the S19j Pro")],
    });
  });

  test("a thousandth of it is another unit once the rig has run for a while", () => {
    const thousandth = { hashrate: 95e9, hashrateAverage: 94e9 };
    expect(checked("Antminer", "Antminer S19", thousandth)).toMatchObject({ hashrate: null, hashrateAverage: null });
    expect(checked("Antminer", "Antminer S19", { ...thousandth, uptime: 60 })).toMatchObject(thousandth);
    expect(checked("Antminer", "Antminer S19", { ...thousandth, hashrateAverage: 90e12 })).toMatchObject({
      hashrate: 95e9,
    });
  });

  test("what is not known is not judged", () => {
    expect(checked("Antminer", "Antminer S99", { hashrate: 1e18 })).toMatchObject({ hashrate: 1e18, notes: [] });
    expect(checked("cgminer", "BTB", { hashrate: 1e18 })).toMatchObject({ hashrate: 1e18, notes: [] });
  });
});

describe("models are found by the beginning of their name, the longest first", () => {
  test.each([
    ["Antminer", "Antminer S19", 100e12],
    ["Antminer", "Antminer S19 XP Hyd. (257Th)", 257e12],
    ["Braiins", "Antminer S9j", 13.5e12],
    ["MSKMiner", "S19-88 v.2.6.0.39", 100e12],
    ["Hiveon", "Antminer S19 (Hiveon 1.04)", 100e12],
    ["Elphapex", "DG1", 11e9],
    ["Elphapex", "DG1+", 14e9],
    ["VolcMiner", "VolcMiner D1", 15.5e9],
    ["Hammer", "Hammer D10", 5e9],
    ["Antminer", "Antminer Z9-Mini", 10e3],
    ["WhatsMiner", "M30S++ VH60", 112e12],
    ["Avalon", "AvalonMiner 1246-83", 88e12],
    ["Avalon", "Avalon Nano 3S", 6e12],
    ["NerdAxe", "NerdQAxe++", 4.8e12],
    ["Bitaxe", "Gamma 601", 1.2e12],
  ])("%s %s", (make, model, nameplate) => {
    expect(asicModel(make, model)?.nameplate).toBe(nameplate);
  });

  test.each([
    ["Antminer", "Antminer S1"],
    ["cgminer", "S19"],
    ["T-Rex", "6 x RTX 3070"],
  ])("%s %s is not known", (make, model) => {
    expect(asicModel(make, model)?.nameplate ?? null).toBeNull();
  });

  test("a new model of a known series has its algorithm", () => {
    expect(asicModel("Antminer", "Antminer S99")).toMatchObject({ algorithm: "sha256", nameplate: null });
    expect(asicModel("Elphapex", "DG2")).toMatchObject({ algorithm: "scrypt", nameplate: null });
  });
});

test("the algorithms of all models are known", () => {
  const known = new Set(algorithms.map(({ id }) => id));
  for (const { model } of Object.values(hardware)) {
    const facts = asicModel(null, model);
    if (facts !== null) expect([model, known.has(facts.algorithm)]).toEqual([model, true]);
  }
});
