import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { encrypted } from "../../../src/link/drivers/goldshell/api.ts";
import { goldshell } from "../../../src/link/drivers/goldshell/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import { SessionEnded } from "../../../src/link/session-ended.ts";
import type { GoldshellSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, linkWith, listed, poolAt, rigAt, values } from "../rigs.ts";
import { closedPort, http, serve } from "../servers.ts";
import { starterOf } from "./family.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const clock = stoppedClock();
const owner = { username: "admin", password: "123456789" };

const start = starterOf<GoldshellSpec>(
  goldshell,
  { kind: "goldshell", warm: true, restartSeconds: 0 },
  owner,
  clock.now,
);

/** A rig with these answers: by command over RPC, by page over HTTP; `token` says whether it accepts one. */
async function showing(
  answers: Record<string, unknown>,
  accepts: (token: string, turn: number) => boolean = () => true,
): Promise<{ rig: Rig; asked: string[] }> {
  const asked: string[] = [];
  let logins = 0;
  let turn = 0;
  const server = await serve((socket, request) => {
    if (request.startsWith("{")) {
      const body = Object(answers[JSON.parse(request).command]);
      socket.end(`${JSON.stringify({ STATUS: [{ STATUS: "S", Msg: "ok" }], ...body })}\0`);
      return;
    }
    const [method = "", path = ""] = request.split(" ");
    asked.push(`${method} ${path.replace(/password=[^&]*/, "password=…")}`);
    if (path.startsWith("/user/login")) {
      logins += 1;
      socket.end(http(200, JSON.stringify({ "JWT Token": `t${logins}` })));
      return;
    }
    turn += 1;
    const token = /Bearer (\S+)/.exec(request)?.[1] ?? "";
    const page = answers[path.replace("/mcb/", "")];
    if (!accepts(token, turn)) socket.end(http(401, ""));
    else socket.end(page === undefined ? http(404, "") : http(200, JSON.stringify(page)));
  });
  return { rig: rigAt(goldshell, `127.0.0.1:${server.port}`, owner), asked };
}

const summary = { SUMMARY: [{ "MHS 20s": 3_350, Elapsed: 9_000 }] };

describe("is recognised", () => {
  test("by its RPC", async () => {
    const { simulated } = await start();
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect(found).toMatchObject({ driver: { id: "goldshell" }, identity: { make: "Goldshell" } });
  });

  test("by its page, whatever program its RPC names", () => {
    const root = { status: 200, headers: {}, body: "<!doctype html><title>cloud-box</title><div id=app></div>" };
    const version = { STATUS: [{ STATUS: "S" }], VERSION: [{ Miner: "BFGMiner 5.4.2" }] };
    expect(goldshell.recognise({ root, version, pages: {}, reports: {} })).toEqual({ make: "Goldshell" });
    expect(goldshell.recognise({ root: null, version, pages: {}, reports: {} })).toBeUndefined();
  });
});

test("an LT6 is read with every figure that it reports, its rates from MH/s", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(20), -4);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -4),
    algorithm: "scrypt",
    power: null,
    temperature: expect.closeTo(model.temperature, 1),
    uptime: model.elapsed,
    mining: true,
    mode: "0",
    bestShare: model.bestShare,
    foundBlocks: 0,
    fans: Array(4).fill({ rpm: model.fanRpm, percent: null }),
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    notes: [],
  });
  expect(readings.boards).toHaveLength(4);
  expect(readings.boards[0]).toMatchObject({
    slot: 0,
    chips: 84,
    frequency: null,
    temperature: expect.closeTo(model.temperature, 1),
    chipTemperature: expect.closeTo(model.temperature + 10, 1),
  });
  expect(reading.identity).toEqual({
    make: "Goldshell",
    model: "LT6",
    firmware: "2.2.5",
    mac: simulated.mac,
    hostname: null,
    serial: null,
  });
  expect(reading.logInterval).toBe(20);
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(4);
});

describe("the algorithm", () => {
  test.each([
    ["SC5Pro", undefined, "blake2b-sia"],
    ["KD6", undefined, "blake2s-kadena"],
    ["KD-BOX", undefined, "blake2s-kadena"],
    ["CK6", undefined, "eaglesong"],
    [
      "HS5",
      {
        algos: [
          { id: 0, name: "handshake(HNS)" },
          { id: 1, name: "blake2b(SC)" },
        ],
        algo_select: 1,
      },
      "blake2b-sia",
    ],
    ["HS5", { algos: [{ id: 0, name: "handshake(HNS)" }], algo_select: 0 }, "handshake"],
    ["ARI31", undefined, null],
  ])("of a %s with %j is %s", async (model, algosetting, algorithm) => {
    const { rig } = await showing({
      summary,
      setting: { version: "v2.1" },
      status: { model: `Goldshell-${model}` },
      algosetting,
    });
    const { identity, readings } = await rig.read(deadline());
    expect([identity.model, readings.algorithm]).toEqual([model, algorithm]);
  });
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig } = await start();
    await rig.set("mode", "1", deadline());
    await rig.set("temperature_target", 70, deadline());
    expect(values(await rig.read(deadline()))).toEqual({
      mining: true,
      mode: "1",
      temperature_target: 70,
      reboot: null,
    });
    await rig.set("mining", false, deadline());
    const asleep = await rig.read(deadline());
    expect(values(asleep)).toMatchObject({ mining: false, mode: null });
    expect([asleep.readings.mining, haltOf(asleep)]).toMatchObject([false, { code: "user" }]);
    await rig.set("mining", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, mode: "1" });
  });

  test("write all settings back with what changes, and restart without a body", async () => {
    const { rig, simulated } = await start();
    await rig.set("temperature_target", 72, deadline());
    await rig.set("reboot", true, deadline());
    expect(simulated.requests.writes).toEqual([
      expect.stringMatching(/^setting \{"select":0,"tempcontrol":true,.*"temp_target":72,/),
      "restart",
    ]);
  });

  test("leave out plans for which `select` has two meanings", async () => {
    const { rig } = await start({ skipsLevels: true });
    const { controls, readings } = await rig.read(deadline());
    expect(controls.map(({ key }) => key)).toEqual(["mode", "temperature_target", "reboot"]);
    expect(controls[0]).toMatchObject({ options: ["0"], value: "0" });
    expect(readings).toMatchObject({ mode: "0", mining: true });
  });

  test("do not stop a rig whose clock was set by hand, which would be lost", async () => {
    const { rig } = await showing({
      summary,
      setting: {
        select: 0,
        manual: true,
        powerplans: [
          { level: 0, info: "725 MHz" },
          { level: 1, info: "0 MHz 0 V" },
        ],
      },
    });
    const { controls, readings } = await rig.read(deadline());
    expect(controls.map(({ key }) => key)).toEqual(["mode", "reboot"]);
    expect(readings.mode).toBe("manual");
  });

  test("that the rig refuses fail, and out of range send nothing", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("temperature_target", 90, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
    const { rig: other } = await showing({ summary, setting: { version: "v2.1" } });
    await expect(other.set("reboot", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
  });
});

describe("its login", () => {
  test("is encrypted as its page does it, for any length", () => {
    expect(encrypted("123456789")).toBe("bbad7537f4c8b6ea31eea0b3d760e257");
    expect([encrypted("x".repeat(16)).length, encrypted("x".repeat(17)).length]).toEqual([32, 64]);
  });

  test("is sent as it is to older firmware", async () => {
    const { rig } = await start({ encrypted: null });
    expect((await rig.read(deadline())).identity.model).toBe("LT6");
  });

  test("when missing leaves what its RPC reports, with the reason", async () => {
    const { rig, simulated } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading.readings.hashrate).toBeCloseTo(simulated.model.hashrate(20), -4);
    expect(reading.readings.notes).toEqual(["to control this rig and read its settings, configure its password"]);
    expect([reading.controls, reading.poolActions, reading.identity.mac]).toEqual([[], [], null]);
    expect(reading.locked).toMatchObject({ why: "login missing" });
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

  test("is renewed by a read when a token is refused, and never by a command", async () => {
    const { rig, asked } = await showing(
      { summary, setting: { version: "v2.1" }, status: { model: "LT6" }, algosetting: { algo_select: 0 }, restart: {} },
      (token, turn) => (turn < 4 ? token === "t1" : turn === 6 ? false : token !== "t1"),
    );
    await rig.read(deadline());
    await rig.read(deadline());
    expect(asked.filter((call) => call.includes("/user/login"))).toHaveLength(2);
    await expect(rig.set("reboot", true, deadline())).rejects.toBeInstanceOf(SessionEnded);
    expect(asked.filter((call) => call.includes("/user/login"))).toHaveLength(2);
  });
});

test("a rig whose API does not answer is read over its RPC", async () => {
  const { simulated } = await start();
  const { host, port } = parseAddress(simulated.address);
  const link = openLink({ host, port, tls: false }, owner);
  const closed = openLink({ host, port: await closedPort(), tls: false }, owner).http;
  const reading = await goldshell.connect(linkWith(link, { http: closed })).read(deadline());
  expect(reading.readings.hashrate).toBeGreaterThan(1e9);
  expect(reading.readings.notes).toEqual(["its web API does not answer, so only its RPC is read"]);
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim" };

  test("are added and removed by the rig's own entry, and the last one stays", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await rig.pools.add?.(login, deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*pool.example.com:3333",
      "backup.example.net:3333",
      "new.example.org:4444",
    ]);
    expect(simulated.model.pools[2]?.password).toBe("geheim");
    await rig.pools.remove?.(await poolAt(rig, 0), deadline());
    await rig.pools.remove?.(await poolAt(rig, 0), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:4444"]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    expect(simulated.requests.writes[1]).toContain('"dragid":0');
  });

  test("of the firmware's maker are marked, and dead ones are the reason why it does not hash", async () => {
    const { rig } = await showing({
      summary: { SUMMARY: [{ "MHS 20s": 0, Elapsed: 9_000 }] },
      setting: { version: "v2.1" },
      pools: {
        POOLS: [
          { POOL: 0, URL: "stratum+tcp://a.example.com:1", User: "w", Status: "Dead" },
          { POOL: 1, URL: "stratum+tcp://b.example.com:1", User: "DevFee", Status: "Alive" },
        ],
      },
    });
    const reading = await rig.read(deadline());
    expect(reading.pools.map(({ devFee }) => devFee)).toEqual([false, true]);
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });
});

test("fans that every board repeats are listed once, by the slowest figure, and an odd name is no MAC", async () => {
  const { rig } = await showing({
    summary,
    setting: { name: "my miner" },
    devs: {
      DEVS: [
        { ID: 0, "MHS 20s": 25, "tstemp-2": 40, fan0: 1_200, fan1: "1300 RPM" },
        { ID: 1, "MHS 20s": 0, "tstemp-2": 0, fan0: 1_100, fan1: 1_400 },
      ],
    },
  });
  const { readings, identity } = await rig.read(deadline());
  expect(readings.fans).toEqual([
    { rpm: 1_100, percent: null },
    { rpm: 1_300, percent: null },
  ]);
  expect(readings.boards).toMatchObject([{ hashrate: 25e6, temperature: 40 }, { temperature: null }]);
  expect(identity.mac).toBeNull();
});

test("whatever it answers is read within the contract, or fails as documented", async () => {
  await expectSpoiledReads(goldshell, { kind: "goldshell" }, owner);
});
