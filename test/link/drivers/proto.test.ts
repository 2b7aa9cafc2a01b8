import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { proto } from "../../../src/link/drivers/proto/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { ProtoSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { password: "protopass" };

const start = starterOf<ProtoSpec>(proto, { kind: "proto", warm: true, restartSeconds: 0 }, owner, clock.now);

/** A rig with these pages below /api/v1, which needs no login; all others are missing. */
async function showing(pages: Record<string, unknown>): Promise<Rig> {
  const server = await serve((socket, request) => {
    const page = pages[request.split(" ")[1]?.replace("/api/v1/", "").replace(/\?.*/, "") ?? ""];
    if (page === "nothing yet") socket.end(http(204, ""));
    else socket.end(page === undefined ? http(404, "{}") : http(200, JSON.stringify(page)));
  });
  return closing(rigAt(proto, `127.0.0.1:${server.port}`));
}

const mining = (fields: object): object => ({ "mining-status": { status: "Mining", ...fields } });

test("is recognised by its page", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), owner, deadline());
  closing(found.rig);
  expect([found.driver.id, found.identity.make]).toEqual(["proto", "Proto"]);
  await expect(found.rig.read(deadline())).resolves.toMatchObject({ identity: { model: "Rig", mac: simulated.mac } });
  const signs = { version: null, pages: {}, reports: {} };
  const root = { status: 200, headers: {}, body: "<title>Prototype</title>" };
  expect(proto.recognise({ ...signs, root })).toBeUndefined();
});

test("is read with every figure that it reports, its rates in the units beside them", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings).toMatchObject({
    hashrate: expect.closeTo(model.hashrate(5), -10),
    hashrateAverage: expect.closeTo(model.averageHashrate, -7),
    hashrateExpected: expect.closeTo(model.ratedHashrate, -7),
    algorithm: "sha256",
    power: expect.closeTo(model.power, 2),
    powerLimit: 3_400,
    powerSource: "reported",
    temperature: expect.closeTo(model.temperature, 2),
    temperatureIn: expect.closeTo(model.temperature - 8, 2),
    temperatureOut: expect.closeTo(model.temperature + 8, 2),
    psu: { power: expect.closeTo(model.power * 0.95, 1), voltage: null, temperature: 46, model: "PSU-3600W" },
    uptime: Math.floor(model.elapsed),
    mining: true,
    mode: "MaximumHashrate",
    locate: null,
    fans: Array(4).fill({ rpm: model.fanRpm, percent: Math.round(model.fan * 100) }),
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    errors: [],
    notes: [],
  });
  expect(readings.boards).toHaveLength(4);
  expect(readings.boards[0]).toMatchObject({
    slot: 1,
    chips: 120,
    voltage: 14.5,
    temperature: expect.closeTo(model.temperature, 2),
    serial: expect.stringContaining("SIMHB0"),
  });
  const ofBoards = readings.boards.reduce((sum, { hashrate }) => sum + (hashrate ?? 0), 0);
  expect(ofBoards / (readings.hashrate ?? 0)).toBeCloseTo(1, 3);
  expect(reading.identity).toEqual({
    make: "Proto",
    model: "Rig",
    firmware: "1.8.0",
    mac: simulated.mac,
    hostname: "proto-1",
    serial: expect.stringContaining("SIMCB0"),
  });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(4);
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig, simulated } = await start();
    await rig.set("power_limit", 2_500, deadline());
    await rig.set("mode", "Efficiency", deadline());
    await rig.set("fan", 80, deadline());
    await rig.set("mining", false, deadline());
    const reading = await rig.read(deadline());
    expect(values(reading)).toEqual({
      mining: false,
      power_limit: 2_500,
      mode: "Efficiency",
      fan: 80,
      locate: null,
      reboot: null,
    });
    expect(reading.readings).toMatchObject({ mining: false, powerLimit: 2_500, mode: "Efficiency" });
    expect(haltOf(reading)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    await rig.set("fan", "auto", deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, fan: "auto" });
    expect(simulated.requests.writes).toEqual([
      'PUT mining/target {"power_target_watts":2500}',
      'PUT mining/target {"performance_mode":"Efficiency"}',
      'PUT cooling {"mode":"Manual","speed_percentage":80}',
      "POST mining/stop",
      "POST mining/start",
      'PUT cooling {"mode":"Auto","target_temperature_c":50}',
    ]);
  });

  test("without a state resolve with the rig's words, and a reboot turns its counters back", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("locate", true, deadline())).resolves.toBe("Locate sequence activated");
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("Reboot initiated");
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
    expect(simulated.requests.writes).toEqual(["POST system/locate?led_on_time=300", "POST system/reboot"]);
  });

  test("out of range send nothing, and what the rig refuses fails in its words", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("power_limit", 5_000, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    await expect(rig.set("mode", "Turbo", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Not possible in this state"),
    });
  });

  test("are offered only where the rig reports what they set", async () => {
    const pages = { mining: mining({}), pools: { pools: [] }, errors: [] };
    const server = await serve((socket, request) => {
      const name = request.split(" ")[1]?.replace("/api/v1/", "") ?? "";
      const page = name === "auth/login" ? { access_token: "t" } : Reflect.get(pages, name);
      socket.end(page === undefined ? http(404, "{}") : http(200, JSON.stringify(page)));
    });
    const rig = closing(rigAt(proto, `127.0.0.1:${server.port}`, owner));
    expect(Object.keys(values(await rig.read(deadline())))).toEqual(["mining", "locate", "reboot"]);
  });
});

describe("its login", () => {
  test("when missing fails the read, on older firmware only its commands", async () => {
    const { rig } = await start({}, {});
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.login" });
    const { rig: older, simulated } = await start({ older: true }, {});
    const reading = await older.read(deadline());
    expect(reading.readings).toMatchObject({
      hashrate: expect.closeTo(simulated.model.hashrate(5), -7),
      mining: true,
      notes: ["to control this rig and read all of it, configure its password"],
    });
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.locked).toMatchObject({ why: "login missing" });
    await expect(older.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("when wrong is sent once, and not shown", async () => {
    const { rig, simulated } = await start({ older: true }, { password: "geheim99" });
    const reading = await rig.read(deadline());
    expect(reading.locked).toMatchObject({ why: "login wrong" });
    expect(JSON.stringify(reading)).not.toContain("geheim99");
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(4);
    const { rig: closed } = await start({}, { password: "geheim99" });
    const failure = closed.read(deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.login" });
    await expect(failure).rejects.not.toThrow("geheim99");
  });

  test("is renewed by a read when its token has expired, and never by a command", async () => {
    const { rig } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    expect((await rig.read(deadline())).readings.power).toBeGreaterThan(0);
    clock.pass(61);
    await expect(renewed(rig, () => rig.set("mining", false, deadline()))).resolves.toBe("Mining stopped");
  });
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim99" };

  test("are withheld while their passwords are not known, since the whole list is written", async () => {
    const { rig, simulated } = await start();
    const reading = await rig.read(deadline());
    expect(reading.poolActions).toEqual([]);
    expect(reading.poolsWithheld?.add).toContain("A Proto rig takes only whole lists of pools");
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("are added, switched and removed where their passwords are configured, and keep their names", async () => {
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
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["geheim99", "x"]);
    expect(simulated.requests.writes.at(-1)).toContain(
      '{"name":"Backup","url":"stratum+tcp://backup.example.net:3333"',
    );
  });

  test("that are all active are one in use, and a dead one is dead", async () => {
    const pool = { url: "stratum+tcp://a.example.com:1", user: "w", enabled: true };
    const pools = [
      { ...pool, id: 0, priority: 1, status: "Active" },
      { ...pool, id: 1, priority: 0, status: "Active" },
      { ...pool, id: 2, priority: 2, status: "Dead" },
    ];
    const rig = await showing({ mining: mining({}), pools: { pools }, errors: [] });
    expect((await rig.read(deadline())).pools.map(({ active, status }) => `${status} ${active}`)).toEqual([
      "enabled false",
      "enabled true",
      "dead false",
    ]);
  });
});

describe("the reason why it does not hash", () => {
  test.each([
    ["NoPools", [], "pools", true],
    ["Curtailed", [], "power-limit", true],
    ["Stopped", [], "user", false],
    ["PoweringOn", [], "warming", true],
    ["Error", [{ error_code: "7", message: "Fan 2 has failed" }], "hardware", true],
    ["Error", [{ code: "HB_HOT", message: "Hashboard over temperature" }], "hot", true],
  ])("is its state %s with the errors %j", async (status, errors, reason, on) => {
    const rig = await showing({ mining: mining({ status, hashrate_ghs: 0 }), pools: { pools: [] }, errors });
    const reading = await rig.read(deadline());
    expect(haltOf(reading)).toMatchObject({ code: reason });
    expect(reading.readings.mining).toBe(on);
    expect(reading.readings.errors).toHaveLength(errors.length);
  });
});

test("a rate in an unknown unit is not guessed", async () => {
  const miner = { hashrate: { value: 135, unit: "XH/s" }, power: { value: 3, unit: "kW" } };
  const rig = await showing({ mining: mining({}), telemetry: { miner }, pools: { pools: [] }, errors: [] });
  const { readings } = await rig.read(deadline());
  expect(readings).toMatchObject({ hashrate: null, power: null });
  expect(readings.notes).toEqual(
    expect.arrayContaining(["its hashrate is in an unknown unit: XH/s", "its power is in an unknown unit: kW"]),
  );
});

test("a rig that has no figures yet is not called stopped, and boards without telemetry are listed", async () => {
  const hardware = { "hardware-info": { "hashboards-info": [{ slot: 3, hb_sn: "S3", mining_asic_count: 118 }] } };
  const rig = await showing({ mining: "nothing yet", pools: { pools: [] }, errors: [], hardware });
  const { readings } = await rig.read(deadline());
  expect(readings).toMatchObject({ hashrate: null, mining: null, boards: [{ slot: 3, chips: 118, serial: "S3" }] });
});

test("another device at its address fails the read", async () => {
  const rig = await showing({ mining: { hashrate: 1 } });
  await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
});

test("whatever its pages contain is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(proto, { kind: "proto" }, owner);
});
