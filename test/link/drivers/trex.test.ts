import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { trex } from "../../../src/link/drivers/trex/index.ts";
import { SessionEnded } from "../../../src/link/session-ended.ts";
import { deadline, listed, values } from "../rigs.ts";
import { answering, read, startProgram, sumOf } from "./programs.ts";

const password = "geheim wie +&=/";
const spec = { kind: "trex", password } as const;

test("T-Rex is read with every figure that it reports, card by card", async () => {
  const { rig } = await startProgram(trex, spec, { password });
  const reading = await read(rig);
  const { readings } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({
    algorithm: "etchash",
    dual: null,
    mining: true,
    uptime: 3600,
    powerSource: "reported",
    foundBlocks: 0,
    notes: [],
  });
  expect(readings.hashrate).toBeGreaterThan(300e6);
  expect(sumOf(reading, "hashrate") / (readings.hashrate ?? 0)).toBeCloseTo(1, 1);
  expect(sumOf(reading, "power")).toBe(readings.power);
  expect(sumOf(reading, "accepted")).toBe(readings.shares.accepted);
  expect(reading.devices.map(({ bus }) => bus)).toEqual([1, 2, 5, 6, 10, 11]);
  expect(reading.devices[0]).toMatchObject({
    kind: "gpu",
    name: "RTX 3070",
    status: "enabled",
    temperature: readings.temperature,
    memoryTemperature: expect.any(Number),
    fanPercent: expect.any(Number),
    clock: 1.35e9,
    memoryClock: 7.001e9,
    intensity: "22",
  });
  expect(reading.identity).toMatchObject({ make: "T-Rex", model: "6 x RTX 3070", firmware: "T-Rex 0.26.8" });
  expect(reading.software).toBe("TrexMiner");
  expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
  expect(reading.pools[0]?.worker).toBe("acct.trex-1");
});

test("two algorithms at once are read apart, and only the pool of the first is the active one", async () => {
  const { rig } = await startProgram(trex, { ...spec, dualAlgorithm: "kawpow" });
  const { readings, pools } = await read(rig);
  expect(readings.dual).toMatchObject({ algorithm: "kawpow", shares: { accepted: expect.any(Number) } });
  expect((readings.dual?.hashrate ?? 0) / (readings.hashrate ?? 1)).toBeCloseTo(8, 0);
  expect(pools.map(({ active, dual = false, index }) => [index, active, dual])).toEqual([
    [0, true, false],
    [1, false, true],
  ]);
});

describe("with its password", () => {
  test("all cards are paused and resumed, and read back", async () => {
    const { rig, simulated } = await startProgram(trex, spec, { password });
    expect(values(await read(rig)).mining).toBe(true);
    await rig.set("mining", false, deadline());
    const paused = await read(rig);
    expect([values(paused).mining, paused.readings.mining, paused.halt?.code]).toEqual([false, false, "user"]);
    await rig.set("mining", true, deadline());
    expect(values(await read(rig)).mining).toBe(true);
    expect(simulated.requests.writes).toHaveLength(2);
  });

  test("one card is paused by its number", async () => {
    const { rig, simulated } = await startProgram(trex, spec, { password });
    await read(rig);
    await rig.set("board_4", false, deadline());
    expect(simulated.requests.writes).toEqual([expect.stringMatching(/^GET \/control\?pause=true%3A4&sid=/)]);
    const reading = await read(rig);
    expect(reading.devices.map(({ status }) => status === "disabled")).toEqual([
      ...[false, false, false, false],
      ...[true, false],
    ]);
    expect(values(reading)).toMatchObject({ mining: true, board_4: false, board_5: true });
  });

  test("a session that T-Rex has forgotten ends the command, and the next read opens another", async () => {
    const pages = {
      "/summary": { name: "t-rex", hashrate: 1, paused: false, gpus: [] },
      "/login": { success: 1, sid: "one" },
      "/control": { success: 0, error: "Access denied" },
    };
    const { rig, asked } = await answering(trex, pages, { password });
    await read(rig);
    await expect(rig.set("mining", false, deadline())).rejects.toBeInstanceOf(SessionEnded);
    await read(rig);
    expect(asked.filter((each) => each.startsWith("GET /login"))).toHaveLength(2);
    expect(asked.filter((each) => each.startsWith("GET /control"))).toHaveLength(1);
  });

  test("a refusal is an error in its words", async () => {
    const { rig, simulated } = await startProgram(trex, spec, { password });
    await read(rig);
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("read-only mode"),
    });
  });
});

describe("its password", () => {
  test("that is wrong is not tried with every read, and the rig is read all the same", async () => {
    const { rig, simulated, clock } = await startProgram(trex, spec, { password: "falsch" });
    const reading = await read(rig);
    expect(reading.locked).toMatchObject({ why: "login wrong" });
    expect(reading.controls).toEqual([]);
    const before = simulated.requests.count;
    await read(rig);
    expect(simulated.requests.count - before).toBe(1);
    clock.pass(61);
    await read(rig);
    expect(simulated.requests.count - before).toBe(3);
  });

  test("is not needed to read, and without it nothing is offered", async () => {
    const { rig } = await startProgram(trex, spec);
    const reading = await read(rig);
    expect(reading.controls).toEqual([]);
    expect(reading.locked).toMatchObject({ why: "read-only", text: expect.stringContaining("--api-key") });
  });

  test("is sent to nothing but a T-Rex", async () => {
    const { rig, asked } = await answering(trex, { "/summary": { name: "something else" } }, { password });
    await expect(read(rig)).rejects.toMatchObject({ code: "rig.garbled" });
    expect(asked).toEqual(["GET /summary"]);
  });

  test("and its session stand in no error", async () => {
    const pages = {
      "/summary": { name: "t-rex", hashrate: 1, paused: false, gpus: [] },
      "/login": { success: 1, sid: "the-session" },
      "/control": `{"success":0,"error":"no ${password} with the-session"}`,
    };
    const { rig } = await answering(trex, pages, { password });
    await read(rig);
    const failure = await rig.set("mining", false, deadline()).catch((error: unknown) => error);
    expect(String(failure)).not.toContain("the-session");
    expect(String(failure)).not.toContain(password);
    const closed = await answering(trex, { "/summary": pages["/summary"], "/login": "not JSON" }, { password });
    await expect(read(closed.rig)).rejects.toMatchObject({
      message: expect.stringMatching(/^(?!.*(geheim|password=))/),
    });
  });

  test("that T-Rex requires even to be read is asked for", async () => {
    const pages = { "/summary": { success: 0, error: "Access denied" }, "/login": { success: 0 } };
    const { rig } = await answering(trex, pages);
    await expect(read(rig)).rejects.toMatchObject({ code: "rig.login", message: expect.stringContaining("requires") });
    const wrong = await answering(trex, pages, { password });
    await expect(read(wrong.rig)).rejects.toMatchObject({ message: expect.stringContaining("rejects") });
  });
});

describe("cards", () => {
  test("that T-Rex has lost or switched off for their heat are shown as such", async () => {
    const { rig, simulated } = await startProgram(trex, spec);
    simulated.model.change((model) => model.boardsLost.add(2));
    const { devices, readings } = await read(rig);
    expect(devices[2]).toMatchObject({ status: "dead", hashrate: 0, temperature: null, power: null });
    expect(readings.power).toBeGreaterThan(0);
    const hot = await answering(trex, {
      "/summary": { name: "t-rex", gpus: [{ name: "GTX 1050", disabled: true, disabled_at_temperature: 77 }] },
    });
    expect((await read(hot.rig)).devices).toMatchObject([{ status: "sick" }]);
  });

  test("of a T-Rex before 0.20 have their shares in a list of their own", async () => {
    const { rig } = await answering(trex, {
      "/summary": {
        name: "t-rex",
        algorithm: "kawpow",
        gpus: [{ device_id: 0, gpu_id: 0, hashrate: 12_464_884, name: "GTX 1070", power: 121, temperature: 73 }],
        stat_by_gpu: [{ accepted_count: 2, rejected_count: 1, solved_count: 0 }],
      },
    });
    expect((await read(rig)).devices).toMatchObject([{ accepted: 2, rejected: 1, bus: null, status: "enabled" }]);
  });
});
