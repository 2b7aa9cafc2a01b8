import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { apollo } from "../../../src/link/drivers/apollo/index.ts";
import { statusQuery } from "../../../src/link/drivers/apollo/queries.ts";
import { identify } from "../../../src/link/identify.ts";
import { haltOf } from "../../../src/link/reason.ts";
import { SessionEnded } from "../../../src/link/session-ended.ts";
import type { ApolloSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { password: "apollopass" };

const start = starterOf<ApolloSpec>(apollo, { kind: "apollo", warm: true, restartSeconds: 0 }, owner, clock.now);

/** A rig whose API answers every query with this. */
async function answering(answer: unknown): Promise<Rig> {
  const server = await serve((socket) => socket.end(http(200, JSON.stringify(answer))));
  return closing(rigAt(apollo, `127.0.0.1:${server.port}`));
}

const miner = (status: string, stats: object[]): object => ({
  data: { Miner: { online: { result: { online: { status } } }, stats: { result: { stats } } } },
});

test("is recognised by where its page leads", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), owner, deadline());
  closing(found.rig);
  expect([found.driver.id, found.identity.make]).toEqual(["apollo", "FutureBit"]);
  await expect(found.rig.read(deadline())).resolves.toMatchObject({ identity: { model: "Apollo II" } });
  const signs = { version: null, pages: {}, reports: {} };
  const root = (status: number, location: string) => ({ status, headers: { location }, body: "" });
  expect(apollo.recognise({ ...signs, root: root(308, "http://192.0.2.7/overview") })).toEqual({ make: "FutureBit" });
  expect(apollo.recognise({ ...signs, root: root(308, "/overview/printers") })).toBeUndefined();
  expect(apollo.recognise({ ...signs, root: root(302, "/overview") })).toBeUndefined();
});

test("is read with every figure that it reports, its rates from GH/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings).toMatchObject({
    hashrate: expect.closeTo(model.hashrate(30), -9),
    hashrateAverage: expect.closeTo(model.averageHashrate, -9),
    algorithm: "sha256",
    power: expect.closeTo(model.power, 3),
    powerSource: "reported",
    temperature: expect.closeTo(model.temperature, 3),
    fans: [{ rpm: model.fanRpm, percent: null }],
    uptime: Math.floor(model.elapsed),
    mining: true,
    mode: "turbo",
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    errors: [],
    notes: [],
  });
  expect(readings.boards).toMatchObject([{ slot: 0, chips: 44, hashrate: readings.hashrate }]);
  expect(reading.identity).toEqual({
    make: "FutureBit",
    model: "Apollo II",
    firmware: "2.0.2",
    mac: simulated.mac,
    hostname: "apollo-1",
    serial: null,
  });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  expect(reading.pools[0]).toMatchObject({ accepted: model.shares.accepted, worker: "acct.apollo-1" });
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(1);
});

test("the boards at its USB ports are read and added up", async () => {
  const unit = (bySol: string, boardsW: string) => ({
    version: "v1",
    master: { boardsW, intervals: { int_30: { bySol }, int_0: { bySol, interval: 900 } } },
    slots: { int_0: { temperature: "61.5", chips: 44 } },
  });
  const rig = await answering(miner("online", [unit("2800.5", "190"), unit("3000.0", "200")]));
  const { readings, identity } = await rig.read(deadline());
  expect(readings).toMatchObject({ hashrate: 5_800.5e9, power: 390, temperature: 61.5, uptime: 900 });
  expect(readings.boards.map(({ slot, hashrate }) => [slot, hashrate])).toEqual([
    [0, 2_800.5e9],
    [1, 3_000e9],
  ]);
  expect(identity.model).toBe("Apollo BTC");
});

describe("controls", () => {
  test("are read back as they were set; a mode takes effect by a restart of mining", async () => {
    const { rig, simulated } = await start();
    await rig.set("mode", "eco", deadline());
    clock.pass(60);
    expect(values(await rig.read(deadline()))).toEqual({ mining: true, mode: "eco", restart: null, reboot: null });
    await rig.set("mining", false, deadline());
    await rig.set("mode", "balanced", deadline());
    const stopped = await rig.read(deadline());
    expect(values(stopped)).toMatchObject({ mining: false, mode: "balanced" });
    expect(stopped.readings).toMatchObject({ hashrate: 0, power: null, mining: false, boards: [], fans: [] });
    expect(haltOf(stopped)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true });
    expect(simulated.requests.writes).toEqual([
      'Settings.update {"minerMode":"eco"}',
      "Miner.restart",
      "Miner.stop",
      'Settings.update {"minerMode":"balanced"}',
      "Miner.start",
    ]);
  });

  test("of restarts turn its counters back", async () => {
    const { rig, simulated } = await start();
    await rig.set("restart", true, deadline());
    await rig.set("reboot", true, deadline());
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
    expect(simulated.requests.writes).toEqual(["Miner.restart", "Mcu.reboot"]);
  });

  test("that the rig refuses fail in its words, and unknown modes are not sent", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("mode", "custom", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Not possible"),
    });
    expect(simulated.requests.writes).toEqual(["Miner.stop"]);
  });
});

describe("a restart of mining for what is stored", () => {
  const setMode = (rig: Rig, signal: AbortSignal) => rig.set("mode", "eco", signal);
  const addPool = async (rig: Rig, signal: AbortSignal) =>
    rig.pools.add?.({ url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim99" }, signal);
  const says = (answer: object) => (socket: Socket) => socket.end(http(200, JSON.stringify(answer)));
  const restart = "{ Miner { restart";
  const refusal = says({ data: { Miner: { restart: { error: { message: "Not now" } } } } });
  const expired = says({ errors: [{ message: "Log in", extensions: { code: "UNAUTHENTICATED" } }], data: null });
  const cut = (socket: Socket) => socket.end();

  /** The rig behind a server that itself answers what is asked with this text. */
  async function disturbed(text: string, answer: (socket: Socket) => void) {
    const { simulated } = await start();
    const { port } = await serve((socket, request) => {
      if (request.includes(text)) return answer(socket);
      socket.pause();
      socket.unshift(Buffer.from(request));
      simulated.serve(socket);
      return socket.resume();
    });
    const rig = closing(rigAt(apollo, `127.0.0.1:${port}`, owner));
    await rig.read(deadline());
    return { rig, writes: simulated.requests.writes };
  }

  test.each([
    ["that is refused", restart, refusal, setMode],
    ["of a pool that is refused", restart, refusal, addPool],
    ["that is not answered", restart, cut, setMode],
    ["before which the token expires", restart, expired, setMode],
    ["before which the rig does not say whether it mines", statusQuery, cut, addPool],
  ])("%s fails as unconfirmed, and nothing is stored again", async (_, text, answer, change) => {
    const { rig, writes } = await disturbed(text, answer);
    const failure = change(rig, deadline());
    await expect(failure).rejects.toMatchObject({
      code: "rig.unconfirmed",
      message: expect.stringContaining("stored, but a restart of mining is not confirmed, so restart it"),
    });
    await expect(failure).rejects.not.toBeInstanceOf(SessionEnded);
    await expect(failure).rejects.not.toThrow("geheim99");
    expect(writes).toHaveLength(1);
  });

  test("for which the time does not suffice fails as unconfirmed", async () => {
    const late = new AbortController();
    const { rig } = await disturbed(restart, () => late.abort(new DOMException("Over", "TimeoutError")));
    await expect(setMode(rig, late.signal)).rejects.toMatchObject({ code: "rig.unconfirmed" });
  });

  test("is sent unless the rig says that it is off", async () => {
    const { rig, writes } = await disturbed(
      statusQuery,
      says({ data: { Miner: { online: { result: { online: { status: "pending" } } } } } }),
    );
    await expect(setMode(rig, deadline())).resolves.toContain("restarts");
    expect(writes).toEqual(['Settings.update {"minerMode":"eco"}', "Miner.restart"]);
  });
});

describe("its login", () => {
  test("when missing leaves its statistics, with the pool in use", async () => {
    const { rig, simulated } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({
      hashrate: expect.closeTo(simulated.model.hashrate(30), -9),
      mining: true,
      mode: null,
      notes: ["to control this rig and read all of it, configure its password"],
    });
    expect([reading.controls, reading.poolActions, reading.identity.mac]).toEqual([[], [], null]);
    expect(reading.locked).toMatchObject({ why: "login missing" });
    expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
  });

  test("when wrong is sent once, and not shown", async () => {
    const { rig, simulated } = await start({}, { password: "geheim99" });
    const reading = await rig.read(deadline());
    expect(reading.locked).toMatchObject({ why: "login wrong" });
    expect(JSON.stringify(reading)).not.toContain("geheim99");
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(1);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("is renewed by a read when its token has expired, and never by a command", async () => {
    const { rig } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    expect((await rig.read(deadline())).identity.mac).not.toBeNull();
    clock.pass(61);
    await expect(renewed(rig, () => rig.set("mining", false, deadline()))).resolves.toContain("stop");
  });
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim99" };

  test("are added, moved to the front, disabled, enabled and removed, with the passwords of the others", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await rig.pools.add?.(login, deadline());
    expect(listed(await rig.read(deadline()))).toHaveLength(3);
    await rig.pools.prioritize?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*new.example.org:4444",
      "pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["geheim99", "x", "x"]);
    await rig.pools.disable?.(await poolAt(rig, 0), deadline());
    expect(listed(await rig.read(deadline()))[0]).toBe("-new.example.org:4444");
    await rig.pools.enable?.(await poolAt(rig, 0), deadline());
    expect(listed(await rig.read(deadline()))[0]).toBe("*new.example.org:4444");
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:4444"]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
  });

  test("that the rig refuses leave no password in the error", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    const failure = rig.pools.add?.(login, deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.refused" });
    await expect(failure).rejects.not.toThrow("geheim99");
  });
});

test.each([
  ["pending", null],
  ["error", null],
  ["offline", false],
])("a rig that says %s is not called mining, whatever its last figures were", async (status, mining) => {
  const unit = { master: { boardsW: 200, intervals: { int_30: { bySol: 3_000 } } } };
  const { readings } = await (await answering(miner(status, [unit]))).read(deadline());
  expect(readings).toMatchObject({ mining, power: null, hashrate: mining === null ? null : 0, boards: [] });
});

test("another device at its address fails the read, and so does an error of the whole query", async () => {
  const other = await answering({ data: { Printer: {} } });
  await expect(other.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
  const failing = await answering({ errors: [{ message: "Cannot query field" }], data: null });
  await expect(failing.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
});

test("whatever it answers is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(apollo, { kind: "apollo" }, owner);
});
