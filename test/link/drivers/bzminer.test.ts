import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { bzminer } from "../../../src/link/drivers/bzminer/index.ts";
import { deadline, listed, values } from "../rigs.ts";
import { answering, read, startProgram, sumOf } from "./programs.ts";

const password = "geheim +&=";
const spec = { kind: "bzminer", name: "garage" } as const;

test("BzMiner is read with every figure that it reports, without its placeholder pools", async () => {
  const { rig } = await startProgram(bzminer, spec);
  const reading = await read(rig);
  const { readings } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({ algorithm: "etchash", dual: null, mining: true, uptime: 3600, notes: [] });
  expect(sumOf(reading, "hashrate")).toBeCloseTo(readings.hashrate ?? 0, 0);
  expect(sumOf(reading, "power")).toBe(readings.power);
  expect(reading.devices.map(({ bus }) => bus)).toEqual([1, 2, 5, 6, 10, 11]);
  expect(reading.identity).toMatchObject({ make: "BzMiner", firmware: "BzMiner 24.0.2", hostname: "garage" });
  expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
});

test("two algorithms at once are read apart, by the pools that a device names", async () => {
  const { rig } = await startProgram(bzminer, { ...spec, dualAlgorithm: "kaspa" });
  const { readings, pools } = await read(rig);
  expect(readings).toMatchObject({ algorithm: "etchash", dual: { algorithm: "kaspa" } });
  expect((readings.dual?.hashrate ?? 0) / (readings.hashrate ?? 1)).toBeCloseTo(8, 5);
  expect(pools.map(({ url, active, dual = false }) => [url, active, dual])).toEqual([
    ["stratum+tcp://pool.example.com:3333", true, false],
    ["stratum+tcp://second.example.org:5555", false, true],
  ]);
});

test("a device's figures stand in the order of its own pools", async () => {
  const pool = (id: number, algorithm: string) => ({
    id,
    algorithm,
    status: 1,
    current_url: `${algorithm}.example.com:1`,
  });
  const { rig } = await answering(bzminer, {
    "/status": {
      bzminer_version: "v100.45",
      pools: [pool(3, "kaspa"), pool(7, "ergo")],
      devices: [
        { name: "A", vendor: 1, pci_bus_id: 171, status: [3, 3], pool: [7, 3], hashrate: [10, 2] },
        { name: "B", vendor: 2, pci_bus_id: 5, status: [3, 3], pool: [3, 7], hashrate: [4, 20] },
        { name: "C", vendor: 4, status: [3], pool: [7], hashrate: [1] },
      ],
    },
  });
  const { readings, devices, identity } = await read(rig);
  expect(readings).toMatchObject({ algorithm: "ergo", hashrate: 31, dual: { algorithm: "kaspa" } });
  expect(devices.map(({ kind, hashrate, bus }) => [kind, hashrate, bus])).toEqual([
    ["gpu", 10, 171],
    ["gpu", 20, 5],
    ["cpu", 1, null],
  ]);
  expect(identity.firmware).toBe("BzMiner 100.45");
});

describe("the mining switch", () => {
  test("stops and starts, and is read back", async () => {
    const { rig, clock } = await startProgram(bzminer, spec);
    expect(values(await read(rig))).toEqual({ mining: true });
    await rig.set("mining", false, deadline());
    clock.pass(10);
    const stopped = await read(rig);
    expect([values(stopped), stopped.readings.hashrate, stopped.halt?.code]).toEqual([{ mining: false }, 0, "user"]);
    await rig.set("mining", true, deadline());
    clock.pass(120);
    expect(values(await read(rig))).toEqual({ mining: true });
  });

  test("of a BzMiner that does not mine is unknown, unless it was stopped here", async () => {
    const pools = [{ url: "stratum+tcp://dead.example.com:3333", user: "w", alive: false }];
    const { rig } = await startProgram(bzminer, { ...spec, pools });
    expect(values(await read(rig))).toEqual({ mining: null });
  });
});

describe("the password", () => {
  test("goes with commands, and is not needed to read", async () => {
    const { rig, simulated } = await startProgram(bzminer, { ...spec, password }, { password });
    await read(rig);
    await rig.set("mining", false, deadline());
    expect(simulated.model.mining).toBe(false);
  });

  test.each([
    ["missing", {}, "none is configured"],
    ["wrong", { password: "falsch" }, "rejects this password"],
  ])("that is %s is reported, and shown nowhere", async (_, credentials, words) => {
    const { rig, simulated } = await startProgram(bzminer, { ...spec, password }, credentials);
    await read(rig);
    const failure = await rig.set("mining", false, deadline()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rig.login", message: expect.stringContaining(words) });
    expect(String(failure)).not.toMatch(/falsch|geheim/);
    expect(simulated.model.mining).toBe(true);
  });

  test("that BzMiner requires even to be read is asked for", async () => {
    const { rig } = await answering(bzminer, { "/status": { result: "incorrect password" } });
    await expect(read(rig)).rejects.toMatchObject({ code: "rig.login" });
  });

  test("stands in no error about a reply", async () => {
    const { rig } = await answering(bzminer, { "/status": "not JSON" }, { password });
    const failure = await read(rig).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rig.garbled" });
    expect(String(failure)).not.toMatch(/geheim|password=/);
  });
});
