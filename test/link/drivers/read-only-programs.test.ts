import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Driver } from "../../../src/link/driver.ts";
import { gminer } from "../../../src/link/drivers/gminer/index.ts";
import { nbminer } from "../../../src/link/drivers/nbminer/index.ts";
import { rigel } from "../../../src/link/drivers/rigel/index.ts";
import { zenemy } from "../../../src/link/drivers/zenemy/index.ts";
import type { ProgramSpec } from "../../../src/simulator/index.ts";
import { deadline, listed } from "../rigs.ts";
import { answering, read, startProgram, sumOf } from "./programs.ts";

interface Sample {
  readonly driver: Driver;
  readonly spec: ProgramSpec;
  readonly make: string;
  readonly version: string;
  readonly software: string;
}

const samples: readonly Sample[] = [
  { driver: gminer, spec: { kind: "gminer" }, make: "GMiner", version: "3.44", software: "GMiner" },
  { driver: nbminer, spec: { kind: "nbminer" }, make: "NBMiner", version: "42.3", software: "NBMiner" },
  { driver: rigel, spec: { kind: "rigel" }, make: "Rigel", version: "1.23.2", software: "RigelMiner" },
  { driver: zenemy, spec: { kind: "zenemy" }, make: "z-enemy", version: "2.6.3", software: "ZEnemy" },
];

describe.each(samples)("$make", ({ driver, spec, make, version, software }) => {
  test("is read with every figure that it reports, card by card", async () => {
    const { rig } = await startProgram(driver, spec);
    const reading = await read(rig);
    const { readings } = reading;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(readings).toMatchObject({ mining: true, dual: null, notes: [], powerSource: "reported" });
    expect(readings.hashrate).toBeGreaterThan(300e6);
    expect(sumOf(reading, "hashrate") / (readings.hashrate ?? 0)).toBeCloseTo(1, 1);
    expect(Math.abs(sumOf(reading, "power") - (readings.power ?? 0))).toBeLessThan(reading.devices.length);
    expect(readings.shares.accepted).toBeGreaterThan(0);
    expect(reading.devices).toHaveLength(6);
    expect(reading.devices.every(({ kind, temperature }) => kind === "gpu" && (temperature ?? 0) > 30)).toBe(true);
    expect(reading.identity).toMatchObject({ make, firmware: `${make} ${version}`, mac: null, serial: null });
    expect(reading.identity.model).toMatch(/^6 x .*RTX 3070$/);
    expect(reading.software).toBe(software);
    expect(listed(reading)[0]).toBe("*pool.example.com:3333");
  });

  test("offers nothing, and sends nothing for a command", async () => {
    const { rig, simulated } = await startProgram(driver, spec);
    const reading = await read(rig);
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    const asked = simulated.requests.count;
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.count).toBe(asked);
  });

  test("is not read where something else answers in JSON", async () => {
    const pages = ["/stat", "/summary", "/api/v1/status"].map((path) => [path, { status: "fine", miner: "other" }]);
    const other = await answering(driver, Object.fromEntries(pages));
    await expect(read(other.rig)).rejects.toMatchObject({ code: "rig.garbled" });
  });

  test("that has no pool to mine at shows so", async () => {
    const pools = [{ url: "stratum+tcp://dead.example.com:3333", user: "w", alive: false }];
    const { rig, clock } = await startProgram(driver, { ...spec, pools });
    clock.pass(7_200);
    const { readings, halt, pools: shown } = await read(rig);
    expect(readings.hashrate).toBe(0);
    const says = halt?.code ?? (shown.every(({ status }) => status === "dead") ? "pools" : "nothing");
    expect(says).toBe("pools");
  });
});

test.each<[string, Driver, ProgramSpec, string]>([
  ["GMiner", gminer, { kind: "gminer", dualAlgorithm: "kHeavyHash" }, "Etchash"],
  ["NBMiner", nbminer, { kind: "nbminer", algorithm: "tensority", dualAlgorithm: "ethash" }, "tensority"],
  ["Rigel", rigel, { kind: "rigel", dualAlgorithm: "sha512256d" }, "etchash"],
])("%s: two algorithms at once are read apart", async (_, driver, spec, first) => {
  const { rig } = await startProgram(driver, spec);
  const { readings, pools } = await read(rig);
  expect([readings.algorithm, readings.dual?.algorithm]).toEqual([first, spec.dualAlgorithm]);
  expect((readings.dual?.hashrate ?? 0) / (readings.hashrate ?? 1)).toBeCloseTo(8, 0);
  expect(readings.dual?.shares.accepted).toBeGreaterThan(readings.shares.accepted ?? Number.POSITIVE_INFINITY);
  const second = pools.filter(({ dual }) => dual === true);
  expect(second.map(({ url, active }) => [url, active])).toEqual([["stratum+tcp://second.example.org:5555", false]]);
  expect(pools.filter(({ active }) => active)).toHaveLength(1);
  expect(new Set(pools.map(({ index }) => index)).size).toBe(pools.length);
});

describe("GMiner", () => {
  test("reports bus numbers in hexadecimal", async () => {
    const { rig } = await startProgram(gminer, { kind: "gminer" });
    expect((await read(rig)).devices.map(({ bus }) => bus)).toEqual([1, 2, 5, 6, 10, 11]);
  });

  test("of an early version, without shares in all and clocks, is read as far as it goes", async () => {
    const { rig } = await answering(gminer, {
      "/stat": {
        miner: "GMiner 1.34",
        uptime: 376,
        server: "stratum://us-east.example.com:20595",
        user: "acct.rig",
        devices: [
          {
            gpu_id: 0,
            cuda_id: 0,
            bus_id: "0000:01:00.0",
            name: "GeForce GTX 1050 Ti 4GB",
            speed: 17,
            accepted_shares: 3,
            rejected_shares: 0,
            temperature: 47,
            temperature_limit: 90,
            power_usage: 0,
          },
        ],
      },
    });
    const { readings, devices, pools } = await read(rig);
    expect(readings).toMatchObject({ hashrate: 17, power: null, shares: { accepted: 3, rejected: 0 }, uptime: 376 });
    expect(devices).toMatchObject([{ power: null, clock: null, bus: 1, temperature: 47 }]);
    expect(pools).toMatchObject([{ url: "stratum://us-east.example.com:20595", worker: "acct.rig" }]);
  });
});

describe("NBMiner", () => {
  const status = (startTime: number) => ({
    miner: { total_hashrate_raw: 1e6, devices: [] },
    stratum: {},
    start_time: startTime,
  });

  test.each([
    ["an hour ago", () => Math.floor(Date.now() / 1000) - 3600, true],
    ["tomorrow, by the clock of its computer", () => Math.floor(Date.now() / 1000) + 86_400, false],
    ["never", () => 0, false],
  ])("that was started %s", async (_, startTime, isKnown) => {
    const { rig } = await answering(nbminer, { "/api/v1/status": status(startTime()) });
    const { uptime } = (await read(rig)).readings;
    expect(uptime === null ? null : Math.abs(uptime - 3600) < 60).toBe(isKnown ? true : null);
  });

  test("does not know the temperature of the memory", async () => {
    const { rig } = await startProgram(nbminer, { kind: "nbminer" });
    const { devices } = await read(rig);
    expect(devices.map(({ memoryTemperature, activity }) => [memoryTemperature, activity])).toContainEqual([null, 100]);
  });
});

describe("Rigel", () => {
  const password = "rigel-pool-password";
  const pools = [
    { url: "stratum+ssl://one.example.com:443", user: "w", password, alive: false },
    { url: "stratum+tcp://two.example.com:3333", user: "w", password },
  ];

  test("shows its pools in order, the connected one in use, and none of their passwords", async () => {
    const { rig } = await startProgram(rigel, { kind: "rigel", pools });
    const reading = await read(rig);
    expect(reading.pools.map(({ url, status, active }) => [url, status, active])).toEqual([
      ["stratum+ssl://one.example.com:443", "dead", false],
      ["stratum+tcp://two.example.com:3333", "enabled", true],
    ]);
    expect(JSON.stringify(reading)).not.toContain(password);
  });

  test("quotes nothing of a page that cannot be read, which contains them", async () => {
    const { rig } = await answering(rigel, { "/stat": `"password":"${password}" and so on` });
    const failure = await read(rig).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rig.garbled" });
    expect(String(failure)).not.toContain(password);
  });

  test("shows a card that failed as dead, and leaves out those that are not used", async () => {
    const { rig, simulated } = await startProgram(rigel, { kind: "rigel" });
    simulated.model.change((model) => model.boardsLost.add(5));
    expect((await read(rig)).devices.map(({ status }) => status)).toEqual([...Array(5).fill("enabled"), "dead"]);
    const other = await answering(rigel, {
      "/stat": {
        name: "Rigel",
        algorithm: "kawpow",
        devices: [
          { name: "A", selected: false },
          { name: "B", selected: true },
        ],
      },
    });
    expect((await read(other.rig)).devices.map(({ name }) => name)).toEqual(["B"]);
  });
});
