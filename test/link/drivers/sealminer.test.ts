import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { sealminer } from "../../../src/link/drivers/sealminer/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { SealminerSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, linkWith, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { closedPort, http, serve } from "../servers.ts";
import { starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { username: "seal", password: "seal" };

const start = starterOf<SealminerSpec>(
  sealminer,
  { kind: "sealminer", warm: true, restartSeconds: 0 },
  owner,
  clock.now,
);

/** A rig with this summary, statistics and pools, and without pages. */
async function showing(summary: object, stats: object, pools: readonly object[] = []): Promise<Rig> {
  const sections: Record<string, object> = {
    summary: { SUMMARY: [summary] },
    stats: { STATS: [stats] },
    pools: { POOLS: pools },
  };
  const server = await serve((socket, request) => {
    if (!request.startsWith("{")) {
      socket.end(http(404, ""));
      return;
    }
    const section = sections[JSON.parse(request).command];
    const status =
      section === undefined ? { STATUS: "E", Code: 14, Msg: "Invalid command" } : { STATUS: "S", Msg: "ok" };
    socket.end(`${JSON.stringify({ STATUS: [status], ...section })}\0`);
  });
  return rigAt(sealminer, `127.0.0.1:${server.port}`);
}

test("is recognised by its RPC", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), {}, deadline());
  expect(found).toMatchObject({ driver: { id: "sealminer" }, identity: { make: "Sealminer" } });
  const version = { STATUS: [{ STATUS: "S" }], VERSION: [{ CGMiner: "4.11.1" }] };
  expect(sealminer.recognise({ root: null, version, pages: {}, reports: {} })).toBeUndefined();
});

test("an A2 is read with every figure that it reports, its rates from MH/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(30), -7);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -7),
    hashrateExpected: expect.closeTo(226e12 * 0.9, -7),
    algorithm: "sha256",
    power: Math.round(model.power),
    powerLimit: 3_500,
    powerSource: "reported",
    temperature: Math.round(model.temperature),
    psu: {
      power: Math.round(model.power * 0.92),
      voltage: 15.67,
      temperature: 26,
      model: "BTPSU04SIM",
      serial: "SIMPSU1",
    },
    uptime: model.elapsed,
    mining: true,
    mode: "normal",
    locate: false,
    bestShare: model.bestShare,
    foundBlocks: 0,
    fans: Array(4).fill({ rpm: model.fanRpm, percent: null }),
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    errors: [],
    notes: [],
  });
  expect(readings.boards).toHaveLength(3);
  expect(readings.boards[2]).toMatchObject({
    slot: 2,
    chips: 152,
    chipsExpected: 153,
    frequency: 347e6,
    serial: "SIMHB2",
    temperature: expect.any(Number),
  });
  expect(reading.identity).toEqual({
    make: "Sealminer",
    model: "A2",
    firmware: "2025091001",
    mac: simulated.mac,
    hostname: null,
    serial: expect.stringContaining("SIM"),
  });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(4);
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig } = await start();
    await rig.set("mode", "low", deadline());
    await rig.set("locate", true, deadline());
    await expect(rig.set("mining", false, deadline())).resolves.toBe("ASC 0 set OK");
    const reading = await rig.read(deadline());
    expect(values(reading)).toEqual({ mining: false, restart: null, mode: "low", locate: true, reboot: null });
    expect(reading.readings).toMatchObject({ mining: false, mode: "low", locate: true });
    expect(haltOf(reading)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    await rig.set("mode", "high", deadline());
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, mode: "high", locate: false });
  });

  test("of restarts turn its counters back", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("Sealminer reboots");
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
    await expect(rig.set("restart", true, deadline())).resolves.toBe("RESTART");
    expect(simulated.requests.writes).toEqual(["reboot", "restart"]);
  });

  test("over its RPC are withheld where it does not allow this computer to write", async () => {
    const { rig } = await start({ privileged: false });
    const reading = await rig.read(deadline());
    expect([Object.keys(values(reading)), reading.poolActions]).toEqual([["mode", "locate", "reboot"], []]);
  });

  test("that the rig refuses fail or do not show, and unknown modes send nothing", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("mode", "custom", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    await expect(rig.set("locate", true, deadline())).resolves.toBe("Not permitted");
    simulated.fault = null;
    expect((await rig.read(deadline())).readings.locate).toBe(false);
  });
});

describe("its login", () => {
  test("when missing leaves what its RPC reports and takes, with the reason", async () => {
    const { rig } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(Object.keys(values(reading))).toEqual(["mining", "restart"]);
    expect(reading.readings).toMatchObject({
      power: expect.any(Number),
      mode: "normal",
      locate: null,
      notes: ["to control all of this rig, configure the password of its page"],
    });
    expect(reading.locked).toMatchObject({ why: "login missing" });
  });

  test("when wrong is tried once, and not shown", async () => {
    const { rig, simulated } = await start({}, { username: "seal", password: "geheim" });
    const reading = await rig.read(deadline());
    expect(reading.locked).toMatchObject({ why: "login wrong" });
    expect(JSON.stringify(reading)).not.toContain("geheim");
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(3);
  });

  test("is renewed by a read when its session has expired, and never by a command", async () => {
    const { rig } = await start({ sessionSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    expect((await rig.read(deadline())).readings.locate).toBe(false);
    clock.pass(61);
    await expect(renewed(rig, () => rig.set("locate", true, deadline()))).resolves.toBe("Sealminer blinks");
  });
});

test("a rig whose pages do not answer is read over its RPC", async () => {
  const { simulated } = await start();
  const { host, port } = parseAddress(simulated.address);
  const link = openLink({ host, port, tls: false }, owner);
  const closed = openLink({ host, port: await closedPort(), tls: false }, owner).http;
  const reading = await sealminer.connect(linkWith(link, { http: closed })).read(deadline());
  expect(reading.readings.hashrate).toBeGreaterThan(1e14);
  expect(reading.readings.notes).toEqual(["its pages do not answer, so only its RPC is read"]);
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim" };

  test("are added, switched, disabled and removed over its RPC", async () => {
    const { rig } = await start();
    expect((await rig.read(deadline())).poolActions).toEqual([
      "add",
      "switch",
      "enable",
      "disable",
      "remove",
      "prioritize",
    ]);
    await rig.pools.add?.(login, deadline());
    await rig.pools.switch?.(await poolAt(rig, 2), deadline());
    await rig.pools.disable?.(await poolAt(rig, 1), deadline());
    expect(listed(await rig.read(deadline()))).toContain("-backup.example.net:3333");
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:4444", "pool.example.com:3333"]);
  });

  test("of the firmware's maker are marked", async () => {
    const rig = await showing({ Elapsed: 1 }, {}, [{ POOL: 0, URL: "stratum+tcp://a.example.com:1", User: "DevFee" }]);
    expect((await rig.read(deadline())).pools).toMatchObject([{ devFee: true }]);
  });
});

describe("the reason why it does not hash", () => {
  test.each([
    [{ "Error Code": "OverTemp" }, "hot"],
    [{ "Error Code": "E17" }, "hardware"],
    [{ "PSU Error": "0x00000004" }, "hardware"],
    [{ "PM State": "Suspend" }, "unknown"],
    [{ "Raise Freq Done": false }, "warming"],
  ])("is in its statistics: %j", async (fields, code) => {
    const rig = await showing({ Elapsed: 9_000 }, { "MHS(Sample)": 0, ...fields });
    expect(haltOf(await rig.read(deadline()))).toMatchObject({ code });
  });

  test("is its pools", async () => {
    const dead = [{ POOL: 0, URL: "stratum+tcp://a.example.com:1", User: "w", Status: "Dead" }];
    const rig = await showing({ Elapsed: 9_000 }, { "MHS(Sample)": 0, "PM State": "Running" }, dead);
    expect(haltOf(await rig.read(deadline()))).toMatchObject({ code: "pools" });
  });
});

test("its rate is that of its chips, not the one of 5 s that swings with the found shares, and without MAC there is none", async () => {
  const rig = await showing(
    { "MHS 5s": 368_479_432, "MHS av": 206_860_473, Elapsed: 2_481 },
    { "MHS(Sample)": 220_377_998, "MHS(Rated)": 230_839_407, MAC: "", "PSU Error": "0x00000000" },
  );
  const { readings, identity } = await rig.read(deadline());
  expect(readings).toMatchObject({
    hashrate: 220.377998e12,
    hashrateAverage: 206.860473e12,
    hashrateExpected: 230.839407e12,
    errors: [],
  });
  expect(identity.mac).toBeNull();
});

test("whatever it answers is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(sealminer, { kind: "sealminer" }, owner);
});
