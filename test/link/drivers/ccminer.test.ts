import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { ccminer } from "../../../src/link/drivers/ccminer/index.ts";
import type { ProgramSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt } from "../rigs.ts";
import { serve } from "../servers.ts";

const clock = { now: 0 };

async function start(spec: Partial<ProgramSpec> = {}): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "ccminer", warm: true, ...spec }, () => 1.8e12);
  return { rig: rigAt(ccminer, simulated.address, {}, () => clock.now), simulated };
}

/** A program that answers these texts to these commands, and closes the connection on others. */
async function answering(texts: Readonly<Record<string, string>>): Promise<Rig> {
  const answer = (socket: Socket, request: string): void => {
    const text = texts[request];
    socket.end(text === undefined ? "" : `${text}\0`);
  };
  const server = await serve(answer);
  return rigAt(ccminer, `127.0.0.1:${server.port}`);
}

const summary = "NAME=ccminer;VER=2.3.1;API=1.9;ALGO=x16r;GPUS=1;KHS=20.00;ACC=5;REJ=1;POOLS=1;UPTIME=60|";

test("ccminer is read with its cards and pools", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings, devices } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({
    algorithm: "lyra2v2",
    powerSource: "reported",
    temperature: 61,
    uptime: 3600,
    mining: true,
    foundBlocks: 0,
    shares: { accepted: expect.any(Number), rejected: expect.any(Number), hardwareErrors: 0 },
    notes: [],
  });
  expect(readings.hashrate).toBeGreaterThan(300e6);
  expect(Math.abs((readings.power ?? 0) - simulated.model.power)).toBeLessThan(1);
  expect(devices).toHaveLength(6);
  expect(devices[4]).toMatchObject({
    kind: "gpu",
    name: "NVIDIA GeForce RTX 3070",
    bus: 10,
    clock: 1.35e9,
    memoryClock: 7.001e9,
    fanRpm: expect.any(Number),
    fanPercent: expect.any(Number),
    intensity: "20.0",
    hardwareErrors: 0,
  });
  expect(reading.identity).toMatchObject({ make: "ccminer", firmware: "ccminer 2.3.1" });
  expect(reading).toMatchObject({ software: "CcMiner", controls: [], poolActions: ["switch"] });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
});

test("its commands and its list of pools are asked for once a minute, the pool in use each time", async () => {
  const { rig, simulated } = await start();
  const asked: number[] = [];
  for (const ms of [0, 1_000, 60_000]) {
    clock.now += ms;
    const before = simulated.requests.count;
    await rig.read(deadline());
    asked.push(simulated.requests.count - before);
  }
  expect(asked).toEqual([6, 3, 6]);
});

describe("its pools", () => {
  test("are switched, which the next read shows", async () => {
    const { rig, simulated } = await start();
    await expect(rig.pools.switch?.(await poolAt(rig, 1), deadline())).resolves.toBe("The program accepted");
    expect((await rig.read(deadline())).pools.map(({ url, active }) => [url, active])).toEqual([
      ["stratum+tcp://pool.example.com:3333", false],
      ["stratum+tcp://backup.example.net:3333", true],
    ]);
    expect(simulated.requests.writes).toEqual(["switchpool|1"]);
  });

  test("cannot be switched where its help does not list that", async () => {
    const { rig, simulated } = await start({ writable: false });
    const reading = await rig.read(deadline());
    expect(reading.poolActions).toEqual([]);
    expect(reading.locked).toMatchObject({ why: "read-only", text: expect.stringContaining("--api-allow") });
    await expect(rig.pools.switch?.(await poolAt(rig, 1), deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect(simulated.model.activePool?.url).toContain("pool.example.com");
  });

  test("that are gone from the list send nothing", async () => {
    const { rig, simulated } = await start();
    const gone = { ...(await poolAt(rig, 1)), url: "stratum+tcp://other.example.com:1" };
    await expect(rig.pools.switch?.(gone, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that the program does not switch to are an error", async () => {
    const pool = "POOL=a;URL=stratum+tcp://a.example.com:1;USER=w|";
    const rig = await answering({ summary, threads: "", help: "pool\nswitchpool\n|", pool, ...of(pool) });
    await expect(rig.pools.switch?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("fail"),
    });
  });
});

const of = (pool: string): Record<string, string> => ({ "pool|0": pool, "pool|1": pool, "switchpool|0": "fail|" });

test("cpuminer-opt is a processor with its exact rate and the pool in use", async () => {
  const { rig } = await start({ hardware: "processor", algorithm: "allium" });
  const reading = await rig.read(deadline());
  expect(reading).toMatchObject({
    software: "CpuMinerOpt",
    identity: { make: "cpuminer-opt", firmware: "cpuminer-opt 26.1", model: "CPU" },
    readings: { algorithm: "allium", power: null, temperature: 68 },
    poolActions: [],
  });
  expect(reading.locked).toBeUndefined();
  expect(reading.devices).toMatchObject([{ kind: "cpu", hashrate: reading.readings.hashrate, temperature: 68 }]);
  expect(reading.readings.hashrate).toBeGreaterThan(10_000);
  expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
});

test("CryptoDredge, which knows two commands alone, is read with its cards", async () => {
  const { rig } = await start({ older: true });
  const reading = await rig.read(deadline());
  expect(reading).toMatchObject({ software: "CryptoDredge", poolActions: [], pools: [] });
  expect(reading.devices).toHaveLength(6);
});

describe("odd texts", () => {
  test("power in W, an unknown bus, no fan and no clock in use are read as such", async () => {
    const thread = "GPU=0;BUS=-1;CARD=P104;TEMP=0.0;POWER=120;FAN=0;RPM=0;FREQ=1500;GPUF=0;KHS=20.00;ACC=5;REJ=1|";
    const { devices, readings } = await (await answering({ summary, threads: thread })).read(deadline());
    expect(devices).toMatchObject([
      { name: "P104", power: 120, bus: null, temperature: null, fanPercent: 0, fanRpm: null, clock: 1.5e9 },
    ]);
    expect(readings.notes).toEqual([]);
  });

  test("an unknown fork is read under its own name", async () => {
    const rig = await answering({ summary: summary.replace("ccminer", "ccminer-x"), threads: "" });
    expect(await rig.read(deadline())).toMatchObject({ software: "CcMiner", identity: { make: "ccminer" } });
    const other = await answering({ summary: summary.replace("ccminer", "htnminer"), threads: "" });
    expect(await other.read(deadline())).toMatchObject({ software: null, identity: { make: "htnminer" } });
  });

  test.each(["", "|", "bye|", "NAME=x", "<html>", '{"STATUS":"E"}', "KHS=1;ALGO"])("%j is no summary", async (text) => {
    await expect((await answering({ summary: text })).read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
  });
});
