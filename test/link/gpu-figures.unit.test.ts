import { expect, test } from "@jest/globals";
import { unknownReadings } from "../../src/contract/readings.ts";
import type { DeviceReading, Reading } from "../../src/link/driver.ts";
import { unknownDevice } from "../../src/link/drivers/shared/board-device.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { withHostGpus } from "../../src/link/programs/gpu-figures.ts";
import { gpu } from "../service/hosts/agent-double.ts";

const device = (bus: number | null, known: Partial<DeviceReading> = {}): DeviceReading => ({
  ...unknownDevice,
  kind: "gpu",
  name: `GPU ${bus}`,
  hashrate: 1,
  hashrateAverage: 1,
  bus,
  ...known,
});
const reading = (devices: readonly DeviceReading[], known: Partial<Reading["readings"]> = {}): Reading => ({
  identity: unknownIdentity,
  readings: { ...unknownReadings(), ...known },
  pools: [],
  devices,
  controls: [],
  poolActions: [],
  software: null,
  logInterval: null,
  workUtility: null,
});

test("a program's cards get the host's figures of the same bus, where they have none", () => {
  const gpus = [gpu(0, 1, { temperature: 60, power: 100 }), gpu(1, 3, { temperature: 70, power: 110, fanPercent: 40 })];
  const { devices, readings } = withHostGpus(reading([device(3, { temperature: 71 }), device(1)]), gpus);
  expect(devices).toMatchObject([
    { bus: 3, temperature: 71, power: 110, fanPercent: 40 },
    { bus: 1, temperature: 60, power: 100 },
  ]);
  expect(readings).toMatchObject({ power: 210, powerSource: "reported", temperature: 71 });
});

test("the program's own power and temperature stay", () => {
  const known = { power: 190, powerSource: "measured", temperature: 65 } as const;
  expect(
    withHostGpus(reading([device(1)], known), [gpu(0, 1, { power: 100, temperature: 60 })]).readings,
  ).toMatchObject(known);
});

test("a card that the host does not know leaves the sum unknown, as does one without a bus", () => {
  const [known, unknown] = [gpu(0, 1, { power: 100 }), device(9)];
  expect(withHostGpus(reading([device(1), unknown]), [known]).readings.power).toBeNull();
  expect(withHostGpus(reading([device(null)]), [known]).readings.power).toBeNull();
  expect(withHostGpus(reading([device(null, { kind: "cpu" })]), [known]).readings.power).toBeNull();
});

test("a card that the driver has lost is dead, whatever the program says", () => {
  expect(withHostGpus(reading([device(1)]), [gpu(0, 1, { lost: true })]).devices[0]?.status).toBe("dead");
});
