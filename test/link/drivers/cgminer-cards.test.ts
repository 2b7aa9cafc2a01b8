import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { cgminer } from "../../../src/link/drivers/cgminer/index.ts";
import type { CgminerSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt, values } from "../rigs.ts";

async function start(spec: Partial<CgminerSpec>): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "cgminer", warm: true, ...spec }, () => 1.8e12);
  return { rig: rigAt(cgminer, simulated.address), simulated };
}

describe("sgminer", () => {
  test("is read with every figure of its cards", async () => {
    const { rig } = await start({ dialect: "sgminer" });
    const reading = await rig.read(deadline());
    expect(RigReadings.parse(reading.readings)).toEqual(reading.readings);
    expect(reading.software).toBe("SgMinerGm");
    expect(reading.readings).toMatchObject({ dual: null, mining: true, notes: [] });
    expect(reading.readings.hashrate).toBeGreaterThan(200e6);
    expect(reading.devices).toHaveLength(4);
    expect(reading.devices[1]).toMatchObject({
      kind: "gpu",
      name: "AMD Radeon RX 6800",
      status: "enabled",
      clock: 1.3e9,
      memoryClock: 1.075e9,
      voltage: 0.73,
      activity: 99,
      powertune: -10,
      intensity: "64",
      fanRpm: expect.any(Number),
      fanPercent: expect.any(Number),
      temperature: expect.any(Number),
      bus: null,
    });
    const sum = reading.devices.reduce((all, { hashrate }) => all + (hashrate ?? 0), 0);
    expect(Math.abs(sum / (reading.readings.hashrate ?? 0) - 1)).toBeLessThan(0.01);
  });

  test("switches its cards and pools and restarts where it may, by its own word", async () => {
    const { rig, simulated } = await start({ dialect: "sgminer" });
    expect(values(await rig.read(deadline()))).toEqual({
      restart: null,
      board_0: true,
      board_1: true,
      board_2: true,
      board_3: true,
    });
    await expect(rig.set("board_2", false, deadline())).resolves.toBe("GPU 2 set disable flag");
    const reading = await rig.read(deadline());
    expect(values(reading)).toMatchObject({ board_1: true, board_2: false });
    expect(reading.devices[2]).toMatchObject({ status: "disabled", hashrate: 0 });
    await rig.set("board_2", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ board_2: true });
    await rig.pools.switch?.(await poolAt(rig, 1), deadline());
    expect(listed(await rig.read(deadline()))[0]).toBe("*backup.example.net:3333");
    await rig.set("restart", true, deadline());
    expect(simulated.requests.writes).toEqual(["gpudisable|2", "gpuenable|2", "switchpool|1", "restart"]);
  });

  test("offers nothing without privilege, and only what a group of its API may do", async () => {
    const { rig, simulated } = await start({ dialect: "sgminer", privileged: false });
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.locked?.text).toContain("--api-allow W:");
    expect(simulated.requests.writes).toEqual([]);
    const some = await start({ dialect: "sgminer", grants: ["gpuenable", "gpudisable"] });
    const granted = await some.rig.read(deadline());
    expect(Object.keys(values(granted))).toEqual(["board_0", "board_1", "board_2", "board_3"]);
    expect(granted.poolActions).toEqual([]);
  });

  test("with a dead card says which, and the models are asked for once", async () => {
    const { rig, simulated } = await start({ dialect: "sgminer" });
    await rig.read(deadline());
    simulated.model.change((model) => model.boardsLost.add(3));
    const before = simulated.requests.count;
    const reading = await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(1);
    expect(reading.devices[3]).toMatchObject({ status: "dead", hashrate: 0 });
    expect(reading.readings.errors).toEqual([{ code: "device.dead", text: "GPU 3 is dead" }]);
  });
});

describe("TeamRedMiner", () => {
  test("is read, can only be read, and says so without advice that would not help", async () => {
    const { rig, simulated } = await start({ dialect: "teamredminer" });
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ software: "TeamRedMiner", controls: [], poolActions: [] });
    expect(reading.readings).toMatchObject({ algorithm: "etchash", dual: null });
    expect(reading.locked).toEqual({ why: "read-only", text: "TeamRedMiner is read only over this API" });
    expect(reading.devices).toHaveLength(4);
    expect(reading.logInterval).toBe(30);
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that mines two algorithms shows the second one and its pool apart", async () => {
    const { rig } = await start({ dialect: "teamredminer", dualAlgorithm: "kaspa" });
    const { readings, pools } = await rig.read(deadline());
    expect(readings.dual).toMatchObject({
      algorithm: "kaspa",
      hashrate: expect.any(Number),
      hashrateAverage: expect.any(Number),
      shares: { accepted: expect.any(Number), rejected: expect.any(Number), hardwareErrors: 0 },
    });
    expect((readings.dual?.hashrate ?? 0) / (readings.hashrate ?? 1)).toBeCloseTo(8, 1);
    expect(pools.map(({ url, active, dual }) => [url, active, dual])).toEqual([
      ["stratum+tcp://pool.example.com:3333", true, undefined],
      ["stratum+tcp://backup.example.net:3333", false, undefined],
      ["stratum+tcp://second.example.org:5555", false, true],
    ]);
  });

  test("that mines one is asked for a second only now and then", async () => {
    const { rig, simulated } = await start({ dialect: "teamredminer" });
    await rig.read(deadline());
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(1);
  });
});
