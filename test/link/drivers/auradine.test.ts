import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { auradine } from "../../../src/link/drivers/auradine/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { AuradineSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, linkWith, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { closedPort, http, serve } from "../servers.ts";
import { starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { username: "admin", password: "admin" };

const start = starterOf<AuradineSpec>(auradine, { kind: "auradine", warm: true, restartSeconds: 0 }, owner, clock.now);

/** A rig with these answers: by command over RPC, by path over HTTP. */
async function showing(answers: Record<string, unknown>): Promise<Rig> {
  const ok = [{ STATUS: "S", Msg: "ok" }];
  const server = await serve((socket, request) => {
    const isRpc = request.startsWith("{");
    const name: string = isRpc ? JSON.parse(request).command : (request.split(" ")[1]?.slice(1) ?? "");
    const token = name === "token" ? { Token: [{ Token: "t" }] } : {};
    const body = JSON.stringify({ STATUS: ok, ...token, ...Object(answers[name]) });
    socket.end(isRpc ? `${body}\0` : http(200, body));
  });
  return rigAt(auradine, `127.0.0.1:${server.port}`, owner);
}

describe("is recognised", () => {
  test("by its RPC, at the usual port and at another", async () => {
    const { simulated } = await start();
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect(found).toMatchObject({ driver: { id: "auradine" }, identity: { make: "Auradine" } });
    const version = { STATUS: [{ STATUS: "S", Description: "FluxOS-1" }], VERSION: [{ API: "1.0" }] };
    expect(auradine.recognise({ root: null, version, pages: {}, reports: {} })).toMatchObject({ make: "Auradine" });
  });

  test("by its page", () => {
    const signs = { version: null, pages: {}, reports: {} };
    const root = (body: string) => ({ status: 200, headers: {}, body });
    expect(auradine.recognise({ ...signs, root: root("<title>Miner UI</title>") })).toEqual({ make: "Auradine" });
    expect(auradine.recognise({ ...signs, root: root("<title>Printer</title>") })).toBeUndefined();
  });
});

test("an AT1500 is read with every figure that it reports, its rates from MH/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -7);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -7),
    hashrateExpected: 150e12,
    algorithm: "sha256",
    power: expect.closeTo(model.power, 1),
    powerLimit: null,
    powerSource: "reported",
    temperature: expect.closeTo(model.temperature, 3),
    psu: { power: expect.closeTo(model.power * 0.95, 1), voltage: 11.5 },
    uptime: model.elapsed,
    mining: true,
    mode: "normal",
    locate: false,
    fans: Array(4).fill({ rpm: model.fanRpm, percent: null }),
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    errors: [],
    notes: [],
  });
  expect(readings.boards).toHaveLength(3);
  expect(readings.boards[0]).toMatchObject({
    slot: 1,
    chips: 132,
    frequency: 320e6,
    voltage: 0.25,
    temperature: expect.closeTo(model.temperature, 3),
    chipTemperature: expect.closeTo(model.temperature + 12, 3),
    serial: "SIMHB1",
  });
  expect(reading.identity).toEqual({
    make: "Auradine",
    model: "AT1500",
    firmware: "2024-06.11",
    mac: simulated.mac,
    hostname: "auradine-1",
    serial: expect.stringContaining("SIM"),
  });
  expect(reading.devices.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "ASICBoard 1 enabled",
    "ASICBoard 2 enabled",
    "ASICBoard 3 enabled",
  ]);
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(6);
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig } = await start();
    await rig.set("mode", "eco", deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mode: "eco", power_limit: null });
    await rig.set("power_limit", 2_000, deadline());
    await rig.set("locate", true, deadline());
    await rig.set("mining", false, deadline());
    const reading = await rig.read(deadline());
    expect(values(reading)).toEqual({
      mining: false,
      mode: null,
      power_limit: 2_000,
      locate: true,
      restart: null,
      reboot: null,
    });
    expect(reading.readings).toMatchObject({ mining: false, mode: "custom", powerLimit: 2_000, locate: true });
    expect(haltOf(reading)).toMatchObject({ code: "user" });
    await rig.set("locate", false, deadline());
    await rig.set("mining", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, locate: false });
  });

  test("of restarts resolve with the rig's words, and turn its counters back", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("restart", true, deadline())).resolves.toBe("Command 'restart' accepted");
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("Command 'restart' accepted");
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
    expect(simulated.requests.writes).toEqual(['restart {"parameter":"gcminer"}', "restart {}"]);
  });

  test("that the rig refuses fail in its words, and out of range send nothing", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("power_limit", 5_000, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    await expect(rig.set("mode", "custom", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
    simulated.fault = "denied";
    await expect(rig.set("locate", true, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Access denied"),
    });
  });
});

describe("its login", () => {
  test("when missing leaves what its RPC reports, with the reason", async () => {
    const { rig, simulated } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({
      hashrate: expect.closeTo(simulated.model.hashrate(5), -7),
      power: null,
      mining: true,
      locate: null,
      fans: [],
      notes: ["to control this rig and read all of it, configure its password"],
    });
    expect([reading.controls, reading.poolActions, reading.identity.mac]).toEqual([[], [], null]);
    expect(reading.locked).toMatchObject({ why: "login missing" });
    expect(reading.readings.boards[0]).toMatchObject({ chips: 132, temperature: expect.any(Number) });
  });

  test("when wrong is tried once, and not shown", async () => {
    const { rig, simulated } = await start({}, { username: "admin", password: "geheim" });
    const reading = await rig.read(deadline());
    expect(reading.locked).toMatchObject({ why: "login wrong" });
    expect(JSON.stringify(reading)).not.toContain("geheim");
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(3);
  });

  test("is renewed by a read when its token has expired, and never by a command", async () => {
    const { rig } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    expect((await rig.read(deadline())).readings.power).toBeGreaterThan(0);
    clock.pass(61);
    await expect(renewed(rig, () => rig.set("mining", false, deadline()))).resolves.toContain("accepted");
  });
});

test("a rig whose API does not answer is read over its RPC", async () => {
  const { simulated } = await start();
  const { host, port } = parseAddress(simulated.address);
  const link = openLink({ host, port, tls: false }, owner);
  const closed = openLink({ host, port: await closedPort(), tls: false }, owner).http;
  const reading = await auradine.connect(linkWith(link, { httpOn: () => closed })).read(deadline());
  expect(reading.readings.hashrate).toBeGreaterThan(1e14);
  expect(reading.readings.notes).toEqual(["its web API does not answer, so only its RPC is read"]);
  expect(reading.controls).toEqual([]);
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim" };

  test("are withheld while their passwords are not known, since the whole list is written", async () => {
    const { rig, simulated } = await start();
    const reading = await rig.read(deadline());
    expect(reading.poolActions).toEqual([]);
    expect(reading.poolsWithheld?.add).toContain("An Auradine takes only whole lists of pools");
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("are added, switched and removed where their passwords are configured", async () => {
    const { rig, simulated } = await start({}, { ...owner, poolPassword: () => "x" });
    expect((await rig.read(deadline())).poolActions).toEqual(["add", "use", "switch", "prioritize", "remove"]);
    await rig.pools.add?.(login, deadline());
    await rig.pools.switch?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*new.example.org:4444",
      "pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:4444", "backup.example.net:3333"]);
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["geheim", "x"]);
  });

  test("of the firmware's maker are marked", async () => {
    const rig = await showing({
      summary: { SUMMARY: [{ "MHS 5s": 1 }] },
      pools: { POOLS: [{ POOL: 0, URL: "stratum+tcp://a.example.com:1", User: "DevFee", Status: "Alive" }] },
    });
    expect((await rig.read(deadline())).pools).toMatchObject([{ devFee: true }]);
  });
});

describe("the reason why it does not hash", () => {
  test.each([
    [1, "no-power"],
    [2, "unknown"],
    [4, "hot"],
    [5, "pools"],
    [6, "network"],
    [7, "hardware"],
    [8, "hardware"],
  ])("is the code %i of its light", async (code, reason) => {
    const rig = await showing({
      summary: { SUMMARY: [{ "MHS 5s": 0, Elapsed: 9_000 }] },
      mode: { Mode: [{ Sleep: "off", Mode: "normal" }] },
      led: { LED: [{ Code: code, Msg: "Words" }] },
    });
    const reading = await rig.read(deadline());
    expect(haltOf(reading)).toMatchObject({ code: reason });
    expect(reading.readings.errors).toEqual(code === 2 ? [] : [{ code: `led-${code}`, text: "Words" }]);
  });
});

test("a power is a limit only in the mode that holds one, and a rig without MAC has none", async () => {
  const rig = await showing({
    summary: { SUMMARY: [{ "MHS 5s": 1 }] },
    mode: { Mode: [{ Mode: "turbo", Power: 2_000, Ths: 160, Sleep: "off" }] },
    psu: { PSU: [{ PowerIn: "58.94W", Vout: "11.53V", PowerOut: "0.00W", PoutMax: "3452.00W" }] },
    ipreport: { IPReport: [{ model: "AT1500", mac: "" }] },
  });
  const { readings, identity, controls } = await rig.read(deadline());
  expect(readings).toMatchObject({ powerLimit: null, power: 58.94, hashrateExpected: 160e12, psu: { voltage: 11.53 } });
  expect(identity.mac).toBeNull();
  expect(controls.find(({ key }) => key === "power_limit")).toMatchObject({ min: 100, max: 3_452, value: null });
});

test("whatever it answers is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(auradine, { kind: "auradine" }, owner);
});
