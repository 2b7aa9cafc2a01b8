import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { srbminer } from "../../../src/link/drivers/srbminer/index.ts";
import { deadline, values } from "../rigs.ts";
import { answering, read, startProgram, sumOf } from "./programs.ts";

const token = "zufallswort";
const spec = { kind: "srbminer", name: "garage" } as const;

test("SRBMiner is read with every figure that it reports, card by card", async () => {
  const { rig } = await startProgram(srbminer, spec);
  const reading = await read(rig);
  const { readings } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({ algorithm: "etchash", dual: null, mining: true, uptime: 3600, notes: [] });
  expect(sumOf(reading, "hashrate")).toBeCloseTo(readings.hashrate ?? 0, 0);
  expect(sumOf(reading, "accepted")).toBe(readings.shares.accepted);
  expect(reading.devices.map(({ kind, bus }) => [kind, bus])).toEqual([1, 2, 5, 6].map((bus) => ["gpu", bus]));
  expect(reading.devices[0]?.fanRpm).toBeGreaterThan(0);
  expect(reading.identity).toMatchObject({
    make: "SRBMiner-MULTI",
    model: "4 x amd_radeon_rx_6800",
    hostname: "garage",
  });
  expect(reading.pools).toMatchObject([{ url: "stratum+tcp://pool.example.com:3333", active: true, worker: "" }]);
});

test("on a processor it is read as a processor", async () => {
  const { rig } = await startProgram(srbminer, { ...spec, hardware: "processor", algorithm: "randomx" });
  const { devices, readings, identity } = await read(rig);
  expect(devices).toMatchObject([{ kind: "cpu", hashrate: readings.hashrate, name: expect.stringContaining("Ryzen") }]);
  expect(identity.model).toContain("Ryzen");
  expect([readings.algorithm, readings.power]).toEqual(["randomx", null]);
});

test("two algorithms at once are read apart", async () => {
  const { rig } = await startProgram(srbminer, { ...spec, dualAlgorithm: "blake3_decred" });
  const { readings, pools } = await read(rig);
  expect(readings.dual).toMatchObject({ algorithm: "blake3_decred", hashrateAverage: expect.any(Number) });
  expect(pools.map(({ active, dual = false }) => [active, dual])).toEqual([
    [true, false],
    [false, true],
  ]);
});

test("the rates of cards are found by name, not by place", async () => {
  const { rig } = await answering(srbminer, {
    "/": {
      miner_version: "0.7.3",
      gpu_devices: [
        { id: 1, bus_id: 3, device: "gpu1", model: "radeon_rx_570_series", compute_errors: 2 },
        { id: 3, bus_id: 12, device: "gpu3", model: "radeon_rx_570_series", compute_errors: 0 },
      ],
      algorithms: [{ name: "ethash", hashrate: { now: 58, gpu: { gpu3: 28, gpu1: 30, total: 58 } } }],
    },
  });
  const { devices } = await read(rig);
  expect(devices.map(({ bus, hashrate, hardwareErrors }) => [bus, hashrate, hardwareErrors])).toEqual([
    [3, 30, 2],
    [12, 28, 0],
  ]);
});

describe("its secret path", () => {
  test("restarts it, where it is known", async () => {
    const { rig, simulated, clock } = await startProgram(srbminer, { ...spec, password: token }, { token });
    expect(values(await read(rig))).toEqual({ restart: null });
    await rig.set("restart", true, deadline());
    expect(simulated.requests.writes).toHaveLength(1);
    clock.pass(10);
    expect((await read(rig)).readings.uptime).toBeLessThan(60);
  });

  test("is not offered where it is not known", async () => {
    const { rig } = await startProgram(srbminer, { ...spec, password: token });
    expect((await read(rig)).controls).toEqual([]);
    await expect(rig.set("restart", true, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("stands in no error, whatever characters it has", async () => {
    const odd = "wort / mit?zeichen";
    const { rig, asked } = await answering(
      srbminer,
      { "/": { miner_version: "3.4.6", algorithms: [] } },
      { token: odd },
    );
    await read(rig);
    const failure = await rig.set("restart", true, deadline()).catch((error: unknown) => error);
    expect(asked.at(-1)).toBe(`GET /${encodeURIComponent(odd)}`);
    expect(failure).toMatchObject({ code: "rig.refused" });
    expect(String(failure)).not.toMatch(/wort|mit.{0,3}zeichen/);
  });
});
