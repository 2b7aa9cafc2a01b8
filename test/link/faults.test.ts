import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../src/contract/readings.ts";
import type { Driver, Reading } from "../../src/link/driver.ts";
import { axeos } from "../../src/link/drivers/axeos/index.ts";
import { cgminer } from "../../src/link/drivers/cgminer/index.ts";
import { xmrig } from "../../src/link/drivers/xmrig/index.ts";
import { type Farm, type FaultName, faults, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { endingOf } from "./fault-endings.ts";
import { deadline, rigAt } from "./rigs.ts";

const token = "geheim";
const kinds: readonly [string, Driver][] = [
  ["cgminer", cgminer],
  ["axeos", axeos],
  ["xmrig", xmrig],
];

let farm: Farm;
beforeAll(async () => {
  const host = ownHost();
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", host, warm: true },
      { kind: "axeos", host, warm: true },
      { kind: "xmrig", host, warm: true, token, restricted: false },
    ],
    clock: () => 1.8e12,
  });
});
afterAll(() => farm.close());

const simulatedOf = (kind: string): SimulatedRig => {
  const rig = farm.rigs.find((each) => each.kind === kind);
  if (rig === undefined) throw new Error(kind);
  return rig;
};

/** Reads a rig with a fault as a poll would, over a driver that has just been connected. */
async function readWith(kind: string, driver: Driver, fault: FaultName | null): Promise<Reading | string> {
  const simulated = simulatedOf(kind);
  const late = fault !== null && endingOf(fault, kind) === "rig.timeout";
  simulated.fault = fault;
  try {
    return await rigAt(driver, simulated.address, { token }).read(deadline(late ? 200 : 5_000));
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : `not ours: ${error}`;
  } finally {
    simulated.fault = null;
  }
}

describe.each(kinds)("%s", (kind, driver) => {
  test.each(Object.entries(faults).map(([name]) => name))("%s", async (name) => {
    const fault = Object.keys(faults).find((each): each is FaultName => each === name) ?? "off";
    const expected = endingOf(fault, kind);
    const clean = await readWith(kind, driver, null);
    const got = await readWith(kind, driver, fault);
    if (typeof got === "string" || typeof clean === "string") {
      expect(got).toBe(expected);
      return;
    }
    expect(["same", "notes", "record"]).toContain(expected);
    expect(RigReadings.parse(got.readings)).toEqual(got.readings);
    if (expected === "notes") expect(got.readings.notes.length).toBeGreaterThan(0);
    if (expected === "same") {
      const { notes: _, ...readings } = got.readings;
      expect(clean.readings).toMatchObject(readings);
      expect(got.pools).toEqual(clean.pools);
      expect(got.devices).toEqual(clean.devices);
    }
  });
});
