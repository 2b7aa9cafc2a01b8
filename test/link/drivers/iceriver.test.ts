import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { iceriver } from "../../../src/link/drivers/iceriver/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { IceriverSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { username: "admin", password: "12345678" };

const start = starterOf<IceriverSpec>(iceriver, { kind: "iceriver", warm: true, restartSeconds: 0 }, owner, clock.now);

/** A rig whose panel is open and shows this. */
async function showing(data: unknown, credentials: Credentials = {}): Promise<Rig> {
  const server = await serve((socket) => socket.end(http(200, JSON.stringify({ error: 0, data }))));
  return rigAt(iceriver, `127.0.0.1:${server.port}`, credentials);
}

test.each(["<html><HEAD><TITLE>用户界面</TITLE></HEAD></html>", "<!doctype html><title>IceRiver</title>"])(
  "is recognised by its page: %s",
  async (page) => {
    const server = await serve((socket) => socket.end(http(200, page)));
    const found = await identify(parseAddress(`127.0.0.1:${server.port}`), {}, deadline());
    expect([found.driver.id, found.identity.make]).toEqual(["iceriver", "IceRiver"]);
  },
);

test("a KS5L is read with every figure that it reports, its rates from GH/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -9);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -9),
    algorithm: "kheavyhash",
    power: null,
    temperature: Math.round(model.temperature),
    temperatureIn: Math.round(model.temperature) - 12,
    temperatureOut: Math.round(model.temperature),
    uptime: model.elapsed,
    mining: true,
    locate: false,
    shares: { ...model.shares, hardwareErrors: null },
    fans: Array(4).fill({ rpm: model.fanRpm, percent: null }),
    errors: [],
    notes: [],
  });
  expect(readings.boards).toHaveLength(3);
  expect(readings.boards[0]).toMatchObject({ slot: 1, chips: 72, frequency: 1e9, temperature: readings.temperature });
  expect(reading.identity).toEqual({
    make: "IceRiver",
    model: "KS5L",
    firmware: "ver1.2_ks5L_miner",
    mac: simulated.mac,
    hostname: "iceriver-1",
    serial: null,
  });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(1);
});

describe("hash rates", () => {
  test.each([
    [{ rtpow: "15011G", unit: "G" }, 15.011e12],
    [{ rtpow: "15.01T", unit: "G" }, 15.01e12],
    [{ rtpow: 230.5, unit: "M" }, 230.5e6],
    [{ rtpow: "230.5", unit: "G" }, 230.5e9],
    [{ rtpow: "230.5", unit: "?" }, null],
    [{ rtpow: "-" }, null],
  ])("%j", async (fields, hashrate) => {
    const rig = await showing({ ...fields, boards: [] });
    expect((await rig.read(deadline())).readings.hashrate).toBe(hashrate);
  });

  test.each([
    ["ver1_ks3M_miner", "KS3M", "kheavyhash"],
    ["ver1_al3_miner", "AL3", "blake3-alephium"],
    ["ver1_rx0_miner", "RX0", "sha512256d"],
    ["ver1_ae2_miner", "AE2", null],
    ["none", null, null],
  ])("of %s are of its algorithm", async (softver1, model, algorithm) => {
    const { identity, readings } = await (await showing({ softver1, rtpow: "0G" })).read(deadline());
    expect([identity.model, readings.algorithm]).toEqual([model, algorithm]);
  });
});

describe("pools", () => {
  test("with connect -1 are not in use, whatever other programs make of it", async () => {
    const rig = await showing({
      rtpow: "0G",
      runtime: "01:00:00:00",
      pools: [
        { no: 1, addr: "stratum+tcp://a.example.com:1", user: "w", connect: -1, state: 0, accepted: 3, rejected: 1 },
        { no: 2, addr: "b.example.com:2", user: "w", connect: 1, state: 1, accepted: 5, rejected: 0 },
        { no: 3, addr: "", user: "", connect: -1, state: 0, accepted: 0, rejected: 0 },
      ],
    });
    const { pools, readings } = await rig.read(deadline());
    expect(pools).toMatchObject([
      { index: 1, active: false, status: "dead" },
      { index: 2, active: true, status: "enabled", url: "stratum+tcp://b.example.com:2" },
    ]);
    expect(readings.notes).toEqual(["to control this rig, configure the password of its page"]);
    expect(readings.shares).toMatchObject({ accepted: 8, rejected: 1 });
  });

  test("of the firmware's maker are marked", async () => {
    const rig = await showing({ pools: [{ no: 1, addr: "a.example.com:1", user: "DevFee", connect: 1, state: 1 }] });
    expect((await rig.read(deadline())).pools).toMatchObject([{ devFee: true }]);
  });
});

describe("the reason why it does not hash", () => {
  test("is its pools, all of them with connect -1", async () => {
    const { rig, simulated } = await start();
    simulated.model.setPoolAlive(0, false);
    simulated.model.setPoolAlive(1, false);
    const reading = await rig.read(deadline());
    expect(haltOf({ ...reading, readings: { ...reading.readings, hashrate: 0 } })).toMatchObject({ code: "pools" });
    expect(reading.pools.map(({ active, status }) => [active, status])).toEqual([
      [false, "dead"],
      [false, "dead"],
    ]);
  });

  test.each([
    [{ tempstate: false }, "hot"],
    [{ netstate: false }, "network"],
    [{ fanstate: false }, "hardware"],
    [{ powstate: false }, "hardware"],
    [{ powstate: true }, "unknown"],
  ])("is the light that shows a fault: %j", async (light, code) => {
    const rig = await showing({ rtpow: "0G", runtime: "01:00:00:00", ...light });
    expect(haltOf(await rig.read(deadline()))).toMatchObject({ code });
  });
});

describe("its login", () => {
  test("lets its light blink, which is read back", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("locate", true, deadline())).resolves.toBe("IceRiver blinks");
    const reading = await rig.read(deadline());
    expect([values(reading), reading.readings.locate]).toEqual([{ locate: true }, true]);
    await rig.set("locate", false, deadline());
    expect((await rig.read(deadline())).readings.locate).toBe(false);
    expect(simulated.requests.writes).toEqual(["userpanel locate=1", "userpanel locate=0"]);
  });

  test("is renewed by a read when its session has expired, and never by a command", async () => {
    const { rig } = await start({ sessionSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    expect((await rig.read(deadline())).readings.mining).toBe(true);
    clock.pass(61);
    await expect(renewed(rig, () => rig.set("locate", true, deadline()))).resolves.toBe("IceRiver blinks");
  });

  test.each<[Credentials, string]>([
    [{}, "none is configured"],
    [{ username: "admin", password: "geheim" }, "rejects this password"],
  ])("with %j is missing or wrong, and is not repeated in the error", async (credentials, words) => {
    const { rig } = await start({}, credentials);
    const failure = rig.read(deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.login", message: expect.stringContaining(words) });
    await expect(failure).rejects.not.toThrow("geheim");
  });

  test("when wrong is not sent again with every read", async () => {
    const { rig, simulated } = await start({}, { username: "admin", password: "geheim" });
    for (let reads = 0; reads < 3; reads += 1)
      await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.login" });
    expect(simulated.requests.count).toBe(2);
  });

  test("is not needed where the panel is open, which then offers no controls", async () => {
    const rig = await showing({ rtpow: "5G", locate: false });
    const reading = await rig.read(deadline());
    expect([reading.readings.hashrate, reading.controls]).toEqual([5e9, []]);
    expect(reading.locked).toMatchObject({ why: "login missing" });
  });

  test("stays out of the error of a refusal, which names the path without its query", async () => {
    const server = await serve((socket) => socket.end(http(500, "geheim")));
    const rig = rigAt(iceriver, `127.0.0.1:${server.port}`, { password: "geheim" });
    const failure = rig.read(deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.refused" });
    await expect(failure).rejects.not.toThrow("geheim");
  });
});

test("firmware that hides its MAC address has none", async () => {
  const { rig } = await start({ hidesMac: true });
  expect((await rig.read(deadline())).identity.mac).toBeNull();
});

test("whatever its panel contains is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(iceriver, { kind: "iceriver" }, owner);
});
