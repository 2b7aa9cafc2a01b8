import { beforeEach, describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { cgminer } from "../../../src/link/drivers/cgminer/index.ts";
import type { CgminerSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt, values } from "../rigs.ts";
import { serve } from "../servers.ts";

async function start(
  spec: Partial<CgminerSpec> = {},
  monotonicNow?: () => number,
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "cgminer", warm: true, restartSeconds: 0, ...spec }, () => 1.8e12);
  return { rig: rigAt(cgminer, simulated.address, {}, monotonicNow), simulated };
}

/** A rig that answers what is written for it, and that it knows nothing else. */
async function answering(answers: Record<string, unknown>, asked: string[] = []): Promise<Rig> {
  const server = await serve((socket, request) => {
    const { command, parameter } = JSON.parse(request);
    asked.push(parameter === undefined ? command : `${command}|${parameter}`);
    const answer = answers[asked.at(-1) ?? ""] ?? { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    socket.end(`${typeof answer === "string" ? answer : JSON.stringify(answer)}\0`);
  });
  return rigAt(cgminer, `127.0.0.1:${server.port}`);
}

const ok = { STATUS: [{ STATUS: "S", Code: 1, Msg: "fine" }] };
const summary = (fields: object): object => ({ ...ok, SUMMARY: [{ Elapsed: 7, ...fields }] });
const joined = (summaryFields: object, stats: object[] = [], devs: object[] = [], pools: object[] = []): object => ({
  summary: [summary(summaryFields)],
  pools: [{ ...ok, POOLS: pools }],
  devs: [{ ...ok, DEVS: devs }],
  stats: [{ ...ok, STATS: stats }],
});
const all = "summary+pools+devs+stats";

describe("a cgminer is read", () => {
  let reading: Reading;
  let simulated: SimulatedRig;
  beforeEach(async () => {
    const started = await start();
    simulated = started.simulated;
    reading = await started.rig.read(deadline());
  });

  test("with every figure that it reports, in SI units", () => {
    const { readings } = reading;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(readings.hashrate).toBeCloseTo(simulated.model.hashrate(5), -9);
    expect(readings).toMatchObject({
      algorithm: "sha256",
      uptime: 3600,
      mining: true,
      power: null,
      powerSource: null,
      notes: [],
      shares: { accepted: expect.any(Number), rejected: expect.any(Number), hardwareErrors: expect.any(Number) },
    });
    expect(readings.boards.map(({ slot }) => slot)).toEqual([0, 1, 2]);
    expect(readings.temperature).toBe(Math.max(...readings.boards.map(({ temperature }) => temperature ?? 0)));
  });

  test("with its devices, its pools and what it is", () => {
    expect(reading.devices).toHaveLength(3);
    expect(reading.devices[0]).toMatchObject({ kind: "asic", status: "enabled", hashrate: expect.any(Number) });
    expect(reading.pools[0]).toMatchObject({
      index: 0,
      url: "stratum+tcp://pool.example.com:3333",
      worker: "acct.cgminer-1",
      status: "enabled",
      active: true,
      priority: 0,
      quota: 1,
      devFee: false,
    });
    expect(reading).toMatchObject({
      software: "CgMiner",
      logInterval: 5,
      workUtility: expect.any(Number),
      identity: { make: "cgminer", firmware: "cgminer 4.11.1", mac: null },
    });
  });

  test("and offers what it allows, but never to quit", () => {
    expect(values(reading)).toEqual({ restart: null, board_0: true, board_1: true, board_2: true });
    expect(reading.poolActions).toEqual(["add", "switch", "enable", "disable", "remove", "prioritize"]);
  });

  test("with one connection a read once its questions are answered", async () => {
    const rig = rigAt(cgminer, simulated.address);
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(1);
  });
});

test("a bfgminer is read by its own names", async () => {
  const { rig } = await start({ dialect: "bfgminer" });
  const reading = await rig.read(deadline());
  expect(reading).toMatchObject({ software: "BfgMiner", logInterval: 20, identity: { make: "bfgminer" } });
  expect(reading.devices[0]?.kind).toBe("pga");
  expect(reading.readings.hashrate).toBeGreaterThan(1e12);
});

test("an Antminer shows its boards, fans and rated speed, and joins no commands", async () => {
  const { rig, simulated } = await start({ dialect: "bmminer" });
  const { readings, identity, software, controls } = await rig.read(deadline());
  expect(identity).toMatchObject({ make: "Antminer", model: "Antminer S19" });
  expect(software).toBeNull();
  expect(readings.hashrateExpected).toBe(95e12);
  expect(readings.fans).toHaveLength(4);
  expect(readings.boards).toHaveLength(3);
  expect(readings.boards[0]).toMatchObject({ slot: 1, chips: 76, frequency: 675e6, hashrate: expect.any(Number) });
  expect(controls.map(({ key }) => key)).toEqual(["restart"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(4);
});

describe("statistics of Bitmain's rigs", () => {
  const read = async (stats: object, more: object = {}): Promise<Reading> => {
    const rig = await answering({ [all]: joined({ "GHS 5s": "100.5", ...more }, [{ BMMiner: "1" }, stats]) });
    return rig.read(deadline());
  };

  test("of an S9 have boards 6 to 8 and fans 3 and 6", async () => {
    const { readings } = await read({
      ...Object.fromEntries(
        [6, 7, 8].flatMap((slot) => [
          [`chain_acn${slot}`, 63],
          [`chain_rate${slot}`, "4,500.25"],
          [`temp${slot}`, 60 + slot],
          [`temp2_${slot}`, 75],
        ]),
      ),
      chain_acn1: 0,
      chain_acs6: " oooooooo ooxo",
      frequency: "650",
      fan_num: 2,
      fan1: 0,
      fan3: 5880,
      fan6: 0,
    });
    expect(
      readings.boards.map(({ slot, temperature, chips, chipsExpected, hashrate }) => [
        slot,
        temperature,
        chips,
        chipsExpected,
        hashrate,
      ]),
    ).toEqual([
      [6, 66, 62, 63, 4_500_250_000_000],
      [7, 67, 63, null, 4_500_250_000_000],
      [8, 68, 63, null, 4_500_250_000_000],
    ]);
    expect(readings.boards[0]?.frequency).toBe(650e6);
    expect(readings.fans).toEqual([
      { rpm: 5880, percent: null },
      { rpm: 0, percent: null },
    ]);
    expect(readings.temperature).toBe(68);
  });

  test("with sensors at 0 and 255 say no temperature, and a liquid-cooled rig no fans", async () => {
    const { readings } = await read({
      chain_acn1: 84,
      temp_pcb1: "0-0-255-44",
      temp_chip1: "0-0",
      temp2_1: 255,
      fan1: 0,
      fan_num: 0,
    });
    expect(readings.boards[0]).toMatchObject({ temperature: 44, chipTemperature: null });
    expect(readings.fans).toEqual([]);
  });

  test("count in the unit that they name, as Ethash rigs do", async () => {
    const { readings } = await read({ chain_acn1: 8, chain_rate1: "800", rate_unit: "MH", total_rateideal: 2400 });
    expect(readings.hashrate).toBe(100_500_000);
    expect(readings.boards[0]?.hashrate).toBe(800e6);
    expect(readings.hashrateExpected).toBe(2400e6);
  });
});

test.each([
  [{ "MHS 5s": 1.5 }, 1.5e6, 5],
  [{ "KHS 30s": "2.5", "KHS av": 9 }, 2500, 30],
  [{ "MHS av": 3, "MHS 15m": 4 }, 3e6, null],
  [{ "GHS 5s": "nan", "GHS av": 7 }, 7e9, null],
  [{ "HS RT": 124_500_000, "MHS av": 1 }, 124.5e12, null],
  [{ "MHS 5s": 1e308 }, null, null],
])("the rate of %j is %p H/s", async (fields, hashrate, seconds) => {
  const rig = await answering({ [all]: joined(fields) });
  const { readings, logInterval } = await rig.read(deadline());
  expect([readings.hashrate, logInterval]).toEqual([hashrate, seconds]);
});

test("a sick card is an error, a switched-off one is not, and cards show their own figures", async () => {
  const card = {
    "MHS 5s": 30,
    "Fan Speed": 2100,
    "Fan Percent": 55,
    "GPU Clock": 1100,
    "Memory Clock": 1750,
    "GPU Voltage": 0.95,
    "GPU Activity": 99,
    Powertune: -20,
    Intensity: "D",
  };
  const rig = await answering({
    [all]: joined(
      {},
      [],
      [
        { GPU: 0, Enabled: "Y", Status: "Sick", Temperature: 71.5, ...card },
        { GPU: 1, Enabled: "N", Status: "Dead", Temperature: 0 },
      ],
    ),
  });
  const { devices, readings } = await rig.read(deadline());
  expect(devices[0]).toMatchObject({
    kind: "gpu",
    status: "sick",
    hashrate: 30e6,
    temperature: 71.5,
    fanRpm: 2100,
    fanPercent: 55,
    clock: 1100e6,
    memoryClock: 1750e6,
    voltage: 0.95,
    activity: 99,
    powertune: -20,
    intensity: "D",
  });
  expect(devices[1]).toMatchObject({ status: "disabled", temperature: null });
  expect(readings.errors).toEqual([{ code: "device.sick", text: "GPU 0 is sick" }]);
  expect(readings.fans).toEqual([{ rpm: 2100, percent: 55 }]);
});

test("a pool of the firmware's maker is shown as such and cannot be changed", async () => {
  const pools = [
    { POOL: 0, URL: "DevFee", User: "DevFee", Status: "Alive" },
    { POOL: 1, URL: "a:1", User: "b", Status: "Dead" },
  ];
  const rig = await answering({ [all]: joined({}, [], [], pools), pools: { ...ok, POOLS: pools } });
  const reading = await rig.read(deadline());
  expect(reading.pools.map(({ devFee, status }) => [devFee, status])).toEqual([
    [true, "enabled"],
    [false, "dead"],
  ]);
  await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "not.possible" });
});

describe("pools", () => {
  test("are added with commas and backslashes escaped", async () => {
    const { rig, simulated } = await start();
    const login = { url: "stratum+tcp://new.example.org:4444", worker: "a,b", password: "p\\w,d" };
    await expect(rig.pools.add?.(login, deadline())).resolves.toContain("Added pool 2");
    expect(simulated.requests.writes.at(-1)).toContain("a\\,b,p\\\\w\\,d");
    expect((await poolAt(rig, 2)).worker).toBe("a,b");
  });

  test.each(["stratum+tcp://a,b:1", "stratum+tcp://a|b:1", "nonsense"])("are not added at %s", async (url) => {
    const { rig, simulated } = await start();
    await expect(rig.pools.add?.({ url, worker: "w", password: "p" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that the rig rejects are refused without their password", async () => {
    const said = String.raw`Invalid addpool details 'a:1,w,geheim\,1' (geheim,1)`;
    const refusal = { STATUS: [{ STATUS: "E", Code: 53, Msg: said }] };
    const rig = await answering({ "addpool|a:1,w,geheim\\,1": refusal });
    const login = { url: "a:1", worker: "w", password: "geheim,1" };
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringMatching(/^(?!.*geheim).*Invalid addpool details '\*\*\*'/),
    });
  });

  test("are switched to, switched off and on, put first and removed, in the rig's own words", async () => {
    const { rig } = await start();
    await expect(rig.pools.switch?.(await poolAt(rig, 1), deadline())).resolves.toContain("Switching to pool 1");
    expect(listed(await rig.read(deadline()))).toEqual(["*backup.example.net:3333", "pool.example.com:3333"]);
    await expect(rig.pools.prioritize?.(await poolAt(rig, 0), deadline())).resolves.toBe("Changed pool priorities");
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    await expect(rig.pools.disable?.(await poolAt(rig, 1), deadline())).resolves.toContain("Disabling pool 1");
    await expect(rig.pools.disable?.(await poolAt(rig, 1), deadline())).resolves.toContain("already disabled");
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "-backup.example.net:3333"]);
    await expect(rig.pools.enable?.(await poolAt(rig, 1), deadline())).resolves.toContain("Enabling pool 1");
    await expect(rig.pools.remove?.(await poolAt(rig, 1), deadline())).resolves.toContain("Removed pool 1");
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
  });

  test("are found again after the others have moved, and missed when they are gone", async () => {
    const { rig, simulated } = await start();
    const [first, second] = [await poolAt(rig, 0), await poolAt(rig, 1)];
    await rig.pools.switch?.(second, deadline());
    await rig.pools.remove?.(first, deadline());
    await rig.pools.add?.({ url: "stratum+tcp://c.example.com:1", worker: "w", password: "" }, deadline());
    await rig.pools.disable?.(await poolAt(rig, 1), deadline());
    await rig.pools.enable?.(second, deadline());
    expect(simulated.requests.writes.at(-1)).toContain("enablepool|0");
    await expect(rig.pools.switch?.(first, deadline())).rejects.toMatchObject({ code: "not.possible" });
  });
});

describe("controls", () => {
  test("switch boards and restart, in the rig's own words", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("board_1", false, deadline())).resolves.toContain("disable flag");
    expect(values(await rig.read(deadline()))).toMatchObject({ board_0: true, board_1: false });
    await rig.set("board_1", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ board_1: true });
    await expect(rig.set("restart", true, deadline())).resolves.toBe("RESTART");
    expect(simulated.requests.writes).toEqual(["ascdisable|1", "ascenable|1", "restart"]);
  });

  test("that are not offered, and values of the wrong kind, send nothing", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.set("board_7", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.set("board_1", "off", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
  });
});

describe("what a rig allows", () => {
  test("is nothing when it may only be read, and a note explains how to allow more", async () => {
    const { rig } = await start({ privileged: false });
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.readings.notes).toEqual([expect.stringContaining("--api-allow W:")]);
  });

  test("is asked again after it has refused something, in its own words", async () => {
    const { rig, simulated } = await start();
    const pool = await poolAt(rig, 1);
    simulated.fault = "denied";
    await expect(rig.pools.switch?.(pool, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Access denied to 'switchpool' command"),
    });
    expect((await rig.read(deadline())).poolActions).toEqual([]);
  });

  test("is checked over several reads when it answers slowly", async () => {
    let now = 0;
    const { rig } = await start({}, () => {
      now += 400;
      return now;
    });
    const first = await rig.read(deadline());
    expect(first.readings.hashrate).not.toBeNull();
    expect(first.poolActions.length).toBeLessThan(6);
    for (let reads = 0; reads < 8; reads += 1) await rig.read(deadline());
    expect((await rig.read(deadline())).poolActions).toHaveLength(6);
  });

  test("is not asked again merely because time has passed, but when the rig has restarted", async () => {
    const clock = stoppedClock();
    const { rig, simulated } = await start({}, clock.now);
    await rig.read(deadline());
    simulated.fault = "denied";
    const before = simulated.requests.count;
    clock.pass(36_000);
    expect((await rig.read(deadline())).poolActions).not.toEqual([]);
    expect(simulated.requests.count - before).toBe(1);
    simulated.model.restart(0);
    expect((await rig.read(deadline())).poolActions).toEqual([]);
  });
});

test("a request that a rig leaves unanswered is not sent with every read, and what is not answered is not allowed", async () => {
  const asked: string[] = [];
  const rig = await answering({ [all]: joined({}), version: ok, coin: "", "check|addpool": "" }, asked);
  const reading = await rig.read(deadline());
  expect([reading.controls, reading.poolActions]).toEqual([[], []]);
  await rig.read(deadline());
  expect(asked).toEqual([all, "version", "coin", "check|addpool", all]);
});

describe("which rig answers", () => {
  const version = (serial: string): object => ({ ...ok, VERSION: [{ CGMiner: "4.9", DNA: serial }] });
  const elapsed = (seconds: number): object => joined({ Elapsed: seconds });

  test("is asked once, and again when its uptime has fallen", async () => {
    const answers: Record<string, unknown> = { [all]: elapsed(100), version: version("one") };
    const rig = await answering(answers);
    expect((await rig.read(deadline())).identity.serial).toBe("one");
    Object.assign(answers, { [all]: elapsed(110), version: version("other") });
    expect((await rig.read(deadline())).identity.serial).toBe("one");
    Object.assign(answers, { [all]: elapsed(5) });
    expect((await rig.read(deadline())).identity.serial).toBe("other");
  });

  test("is read again where that is in doubt", async () => {
    const answers: Record<string, unknown> = { [all]: elapsed(100), version: version("one") };
    const rig = await answering(answers);
    await rig.read(deadline());
    Object.assign(answers, { [all]: elapsed(9_000), version: version("other") });
    rig.doubt?.();
    expect((await rig.read(deadline())).identity.serial).toBe("other");
  });

  test("is what it reports with every read, where it does", async () => {
    const answers: Record<string, unknown> = { [all]: joined({ MAC: "02:51:00:00:00:01" }), version: version("one") };
    const rig = await answering(answers);
    expect((await rig.read(deadline())).identity.mac).toBe("02:51:00:00:00:01");
    Object.assign(answers, { [all]: joined({ MAC: "02:51:00:00:00:02" }) });
    expect((await rig.read(deadline())).identity.mac).toBe("02:51:00:00:00:02");
  });
});

describe("a rig that joins no commands", () => {
  const apart = { summary: summary({ "MHS 5s": 1 }), pools: { ...ok, POOLS: [] }, devs: ok, stats: ok };

  test.each([
    ["refuses them", {}],
    ["answers them with nothing", { [all]: "" }],
    ["answers them with rubbish", { [all]: "{broken" }],
  ])("because it %s, is asked for each report, and not again for all", async (_, more) => {
    const asked: string[] = [];
    const rig = await answering({ ...apart, ...more }, asked);
    expect((await rig.read(deadline())).readings.hashrate).toBe(1e6);
    await rig.read(deadline());
    expect(asked.filter((command) => command === all)).toHaveLength(1);
  });

  test("and refuses its summary, cannot be read", async () => {
    const rig = await answering({});
    await expect(rig.read(deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Invalid command"),
    });
  });

  test("but hangs on them, is read one by one the next time", async () => {
    const server = await serve((socket, request) => {
      const { command } = JSON.parse(request);
      if (command !== all) socket.end(`${JSON.stringify(Reflect.get(apart, command) ?? ok)}\0`);
    });
    const rig = rigAt(cgminer, `127.0.0.1:${server.port}`);
    await expect(rig.read(deadline(100))).rejects.toMatchObject({ code: "rig.timeout" });
    await expect(rig.read(deadline())).resolves.toMatchObject({ readings: { hashrate: 1e6 } });
  });
});
