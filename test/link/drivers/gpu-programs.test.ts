import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { Driver, Reading } from "../../../src/link/driver.ts";
import { lolminer } from "../../../src/link/drivers/lolminer/index.ts";
import { miniz } from "../../../src/link/drivers/miniz/index.ts";
import { nanominer } from "../../../src/link/drivers/nanominer/index.ts";
import { onezerominer } from "../../../src/link/drivers/onezerominer/index.ts";
import { teamblack } from "../../../src/link/drivers/teamblack/index.ts";
import { wildrig } from "../../../src/link/drivers/wildrig/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { ProgramSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, rigAt } from "../rigs.ts";
import { http, serve } from "../servers.ts";

const clock = stoppedClock();

async function start(spec: ProgramSpec): Promise<SimulatedRig> {
  const rig = await startRig({ ...spec, warm: true }, clock.now);
  return rig;
}

/** Read by the clock of the virtual computer. */
const read = (driver: Driver, { address }: SimulatedRig): Promise<Reading> =>
  connect(driver, openLink(parseAddress(address), {}, undefined, undefined, undefined, clock.now)).read(deadline());

const readingOf = async (driver: Driver, spec: ProgramSpec): Promise<Reading> => read(driver, await start(spec));

/** A read of a program whose pages are these, others not found. */
async function replying(driver: Driver, pages: Readonly<Record<string, unknown>>): Promise<Reading> {
  const server = await serve((socket, request) => {
    const [, path = ""] = request.split(" ");
    const page = pages[path];
    socket.end(page === undefined ? http(404, "Not Found") : http(200, JSON.stringify(page)));
  });
  return rigAt(driver, `127.0.0.1:${server.port}`).read(deadline());
}

/** The cards' buses in the order of the virtual computer, 11 of which has a letter in hexadecimal digits. */
const buses = [1, 2, 5, 6, 10, 11];

const programs: readonly {
  readonly driver: Driver;
  readonly spec: ProgramSpec;
  readonly software: string;
  readonly firmware: string | null;
  readonly cards: number;
  /** Figures of a card that the program does not report. */
  readonly lacks?: readonly string[];
}[] = [
  {
    driver: lolminer,
    spec: { kind: "lolminer", hardware: "nvidiaCards" },
    software: "LolMiner",
    firmware: "lolMiner 1.98a",
    cards: 6,
  },
  {
    driver: lolminer,
    spec: { kind: "lolminer", hardware: "nvidiaCards", older: true },
    software: "LolMiner",
    firmware: "lolMiner 1.26",
    cards: 6,
    lacks: ["clock", "memoryClock"],
  },
  {
    driver: onezerominer,
    spec: { kind: "onezerominer" },
    software: "OneZeroMiner",
    firmware: "OneZeroMiner 1.8.0",
    cards: 6,
  },
  {
    driver: onezerominer,
    spec: { kind: "onezerominer", older: true },
    software: "OneZeroMiner",
    firmware: "OneZeroMiner 1.7.4",
    cards: 6,
    lacks: ["hardwareErrors"],
  },
  {
    driver: wildrig,
    spec: { kind: "wildrig", hardware: "nvidiaCards" },
    software: "WildRigMulti",
    firmware: "WildRig 0.49.6",
    cards: 6,
    lacks: ["memoryTemperature"],
  },
  {
    driver: nanominer,
    spec: { kind: "nanominer" },
    software: "NanoMiner",
    firmware: null,
    cards: 6,
    lacks: ["memoryTemperature", "clock", "memoryClock", "hardwareErrors"],
  },
  {
    driver: teamblack,
    spec: { kind: "teamblack" },
    software: "TeamBlackMiner",
    firmware: "Team Black Miner 2.44",
    cards: 6,
    lacks: ["hardwareErrors"],
  },
  {
    driver: teamblack,
    spec: { kind: "teamblack", older: true },
    software: "TeamBlackMiner",
    firmware: "Team Black Miner 1.10",
    cards: 6,
    lacks: ["hardwareErrors"],
  },
  {
    driver: miniz,
    spec: { kind: "miniz" },
    software: "MiniZ",
    firmware: "miniZ 2.5e3",
    cards: 6,
    lacks: ["memoryTemperature", "hardwareErrors"],
  },
];

const named = programs.map((each) => [each.firmware ?? each.software, each] as const);

describe.each(named)("%s", (_, { driver, spec, software, firmware, cards, lacks = [] }) => {
  test("is read with every figure that it reports, in SI units", async () => {
    const simulated = await start(spec);
    const reading = await read(driver, simulated);
    const { readings, devices, pools, identity } = reading;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(readings.notes).toEqual([]);
    expect(reading.software).toBe(software);
    expect(identity.firmware).toBe(firmware);
    expect(readings.hashrate).toBeGreaterThan(0.9 * simulated.model.ratedHashrate);
    expect(readings.hashrate).toBeLessThan(1.1 * simulated.model.ratedHashrate);
    expect(readings).toMatchObject({ mining: true, dual: null, uptime: 3600, powerSource: "reported" });
    expect(readings.power).toBeGreaterThan(500);
    expect(readings.algorithm).not.toBeNull();
    expect(readings.shares.accepted).toBe(simulated.model.shares.accepted);
    expect(readings.shares.rejected).toBe(simulated.model.shares.rejected);
    expect(readings.temperature).toBe(Math.max(...devices.map(({ temperature }) => temperature ?? 0)));
    expect(readings.fans).toHaveLength(cards);
    expect(pools).toMatchObject([{ active: true, status: "enabled" }]);
    expect(pools[0]?.url).toBe("stratum+tcp://pool.example.com:3333");
    expect(devices.map(({ bus }) => bus)).toEqual(buses);
    for (const device of devices) {
      const { hashrate, temperature, memoryTemperature, fanPercent, clock: core, memoryClock, power } = device;
      expect(device).toMatchObject({ kind: "gpu", status: "enabled", accepted: expect.any(Number) });
      const known = Object.entries({ temperature, memoryTemperature, fanPercent, clock: core, memoryClock, power });
      for (const [key, value] of known) expect([key, value === null]).toEqual([key, lacks.includes(key)]);
      expect(hashrate).toBeGreaterThan(50e6);
      expect(device.hardwareErrors).toBe(lacks.includes("hardwareErrors") ? null : (device.hardwareErrors ?? 0));
      if (core !== null) expect(core).toBe(simulated.model.frequency);
    }
  });

  test("is recognised at its port, and offers nothing", async () => {
    const simulated = await start(spec);
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect(found.driver.id).toBe(driver.id);
    const reading = await found.rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    await expect(found.rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
    found.rig.close();
  });

  test("without a pool does not mine, and shows why", async () => {
    const simulated = await start(spec);
    simulated.model.change((model) => {
      for (const pool of model.pools) pool.alive = false;
    });
    clock.pass(120);
    const reading = await read(driver, simulated);
    expect(reading.readings).toMatchObject({ hashrate: 0, mining: false });
    expect(haltOf(reading)?.code).toBe("pools");
  });
});

test.each([lolminer, onezerominer, wildrig, nanominer, teamblack, miniz])(
  "$name: the answer of something else is no reading",
  async (driver) => {
    await expect(replying(driver, { "/": { a: 1 }, "/summary": { a: 1 }, "/stats": [1] })).rejects.toMatchObject({
      code: expect.stringMatching(/^rig\.(garbled|refused)$/),
    });
  },
);

test.each<[string, Driver, ProgramSpec]>([
  ["lolMiner", lolminer, { kind: "lolminer", dualAlgorithm: "KASPA" }],
  ["OneZeroMiner", onezerominer, { kind: "onezerominer", dualAlgorithm: "qhash" }],
  ["nanominer", nanominer, { kind: "nanominer", dualAlgorithm: "HeavyHash" }],
  ["Team Black Miner", teamblack, { kind: "teamblack", dualAlgorithm: "kawpow" }],
])("%s shows its second algorithm apart from the first", async (_, driver, spec) => {
  const single = await readingOf(driver, { ...spec, kind: spec.kind });
  const { readings, pools, devices } = single;
  expect(readings.dual).toMatchObject({
    algorithm: spec.dualAlgorithm,
    shares: { accepted: expect.any(Number), rejected: expect.any(Number) },
  });
  expect(readings.dual?.hashrate).toBeGreaterThan(4 * (readings.hashrate ?? 0));
  expect(readings.algorithm).not.toBe(spec.dualAlgorithm);
  expect(pools.map(({ url, active, dual }) => [url, active, dual === true])).toEqual([
    ["stratum+tcp://pool.example.com:3333", true, false],
    ["stratum+tcp://second.example.org:5555", false, true],
  ]);
  // Each card once, with the rate of the first algorithm.
  const sum = devices.reduce((all, { hashrate }) => all + (hashrate ?? 0), 0);
  expect(new Set(devices.map(({ bus }) => bus)).size).toBe(devices.length);
  expect(sum / (readings.hashrate ?? 1)).toBeCloseTo(1, 1);
});

describe("lolMiner", () => {
  const algorithm = {
    Algorithm: "Equihash 144/5",
    Pool: "pool.example.com:3333",
    User: "wallet",
    Worker: "rig",
    Performance_Unit: "sol/s",
    Performance_Factor: 1,
    Total_Performance: 120.5,
    Worker_Performance: [60.25, 60.25],
  };
  const worker = (PCIE_Address: string) => ({ Name: "RTX", PCIE_Address });
  const reply = (Algorithms: readonly object[], ...addresses: readonly string[]) => ({
    "/summary": { Software: "lolMiner 1.98a", Session: {}, Workers: addresses.map(worker), Algorithms },
  });

  test.each([
    [{ Performance_Unit: "sol/s", Performance_Factor: 1 }, 120.5],
    [{ Performance_Unit: "g/s", Performance_Factor: 1 }, 120.5],
    [{ Performance_Unit: "Mh/s", Performance_Factor: 1e6 }, 120.5e6],
    [{ Performance_Unit: "Mh/s", Performance_Factor: undefined }, 120.5e6],
    [{ Performance_Unit: "mh/s", Performance_Factor: 0 }, 120.5e6],
    [{ Performance_Unit: "g/s", Performance_Factor: undefined }, 120.5],
    [{ Performance_Unit: "Gh/s", Performance_Factor: undefined }, 120.5e9],
  ])("counts %j in its base unit", async (unit, hashrate) => {
    const { readings, devices } = await replying(lolminer, reply([{ ...algorithm, ...unit }], "1:0", "2:0"));
    expect(readings.hashrate).toBe(hashrate);
    expect(devices[0]?.hashrate).toBe(hashrate / 2);
  });

  test("reads its buses as decimal numbers, unless one has a letter", async () => {
    const decimal = await replying(lolminer, reply([algorithm], "1:0", "10:0"));
    expect(decimal.devices.map(({ bus }) => bus)).toEqual([1, 10]);
    const hexadecimal = await replying(lolminer, reply([algorithm], "10:0", "a:0", "zz"));
    expect(hexadecimal.devices.map(({ bus }) => bus)).toEqual([16, 10, null]);
  });

  test("joins wallet and worker as the pool knows them, and notes a third algorithm", async () => {
    const three = [algorithm, { ...algorithm, User: "wallet.rig" }, { ...algorithm, Algorithm: "ZIL" }];
    const { pools, readings } = await replying(lolminer, reply(three, "1:0", "2:0"));
    expect(pools.map(({ worker: login }) => login)).toEqual(["wallet.rig", "wallet.rig"]);
    expect(readings.notes).toEqual([expect.stringContaining("3 algorithms")]);
  });

  test("up to 1.3 counts what was submitted and not accepted as rejected", async () => {
    const card = { Name: "RX 580", Performance: 30.5, Session_Accepted: 20, Session_Submitted: 22, Session_HWErr: 1 };
    const { readings, devices } = await replying(lolminer, {
      "/summary": {
        Software: "lolMiner 1.26",
        Mining: { Algorithm: "Ethash" },
        Session: { Performance_Summary: 30.5, Performance_Unit: "mh/s", Accepted: 20, Submitted: 22 },
        GPUs: [{ ...card, "Mem Temp (deg C)": 0, "Temp (deg C)": 61, Session_BestShare: 594_262_786_537 }],
      },
    });
    expect(readings).toMatchObject({
      hashrate: 30.5e6,
      shares: { accepted: 20, rejected: 2, hardwareErrors: 1 },
      bestShare: 594_262_786_537,
      power: null,
    });
    expect(devices).toMatchObject([{ temperature: 61, memoryTemperature: null, accepted: 20, rejected: 2 }]);
  });
});

describe("Team Black Miner", () => {
  test("1.x, which writes 0 as the bus of each card, has cards without a bus", async () => {
    const thread = { gpu: 0, pcie_id: 0, board_name: "GTX 1070", gpu_temp: 76, mem_temp: 0, hashrate: 23_644_237 };
    const { devices, readings, pools } = await replying(teamblack, {
      "/miner": { name: "TBMiner", version: "1.10", total_hashrate: 24_132_474, total_accepted: 2, uptime_minutes: 5 },
      "/threads": { "0": thread },
      "/pool": { url: "pool.example.org", worker: "fr", algo: "ethash" },
    });
    expect(devices).toMatchObject([{ bus: null, temperature: 76, memoryTemperature: null, hashrate: 23_644_237 }]);
    expect(readings).toMatchObject({ hashrate: 24_132_474, uptime: 300, algorithm: "ethash" });
    expect(pools).toMatchObject([{ url: "stratum+tcp://pool.example.org", worker: "fr" }]);
  });
});

describe("WildRig", () => {
  test("before it reported its cards shows their rates, and its shares as sums", async () => {
    const { readings, devices } = await readingOf(wildrig, { kind: "wildrig", older: true });
    expect(devices).toHaveLength(4);
    expect(devices[0]).toMatchObject({ name: "GPU", hashrate: expect.any(Number), temperature: null, bus: null });
    expect(readings).toMatchObject({ power: null, powerSource: null, shares: { accepted: expect.any(Number) } });
  });

  test("is not an old XMRig with a page of the same shape", async () => {
    const page = { ua: "XMRig/2.14.1", kind: "cpu", hashrate: { total: [1], threads: [[1]] }, results: {} };
    await expect(replying(wildrig, { "/": page })).rejects.toMatchObject({ code: "rig.garbled" });
  });
});

describe("nanominer", () => {
  test("on cards and a processor shows each with the algorithm that it mines", async () => {
    const work = (Hashrate: string) => ({ Accepted: 1, Denied: 0, Hashrate });
    const { readings, devices } = await replying(nanominer, {
      "/stats": {
        Algorithms: [
          { Ethash: { CurrentPool: "a.example.com:1", "GPU 0": work("1.136852e+07"), Total: work("1.136852e+07") } },
          { RandomX: { CurrentPool: "b.example.com:2", CPU: work("1.967431e+02"), Total: work("1.967431e+02") } },
        ],
        Devices: [
          {
            CPU: { Name: "Ryzen", Platform: "CPU" },
            "GPU 0": { Name: "GTX", Pci: "0a:00.0", Temperature: 39, Fan: 0 },
          },
        ],
        WorkTime: 9078,
      },
    });
    expect(readings).toMatchObject({
      algorithm: "Ethash",
      hashrate: 11_368_520,
      dual: { algorithm: "RandomX", hashrate: 196.7431 },
      uptime: 9078,
    });
    expect(devices).toMatchObject([
      { kind: "cpu", name: "Ryzen", hashrate: 196.7431, bus: null },
      { kind: "gpu", name: "GTX", hashrate: 11_368_520, bus: 10, fanPercent: 0 },
    ]);
  });
});

describe("miniZ", () => {
  test("is read with and without the head of a reply over HTTP", async () => {
    for (const older of [false, true]) {
      const { readings, devices } = await readingOf(miniz, { kind: "miniz", older });
      expect([readings.algorithm, devices.length]).toEqual(["Equihash 144/5", 6]);
    }
  });

  test("shows a card that does not mine as disabled, and its power as unknown only where it is used", async () => {
    const simulated = await start({ kind: "miniz" });
    simulated.model.change((model) => model.boardsLost.add(2));
    clock.pass(60);
    const { devices, readings } = await read(miniz, simulated);
    expect(devices.map(({ status }) => status)).toEqual([
      ...["enabled", "enabled", "disabled", "enabled", "enabled", "enabled"],
    ]);
    expect(devices[2]).toMatchObject({ temperature: null, power: null });
    expect(readings.power).not.toBeNull();
  });
});
