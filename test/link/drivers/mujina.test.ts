import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading } from "../../../src/link/driver.ts";
import { mujina } from "../../../src/link/drivers/mujina/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { MujinaSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();

const start = starterOf<MujinaSpec>(mujina, { kind: "mujina", warm: true }, {}, clock.now);

/** Reads a Mujina with this state. */
async function read(state: object): Promise<Reading> {
  const server = await serve((socket) => socket.end(http(200, JSON.stringify(state))));
  return closing(rigAt(mujina, `127.0.0.1:${server.port}`)).read(deadline());
}

const empty = { uptime_secs: 5, hashrate: 0, paused: false, boards: [], sources: [] };

test("is recognised by its state, which is asked for only at an address with a port", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), {}, deadline());
  closing(found.rig);
  expect([found.driver.id, found.identity.make]).toEqual(["mujina", "Mujina"]);
  const signs = { version: null, pages: {}, reports: {} };
  const root = { status: 404, headers: {}, body: "" };
  expect(mujina.recognise({ ...signs, root })).toBeUndefined();
  expect(mujina.recognise({ ...signs, root, port: 7785 })).toEqual({ page: "/api/v0/miner" });
  const pages = { "/api/v0/miner": { status: 200, headers: {}, body: '{"boards":[]}' } };
  expect(mujina.recognise({ ...signs, root, port: 7785, pages })).toBeUndefined();
});

test("is read with every figure that it reports, its rates in H/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings).toMatchObject({
    hashrate: Math.round(model.hashrate(5)),
    algorithm: "sha256",
    power: expect.closeTo(model.power, 3),
    powerSource: "reported",
    temperature: expect.closeTo(model.temperature, 3),
    fans: [{ rpm: model.fanRpm, percent: Math.round(model.fan * 100) }],
    uptime: Math.floor(model.elapsed),
    mining: true,
    shares: { accepted: null, rejected: null, hardwareErrors: null },
    notes: [],
  });
  const serial = simulated.mac.replaceAll(":", "").toLowerCase();
  expect(readings.boards).toMatchObject([{ slot: 0, hashrate: readings.hashrate, serial }]);
  expect(reading.devices).toMatchObject([{ name: "bitaxe-mujina-1", power: readings.power }]);
  expect(reading.identity).toEqual({
    make: "Mujina",
    model: "Bitaxe Gamma",
    firmware: null,
    mac: null,
    hostname: null,
    serial,
  });
  expect(listed(reading)).toEqual(["pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(1);
});

describe("it is paused and resumed", () => {
  test("which is read back", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("mining", false, deadline())).resolves.toContain("pauses");
    const reading = await rig.read(deadline());
    expect(values(reading)).toEqual({ mining: false });
    expect(reading.readings).toMatchObject({ hashrate: 0, mining: false });
    expect(haltOf(reading)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    expect(values(await rig.read(deadline()))).toEqual({ mining: true });
    expect(simulated.requests.writes).toEqual([
      'PATCH /api/v0/miner {"paused":true}',
      'PATCH /api/v0/miner {"paused":false}',
    ]);
  });

  test("unless it refuses; nothing else is offered", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await expect(rig.set("fan", 50, deadline())).rejects.toMatchObject({ code: "control.absent" });
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect(values(await rig.read(deadline()))).toEqual({ mining: true });
  });
});

test("null is unknown, and what several boards report is added up", async () => {
  const board = (name: string, watts: number | null, model: string) => ({
    name,
    model,
    serial: null,
    temperatures: [{ name: "asic", temperature_c: null }],
    powers: [{ name: "board", power_w: watts }],
    threads: [
      { name: "a", hashrate: 1e12, is_active: true },
      { name: "b", hashrate: 5e11, is_active: true },
    ],
  });
  const boards = [board("two", 20, "A"), board("one", null, "B")];
  const one = await read({
    ...empty,
    hashrate: 3e12,
    boards,
    sources: [{ name: "p", url: "stratum+tcp://a.example.com:1" }],
  });
  expect(one.readings).toMatchObject({ hashrate: 3e12, power: 20, temperature: null });
  expect(one.readings.boards.map(({ hashrate }) => hashrate)).toEqual([1.5e12, 1.5e12]);
  expect(one.identity).toMatchObject({ model: null, serial: null });
  expect(one.pools).toMatchObject([{ active: true, url: "stratum+tcp://a.example.com:1" }]);
  expect((await read({ ...empty, boards: boards.slice(1) })).identity).toMatchObject({ model: "B", serial: null });
  const none = await read({ ...empty, paused: null, sources: [{ name: "dummy" }] });
  expect(none).toMatchObject({ pools: [], identity: { serial: null }, readings: { mining: null, power: null } });
});

test("another device at its address fails the read", async () => {
  await expect(read({ hashrate: 1 })).rejects.toMatchObject({ code: "rig.garbled" });
});

test("whatever it answers is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(mujina, { kind: "mujina" });
});
