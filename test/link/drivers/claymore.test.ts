import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { claymore } from "../../../src/link/drivers/claymore/index.ts";
import type { ProgramSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, rigAt, values } from "../rigs.ts";
import { serve } from "../servers.ts";

async function start(
  spec: Partial<ProgramSpec> = {},
  password?: string,
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "claymore", warm: true, ...spec }, () => 1.8e12);
  const rig = rigAt(claymore, simulated.address, password === undefined ? {} : { password });
  return { rig, simulated };
}

/** A program that answers these statistics to both requests. */
async function answering(result: unknown, answer = (text: string, socket: Socket) => void socket.end(text)) {
  const server = await serve((socket) => answer(`${JSON.stringify({ id: 1, jsonrpc: "2.0", result })}\n`, socket));
  return rigAt(claymore, `127.0.0.1:${server.port}`);
}

test("PhoenixMiner is read with its cards", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings, devices, identity } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({
    hashrate: expect.any(Number),
    algorithm: "etchash",
    dual: null,
    power: Math.round(simulated.model.power),
    powerSource: "reported",
    temperature: 61,
    uptime: 3600,
    mining: true,
    shares: { accepted: expect.any(Number), rejected: expect.any(Number), hardwareErrors: 0 },
    notes: [],
  });
  expect(readings.hashrate).toBeGreaterThan(300e6);
  expect(readings.hashrate).toBeLessThan(400e6);
  expect(devices).toHaveLength(6);
  expect(devices[4]).toMatchObject({
    kind: "gpu",
    name: "GPU 4",
    status: "enabled",
    bus: 10,
    fanPercent: expect.any(Number),
    temperature: expect.any(Number),
    accepted: expect.any(Number),
    rejected: expect.any(Number),
  });
  const sum = devices.reduce((all, { hashrate }) => all + (hashrate ?? 0), 0);
  expect(Math.abs(sum - (readings.hashrate ?? 0))).toBeLessThan(10_000);
  expect(identity).toMatchObject({ make: "PhoenixMiner", firmware: "PhoenixMiner 6.2c" });
  expect(reading.software).toBe("PhoenixMiner");
  expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
});

test("a second coin is shown beside the first, with its own pool", async () => {
  const { rig } = await start({ dualAlgorithm: "blake256r14" });
  const { readings, pools } = await rig.read(deadline());
  expect(readings.dual).toMatchObject({
    algorithm: "blake256r14",
    hashrate: expect.any(Number),
    shares: { accepted: expect.any(Number), rejected: expect.any(Number) },
  });
  expect(readings.dual?.hashrate).toBeGreaterThan(5 * (readings.hashrate ?? 0));
  expect(pools.map(({ url, active, dual }) => [url, active, dual])).toEqual([
    ["stratum+tcp://pool.example.com:3333", true, undefined],
    ["stratum+tcp://second.example.org:5555", false, true],
  ]);
});

test("the longer statistics are asked for once; without them the short ones are read", async () => {
  const { rig, simulated } = await start();
  const asked = async (): Promise<number> => {
    const before = simulated.requests.count;
    await rig.read(deadline());
    return simulated.requests.count - before;
  };
  expect([await asked(), await asked()]).toEqual([2, 1]);
  const other = await start({ older: true });
  const reading = await other.rig.read(deadline());
  expect(reading).toMatchObject({ software: "TTMiner", controls: [], identity: { make: "TT-Miner" } });
  expect(reading.readings.hashrate).toBeGreaterThan(300e6);
  expect(reading.devices[0]).toMatchObject({ bus: null, accepted: null });
});

describe("its password", () => {
  test("is sent with each request", async () => {
    const { rig } = await start({ password: "geheim" }, "geheim");
    await expect(rig.read(deadline())).resolves.toMatchObject({ software: "PhoenixMiner" });
  });

  test.each([undefined, "falsch"])("that is %s is an error that names it, and never shows it", async (password) => {
    const { rig } = await start({ password: "geheim" }, password);
    const failure = rig.read(deadline());
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining("may require a password") });
    await expect(failure).rejects.toMatchObject({ message: expect.stringMatching(/^(?!.*(?:falsch|geheim))/) });
  });
});

describe("controls", () => {
  test("switch one card and all of them, and are read back", async () => {
    const { rig, simulated } = await start();
    expect(values(await rig.read(deadline()))).toMatchObject({
      mining: true,
      restart: null,
      board_0: true,
      board_5: true,
    });
    await rig.set("board_2", false, deadline());
    const one = await rig.read(deadline());
    expect(values(one)).toMatchObject({ mining: true, board_1: true, board_2: false });
    expect(one.devices[2]).toMatchObject({ status: "disabled", hashrate: 0 });
    await rig.set("mining", false, deadline());
    const none = await rig.read(deadline());
    expect([values(none).mining, none.readings.mining, none.readings.hashrate]).toEqual([false, false, 0]);
    await rig.set("mining", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, board_2: true });
    expect(simulated.requests.writes).toEqual([
      '{"method":"control_gpu","params":["2","0"]}',
      '{"method":"control_gpu","params":["-1","0"]}',
      '{"method":"control_gpu","params":["-1","1"]}',
    ]);
  });

  test("return a card to both coins where two were mined", async () => {
    const { rig, simulated } = await start({ dualAlgorithm: "blake256r14" });
    await rig.read(deadline());
    await rig.set("board_1", false, deadline());
    await rig.set("board_1", true, deadline());
    expect(simulated.requests.writes.at(-1)).toBe('{"method":"control_gpu","params":["1","2"]}');
  });

  test("restart it, which shows in its uptime", async () => {
    const { rig, simulated } = await start({ restartSeconds: 0 });
    await rig.read(deadline());
    await rig.set("restart", true, deadline());
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
    expect(simulated.requests.writes).toEqual(['{"method":"miner_restart"}']);
  });

  test("that a program refuses are an error in its words", async () => {
    const server = await serve((socket, request) =>
      socket.end(
        request.includes("getstat")
          ? `${JSON.stringify({ result: ["PM 6.2c - ETH", "1", "1;0;0", "1", "0;0;0", "off", "60;50", "a:1"] })}\n`
          : '{"id":1,"error":{"code":-1,"message":"read-only"}}\n',
      ),
    );
    const rig = rigAt(claymore, `127.0.0.1:${server.port}`);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("read-only"),
    });
  });
});

describe("statistics of other programs", () => {
  test.each<[string, string, string | null, number]>([
    ["11.8 - ETH", "Claymore", "ClaymoreEthereum", 30_502_000],
    ["12.6 - ZEC", "Claymore", "ClaymoreEthereum", 30_502],
    ["TeamRedMiner 0.10.21 - ETH", "TeamRedMiner", "TeamRedMiner", 30_502_000],
    ["Something else", "Claymore API", null, 30_502_000],
  ])("%s", async (version, make, software, hashrate) => {
    const rig = await answering([
      version,
      "21",
      "30502;51;1",
      "30502",
      "0;0;0",
      "off",
      "53;71",
      "a.example.com:1",
      "2;0",
    ]);
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ software, identity: { make }, readings: { hashrate } });
    expect(reading.readings.shares).toEqual({ accepted: 51, rejected: 1, hardwareErrors: 2 });
  });

  test("sensors that are left out for cards that are off belong to the others", async () => {
    const rig = await answering(["11.8 - ETH", "1", "9;0;0", "5;off;4", "0;0;0", "off;off;off", "51;10;53;30", "a:1"]);
    const { devices } = await rig.read(deadline());
    expect(devices.map(({ status, temperature, fanPercent }) => [status, temperature, fanPercent])).toEqual([
      ["enabled", 51, 10],
      ["disabled", null, null],
      ["enabled", 53, 30],
    ]);
  });

  test("a login in a pool's address is not shown", async () => {
    const rig = await answering([
      "11.8 - ETH",
      "1",
      "9;0;0",
      "9",
      "0;0;0",
      "off",
      "5;1",
      "ssl://w:geheim@a.example.com:1",
    ]);
    expect((await rig.read(deadline())).pools).toMatchObject([{ url: "ssl://a.example.com:1", worker: "w" }]);
  });

  test.each([[null], [{}], [["a"]], [[1, {}, "", "", "", "", "", ""]]])("%j is none", async (result) => {
    await expect((await answering(result)).read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
  });
});
