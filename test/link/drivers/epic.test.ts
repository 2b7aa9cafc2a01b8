import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { epic } from "../../../src/link/drivers/epic/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { EpicSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, poolAt, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { password: "letmein" };

const start = starterOf<EpicSpec>(epic, { kind: "epic", warm: true, restartSeconds: 0 }, owner, clock.now);

/** A rig with these pages; all others are missing. */
async function showing(pages: Record<string, unknown>, credentials: Credentials = owner): Promise<Rig> {
  const server = await serve((socket, request) => {
    const page = pages[request.split(" ")[1]?.slice(1) ?? ""];
    socket.end(page === undefined ? http(404, '{"result":false}') : http(200, JSON.stringify(page)));
  });
  return rigAt(epic, `127.0.0.1:${server.port}`, credentials);
}

const summary = (fields: object): object => ({ Status: { "Operating State": "Mining" }, Session: {}, ...fields });

describe("is recognised", () => {
  test("by its dashboard, and at the port of its API by its summary", async () => {
    const { simulated } = await start();
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect([found.driver.id, found.identity.make]).toEqual(["epic", "ePIC"]);
    const api = await serve((socket, request) =>
      socket.end(
        request.startsWith("GET /summary ")
          ? http(200, JSON.stringify(summary({ Software: "PowerPlay v1", Hostname: "umc", StratumConfigs: [] })))
          : http(404, '{"result":false,"error":"InvalidUrl"}'),
      ),
    );
    const byApi = await identify(parseAddress(`127.0.0.1:${api.port}`), {}, deadline());
    expect(byApi).toMatchObject({ driver: { id: "epic" }, identity: { firmware: "PowerPlay v1", hostname: "umc" } });
  });

  test("without asking for anything where the address has no port", () => {
    const root = { status: 200, headers: {}, body: "<title>Printer</title>" };
    expect(epic.recognise({ root, version: null, pages: {}, reports: {} })).toBeUndefined();
  });
});

test("an S19 XP is read with every figure that it reports, its rates from MH/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -8);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -8),
    algorithm: "sha256",
    power: expect.closeTo(model.power, 3),
    powerLimit: null,
    powerSource: "reported",
    temperature: expect.closeTo(model.temperature, 2),
    psu: { power: null, voltage: 12.6, temperature: null, model: null, serial: null },
    uptime: model.elapsed,
    mining: true,
    locate: false,
    shares: { ...model.shares, hardwareErrors: null },
    errors: [],
    notes: [],
  });
  expect(Math.abs((readings.hashrateExpected ?? 0) / model.ratedHashrate - 1)).toBeLessThan(0.01);
  expect(readings.fans).toEqual(Array(4).fill({ rpm: model.fanRpm, percent: Math.round(model.fan * 100) }));
  expect(readings.boards).toHaveLength(3);
  expect(readings.boards[1]).toMatchObject({
    slot: 1,
    chips: 110,
    chipsExpected: 110,
    frequency: 485e6,
    voltage: 12.6,
    serial: expect.stringContaining("SIMHB1"),
  });
  expect(reading.identity).toEqual({
    make: "ePIC",
    model: "AntMiner S19 XP",
    firmware: "PowerPlay-BMS v1.5.13",
    mac: simulated.mac,
    hostname: "epic-1",
    serial: expect.stringContaining("SIM"),
  });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(1);
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig } = await start();
    await rig.set("fan", 80, deadline());
    await rig.set("locate", true, deadline());
    await rig.set("power_limit", 2_500, deadline());
    await rig.set("board_2", false, deadline());
    await rig.set("mining", false, deadline());
    const reading = await rig.read(deadline());
    expect(values(reading)).toEqual({
      mining: false,
      restart: null,
      reboot: null,
      locate: true,
      fan: 80,
      power_limit: 2_500,
      board_0: true,
      board_1: true,
      board_2: false,
    });
    expect(reading.readings).toMatchObject({ mining: false, locate: true, powerLimit: 2_500 });
    expect(reading.devices.map(({ status }) => status)).toEqual(["enabled", "enabled", "disabled"]);
    await rig.set("mining", true, deadline());
    await rig.set("fan", "auto", deadline());
    await rig.set("locate", false, deadline());
    await rig.set("board_2", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({
      mining: true,
      fan: "auto",
      locate: false,
      board_2: true,
    });
  });

  test("give automatic cooling the settings back that it had", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await rig.set("fan", 50, deadline());
    await rig.read(deadline());
    await rig.set("fan", "auto", deadline());
    expect(simulated.requests.writes).toEqual([
      '/fanspeed {"Manual":50}',
      '/fanspeed {"Auto":{"Target Temperature":64,"Idle Speed":20}}',
    ]);
  });

  test("of restarts are sent without a delay, and a restart turns its counters back", async () => {
    const { rig, simulated } = await start();
    await rig.set("restart", true, deadline());
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
    await rig.set("reboot", true, deadline());
    expect(simulated.requests.writes).toEqual(["/softreboot 0", "/reboot 0"]);
  });

  test("of power are offered only where the tuner can hold one, within its bounds", async () => {
    const { rig } = await start({ tunesPower: false });
    const without = await rig.read(deadline());
    expect(values(without)).not.toHaveProperty("power_limit");
    const { rig: other } = await start();
    await expect(other.set("power_limit", 9_000, deadline())).rejects.toMatchObject({ code: "input.invalid" });
  });

  test("start the tuner where it does not run, and keep its throttling while it holds a power", async () => {
    const asked: string[] = [];
    const pages: Record<string, unknown> = {
      "/summary": summary({
        PerpetualTune: {
          Running: false,
          Algorithm: { Power: { Target: 2_000, "Min Throttle Target": 1_600, "Throttle Step": 50 } },
        },
      }),
      "/capabilities": { PerpetualTune: [{ algorithm: "Power", min: 1_500, max: 4_000 }] },
    };
    const server = await serve((socket, request) => {
      const [head = "", body = ""] = request.split("\r\n\r\n");
      const path = head.split(" ")[1] ?? "";
      if (head.startsWith("POST")) asked.push(`${path} ${JSON.stringify(JSON.parse(body).param)}`);
      const page = head.startsWith("POST") ? { result: true, error: null } : pages[path];
      socket.end(page === undefined ? http(404, "{}") : http(200, JSON.stringify(page)));
    });
    const rig = rigAt(epic, `127.0.0.1:${server.port}`, owner);
    const reading = await rig.read(deadline());
    expect([reading.readings.powerLimit, values(reading).power_limit]).toEqual([null, null]);
    await rig.set("power_limit", 2_200, deadline());
    expect(asked).toEqual([
      '/perpetualtune/algo {"algo":"Power","target":2200,"min_throttle":1600,"throttle_step":50}',
      "/perpetualtune true",
    ]);
  });

  test("are withheld without the password, with the reason", async () => {
    const { rig } = await start({}, {});
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.locked).toMatchObject({ why: "login missing" });
    expect(reading.readings.notes).toEqual(["to control this rig, configure its password"]);
  });

  test("with a wrong password change nothing, and the next read says so without it", async () => {
    const { rig, simulated } = await start({}, { password: "geheim" });
    const failure = rig.set("mining", false, deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.login" });
    await expect(failure).rejects.not.toThrow("geheim");
    const reading = await rig.read(deadline());
    expect(reading.locked).toMatchObject({ why: "login wrong" });
    expect(reading.readings.mining).toBe(true);
    expect(JSON.stringify(reading)).not.toContain("geheim");
    expect(simulated.model.mining).toBe(true);
  });

  test("that the rig refuses fail in its words, and those that it lacks are no longer offered", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("locate", true, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Not permitted"),
    });
    const other = await showing({ summary: summary({}) });
    await other.read(deadline());
    await expect(other.set("locate", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect(values(await other.read(deadline()))).not.toHaveProperty("locate");
  });
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim" };

  test("are added, moved to the front and removed, with the whole list and its passwords", async () => {
    const { rig, simulated } = await start();
    await rig.pools.add?.(login, deadline());
    await rig.pools.prioritize?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*new.example.org:4444",
      "pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    expect(simulated.model.pools[0]?.password).toBe("geheim");
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "not.possible" });
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:4444"]);
    expect(simulated.requests.writes[0]).toContain('"unique_id":true');
  });

  test("whose passwords are hidden are not changed", async () => {
    const rig = await showing({
      summary: summary({
        Mining: { Coin: "BTC" },
        Stratum: { "Worker Unique Id": false },
        StratumConfigs: [{ pool: "stratum+tcp://a.example.com:1", login: "w", password: "***" }],
      }),
    });
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "rig.read-only" });
  });

  test("of the firmware's maker are marked", async () => {
    const rig = await showing({ summary: summary({ StratumConfigs: [{ pool: "DevFee", login: "DevFee" }] }) });
    expect((await rig.read(deadline())).pools).toMatchObject([{ devFee: true }]);
  });
});

describe("the reason why it does not hash", () => {
  test("is its owner's stop, and it is then switched off", async () => {
    const { rig } = await start();
    await rig.set("mining", false, deadline());
    expect(haltOf(await rig.read(deadline()))).toMatchObject({ code: "user" });
  });

  test("is its pools where it idles without them, and it is then not switched off", async () => {
    const { rig, simulated } = await start({ idlesWithoutPool: true });
    simulated.model.setPoolAlive(0, false);
    simulated.model.setPoolAlive(1, false);
    const reading = await rig.read(deadline());
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
    expect(values(reading).mining).toBeNull();
  });

  test("is in its error's words", async () => {
    const { rig, simulated } = await start();
    simulated.model.change((model) => {
      model.overheated = true;
    });
    const reading = await rig.read(deadline());
    expect(reading.readings.errors).toEqual([{ code: "error", text: "Over temperature shutdown" }]);
    expect(haltOf(reading)).toMatchObject({ code: "hot", text: "Over temperature shutdown" });
  });

  test("is its licence", async () => {
    const idle = {
      Status: { "Operating State": "Idling" },
      Session: {},
      HBs: [],
      "Last License Error": "License expired",
    };
    const rig = await showing({ summary: idle });
    expect(haltOf(await rig.read(deadline()))).toMatchObject({ code: "licence", text: "License expired" });
  });
});

test("a board that is off is listed without figures, and a rig without MAC has none", async () => {
  const rig = await showing({
    summary: summary({
      HBStatus: [
        { Index: 0, Enabled: false, Detected: true },
        { Index: 1, Enabled: true, Detected: true },
        { Index: 2, Enabled: false, Detected: false },
      ],
      HBs: [{ Index: 1, Hashrate: [49_440_724, 103.1, 0.8], Temperature: 67, "Core Clock Avg": 487.5 }],
    }),
    network: { dhcp: { mac_address: "00:00:00:00:00:00" } },
  });
  const { identity, readings, devices } = await rig.read(deadline());
  expect(identity.mac).toBeNull();
  expect(readings).toMatchObject({ hashrate: 49.440724e12, hashrateExpected: expect.closeTo(47.954e12, -10) });
  expect(readings.boards).toMatchObject([
    { slot: 0, hashrate: null, temperature: null },
    { slot: 1, hashrate: 49.440724e12, temperature: 67, frequency: 487.5e6 },
  ]);
  expect(devices.map(({ status }) => status)).toEqual(["disabled", "enabled"]);
});

test("another device at its address fails the read", async () => {
  const rig = await showing({ summary: { hashrate: 1 } });
  await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
});

test("whatever its pages contain is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(epic, { kind: "epic" }, owner);
});
