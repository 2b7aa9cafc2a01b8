import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { braiins } from "../../../src/link/drivers/braiins/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import type { BraiinsSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { objectOf } from "../../simulator/ask.ts";
import { deadline, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";

const clock = stoppedClock();

const password = "geheim";
const login: Credentials = { password };

async function start(
  spec: Partial<BraiinsSpec> = {},
  credentials: Credentials = login,
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const common = { kind: "braiins", warm: true, restartSeconds: 0, password } as const;
  const simulated = await startRig({ ...common, ...spec }, clock.now);
  return { rig: rigAt(braiins, simulated.address, credentials), simulated };
}

const wrong: Credentials = { username: "root", password: "wrong" };
const pool = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "pool-secret" };

describe("a rig with Braiins OS is recognised", () => {
  test.each(["boser", "bosminer"] as const)("by its RPC (%s)", async (generation) => {
    const { simulated } = await start({ generation });
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect([found.driver.id, found.identity.make]).toEqual(["braiins", "Braiins"]);
    expect(found.identity.firmware).toMatch(generation === "boser" ? /^boser-openwrt 0\.1/ : /^BOSminer\+ 0\.2/);
  });

  test("by its page where RPC does not answer", () => {
    const page = (body: string) => ({
      root: { status: 200, headers: {}, body },
      version: null,
      pages: {},
      reports: {},
    });
    expect(braiins.recognise(page("<title>Braiins OS+</title>"))).toEqual({ make: "Braiins" });
    expect(braiins.recognise(page('<a href="/cgi-bin/luci/admin/">bos login</a>'))).toEqual({ make: "Braiins" });
    expect(braiins.recognise(page("<title>AxeOS</title>"))).toBeUndefined();
    expect(braiins.recognise({ root: null, version: { VERSION: [{ CGMiner: "4.11" }] }, pages: {}, reports: {} })).toBe(
      undefined,
    );
  });
});

describe("with the login of BOSer", () => {
  test("every figure of the REST API is read, in SI units", async () => {
    const { rig, simulated } = await start();
    const { model } = simulated;
    const reading = await rig.read(deadline());
    const { readings } = reading;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -9);
    expect(readings).toMatchObject({
      hashrateExpected: 95e12,
      hashrateAverage: expect.closeTo(model.averageHashrate, -9),
      algorithm: "sha256",
      power: Math.round(model.power),
      powerLimit: 3250,
      powerSource: "reported",
      temperature: expect.closeTo(model.temperature, 1),
      temperatureIn: 30,
      psu: { model: "APW-SIM" },
      uptime: 3600,
      mining: true,
      mode: "power target",
      locate: false,
      bestShare: model.bestShare,
      foundBlocks: 0,
      shares: model.shares,
      errors: [],
      notes: [],
    });
    expect(readings.fans).toEqual(Array(4).fill({ rpm: model.fanRpm, percent: Math.round(model.fan * 100) }));
    expect(readings.boards).toHaveLength(3);
    expect(readings.boards[0]).toMatchObject({
      slot: 1,
      hashrate: expect.closeTo(model.hashrate(5) / 3, -9),
      temperature: expect.closeTo(model.temperature, 1),
      chipTemperature: expect.closeTo(model.temperature + 15, 1),
      chips: 76,
      frequency: 675e6,
      voltage: 13.7,
      serial: "BOARD1",
    });
    expect(reading.identity).toEqual({
      make: "Braiins",
      model: "Antminer S19",
      firmware: expect.stringContaining("25.07"),
      mac: simulated.mac,
      hostname: "braiins-1",
      serial: expect.stringMatching(/^SIM/),
    });
    expect(reading.devices.map(({ kind, name, status }) => [kind, name, status])).toEqual([
      ["asic", "Board 1", "enabled"],
      ["asic", "Board 2", "enabled"],
      ["asic", "Board 3", "enabled"],
    ]);
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    expect(reading.pools[0]).toMatchObject({ quota: 1, accepted: model.shares.accepted });
  });

  test("a read costs four requests once everything is known", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(4);
  });

  test("the range of the power limit and of the temperature are the rig's own", async () => {
    const { rig } = await start({ hardware: "s9" });
    const { controls } = await rig.read(deadline());
    const ranges = controls.filter(({ kind }) => kind === "range").map(({ key, min, max }) => [key, min, max]);
    expect(ranges).toEqual([
      ["power_limit", 417, 1320],
      ["fan", 0, 100],
      ["temperature_target", 30, 90],
    ]);
  });

  test("every control shows in the next read", async () => {
    const { rig, simulated } = await start();
    await rig.set("power_limit", 2000, deadline());
    await rig.set("fan", 80, deadline());
    await rig.set("board_2", false, deadline());
    await rig.set("locate", true, deadline());
    await rig.set("mining", false, deadline());
    expect(values(await rig.read(deadline()))).toEqual({
      mining: false,
      restart: null,
      reboot: null,
      locate: true,
      power_limit: 2000,
      fan: 80,
      board_1: true,
      board_2: false,
      board_3: true,
    });
    expect(simulated.model).toMatchObject({ mining: false, fanSetting: 0.8, level: expect.closeTo(0.608, 2) });
    await rig.set("fan", "auto", deadline());
    await rig.set("mining", true, deadline());
    const reading = await rig.read(deadline());
    expect(values(reading)).toMatchObject({ fan: "auto", mining: true, temperature_target: 60 });
    expect(reading.devices[1]?.status).toBe("disabled");
    await rig.set("temperature_target", 55, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ temperature_target: 55 });
    expect(simulated.requests.writes.map((write) => write.split(" ").slice(0, 2).join(" "))).toEqual([
      "PUT performance/power-target",
      "PUT cooling/mode",
      "PATCH miner/hw/hashboards",
      "PUT actions/locate",
      "PUT actions/pause",
      "PUT cooling/mode",
      "PUT actions/resume",
      "PUT cooling/mode",
    ]);
  });

  test("the power limit is written alone, and pools stay as they are", async () => {
    const { rig, simulated } = await start();
    const before = listed(await rig.read(deadline()));
    await rig.set("power_limit", 1500, deadline());
    expect(simulated.requests.writes).toEqual(['PUT performance/power-target {"watt":1500}']);
    expect(listed(await rig.read(deadline()))).toEqual(before);
  });

  test("a change of the fan keeps the temperatures that were set", async () => {
    const { rig } = await start();
    await rig.read(deadline());
    await rig.set("temperature_target", 70, deadline());
    await rig.set("fan", 50, deadline());
    await rig.set("fan", "auto", deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: "auto", temperature_target: 70 });
  });

  test("restart and reboot are sent once", async () => {
    const { rig, simulated } = await start();
    await rig.set("restart", true, deadline());
    await rig.set("reboot", true, deadline());
    expect(simulated.requests.writes).toEqual(["PUT actions/restart", "PUT actions/reboot"]);
    expect(simulated.model.elapsed).toBe(0);
  });

  test("a miner whose program was stopped is started, not resumed", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    const body = JSON.stringify({ username: "root", password });
    const signedIn = await fetch(`http://${simulated.address}/api/v1/auth/login`, { method: "POST", body });
    const { token } = objectOf(await signedIn.json());
    const headers = { authorization: String(token) };
    await fetch(`http://${simulated.address}/api/v1/actions/stop`, { method: "PUT", headers });
    const stopped = await rig.read(deadline());
    expect([stopped.readings.mining, values(stopped).mining, stopped.readings.uptime]).toEqual([false, false, null]);
    await rig.set("mining", true, deadline());
    expect(simulated.requests.writes.at(-1)).toBe("PUT actions/start");
    expect((await rig.read(deadline())).readings.mining).toBe(true);
  });

  test("what is out of range or of the wrong kind sends nothing", async () => {
    const { rig, simulated } = await start();
    for (const [key, value] of [
      ["power_limit", 100],
      ["power_limit", 5000],
      ["fan", 101],
      ["mining", "off"],
      ["temperature_target", 20],
    ] as const) {
      await expect(rig.set(key, value, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    }
    await expect(rig.set("voltage", 13, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("a token that expired is renewed, and the write arrives once", async () => {
    const { rig, simulated } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(120);
    await renewed(rig, () => rig.set("locate", true, deadline()));
    expect(simulated.requests.writes).toEqual(["PUT actions/locate true"]);
    clock.pass(120);
    expect((await rig.read(deadline())).readings.locate).toBe(true);
  });

  test("a refusal is reported in the rig's words", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("power_limit", 2000, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("403 Forbidden"),
    });
    await expect(rig.pools.add?.(pool, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.not.stringContaining("pool-secret"),
    });
    simulated.fault = null;
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test("a mini miner that measures no power has none", async () => {
    const { rig } = await start({ hardware: "bmm100" });
    expect((await rig.read(deadline())).readings).toMatchObject({ power: null, powerSource: null, powerLimit: 40 });
  });
});

describe("pools of BOSer", () => {
  test("are added, chosen, switched off and removed in the rig's own groups", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await rig.pools.add?.(pool, deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*pool.example.com:3333",
      "backup.example.net:3333",
      "new.example.org:4444",
    ]);
    expect(simulated.model.pools[2]?.password).toBe("pool-secret");
    await rig.pools.disable?.(await poolAt(rig, 0), deadline());
    await rig.pools.prioritize?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*new.example.org:4444",
      "-pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    await rig.pools.switch?.(await poolAt(rig, 1), deadline());
    await rig.pools.remove?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "new.example.org:4444"]);
    await rig.pools.enable?.(await poolAt(rig, 1), deadline());
    expect(simulated.model.pools.map((each) => each.password)).toEqual(["x", "pool-secret"]);
  });

  test("keep their ids, so that the rig changes them and makes none anew", async () => {
    const { rig, simulated } = await start();
    await rig.pools.disable?.(await poolAt(rig, 1), deadline());
    const [groups] = simulated.requests.writes.map((write) => JSON.parse(write.slice("PUT pools/batch ".length)));
    expect(groups[0].pools.map(({ uid, enabled }: { uid: string; enabled: boolean }) => [uid, enabled])).toEqual([
      [expect.stringMatching(/^id/), true],
      [expect.stringMatching(/^id/), false],
    ]);
  });

  test("are not written when the pool is gone, or is the last", async () => {
    const { rig, simulated } = await start();
    const second = await poolAt(rig, 1);
    await rig.pools.remove?.(second, deadline());
    await expect(rig.pools.remove?.(second, deadline())).rejects.toMatchObject({ code: "not.possible" });
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    await expect(rig.pools.add?.({ ...pool, url: "nowhere" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    expect(simulated.requests.writes).toHaveLength(1);
  });
});

describe("without a login", () => {
  test.each(["boser", "bosminer"] as const)(
    "%s is read over RPC in one request, and can be paused",
    async (generation) => {
      const { rig, simulated } = await start({ generation }, {});
      const { model } = simulated;
      const { readings, controls, poolActions, identity } = await rig.read(deadline());
      expect(RigReadings.parse(readings)).toEqual(readings);
      expect(readings).toMatchObject({
        hashrate: expect.closeTo(model.hashrate(5), -9),
        hashrateExpected: expect.closeTo(model.ratedHashrate, -8),
        power: Math.round(model.power),
        powerLimit: model.hardware.power,
        uptime: 3600,
        mining: true,
        shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
        notes: [expect.stringContaining("without the password")],
      });
      expect(readings.boards[0]).toMatchObject({
        slot: generation === "boser" ? 1 : 6,
        frequency: model.frequency,
        voltage: model.voltage,
        chips: model.hardware.chips,
        temperature: expect.closeTo(model.temperature, 2),
        chipTemperature: expect.closeTo(model.temperature + 15, 2),
      });
      expect(readings.fans).toHaveLength(model.hardware.fans);
      expect(identity).toMatchObject({ model: model.hardware.model, mac: null });
      expect(controls.map(({ key, lasting }) => [key, lasting])).toEqual([["mining", false]]);
      expect(poolActions).toEqual(["add", "switch", "enable", "disable", "remove"]);
      const before = simulated.requests.count;
      await rig.read(deadline());
      expect(simulated.requests.count - before).toBe(1);

      await rig.set("mining", false, deadline());
      const paused = await rig.read(deadline());
      expect([paused.readings.mining, values(paused).mining]).toEqual([false, false]);
      await rig.set("mining", true, deadline());
      expect(values(await rig.read(deadline())).mining).toBe(true);
      expect(simulated.requests.writes).toEqual(["pause", "resume"]);
    },
  );

  test("what needs one says so", async () => {
    const { rig, simulated } = await start({}, {});
    for (const [key, value] of [
      ["power_limit", 2000],
      ["reboot", true],
      ["board_1", false],
    ] as const) {
      await expect(rig.set(key, value, deadline())).rejects.toMatchObject({ code: "rig.login" });
    }
    expect(simulated.requests.writes).toEqual([]);
  });

  test("pools are changed until the miner restarts, and the result says so", async () => {
    const { rig } = await start({ generation: "bosminer" }, {});
    await rig.read(deadline());
    await expect(rig.pools.add?.(pool, deadline())).resolves.toContain("a restart of the miner undoes it");
    await rig.pools.switch?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))[0]).toBe("*new.example.org:4444");
    await rig.pools.disable?.(await poolAt(rig, 2), deadline());
    await rig.pools.enable?.(await poolAt(rig, 2), deadline());
    await rig.pools.remove?.(await poolAt(rig, 2), deadline());
    expect((await rig.read(deadline())).pools).toHaveLength(2);
    await expect(rig.pools.add?.({ ...pool, worker: "a,b" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    await expect(rig.pools.prioritize?.(await poolAt(rig, 1), deadline())).rejects.toMatchObject({
      code: "control.absent",
    });
  });

  test("a rig that this computer may not pause offers nothing", async () => {
    const { rig, simulated } = await start({}, {});
    simulated.fault = "denied";
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
  });

  test("a mini miner without power readings has none", async () => {
    const { rig } = await start({ hardware: "bmm100" }, {});
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ power: null, powerSource: null, powerLimit: null, mining: true });
  });
});

describe("with the wrong password", () => {
  test.each(["boser", "bosminer"] as const)("%s is still read over RPC, with a note", async (generation) => {
    const { rig } = await start({ generation }, wrong);
    const { readings } = await rig.read(deadline());
    expect(readings.mining).toBe(true);
    expect(readings.notes).toEqual([expect.stringContaining("rejects this login")]);
    await expect(rig.set("power_limit", 1000, deadline())).rejects.toMatchObject({
      code: "rig.login",
      message: expect.stringContaining("Invalid username or password"),
    });
  });

  test("the login is not sent with every read", async () => {
    const { rig, simulated } = await start({}, wrong);
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(1);
  });
});

describe("with the login of BOSminer", () => {
  const legacy = { generation: "bosminer" } as const;

  test("RPC and GraphQL together report everything, in two requests", async () => {
    const { rig, simulated } = await start(legacy);
    const { model } = simulated;
    const reading = await rig.read(deadline());
    expect(RigReadings.parse(reading.readings)).toEqual(reading.readings);
    expect(reading.identity).toEqual({
      make: "Braiins",
      model: "Antminer S9",
      firmware: expect.stringContaining("22.08"),
      mac: simulated.mac,
      hostname: "braiins-1",
      serial: null,
    });
    expect(reading.readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -9),
      power: Math.round(model.power),
      powerLimit: 1320,
      uptime: 3600,
      mode: "power target",
      locate: false,
      notes: [],
    });
    expect(reading.readings.fans).toHaveLength(2);
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(2);
  });

  test("every control shows in the next read, and each write changes one thing", async () => {
    const { rig, simulated } = await start(legacy);
    await rig.set("power_limit", 900, deadline());
    await rig.set("locate", true, deadline());
    await rig.set("fan", 40, deadline());
    await rig.set("mining", false, deadline());
    expect(values(await rig.read(deadline()))).toEqual({
      mining: false,
      restart: null,
      reboot: null,
      locate: true,
      power_limit: 900,
      fan: 40,
    });
    await rig.set("fan", "auto", deadline());
    await rig.set("mining", true, deadline());
    await rig.read(deadline());
    await rig.set("temperature_target", 70, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, fan: "auto", temperature_target: 70 });
    expect(simulated.requests.writes).toEqual([
      'updateAutotuning {"watts":900}',
      'setFaultLight {"enable":true}',
      'updateTempAndFans {"input":{"mode":"MANUAL","speed":40}}',
      "pause",
      'updateTempAndFans {"input":{"mode":"AUTO"}}',
      "resume",
      'updateTempAndFans {"input":{"mode":"AUTO","targetTemp":70}}',
    ]);
  });

  test("a refused setting is reported in the rig's words", async () => {
    const { rig } = await start(legacy);
    await rig.read(deadline());
    await expect(rig.set("power_limit", 5000, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Power target is out of range"),
    });
    expect(values(await rig.read(deadline())).power_limit).toBe(1320);
  });

  test("an expired session is renewed once", async () => {
    const { rig, simulated } = await start({ ...legacy, tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(300);
    await renewed(rig, () => rig.set("locate", true, deadline()));
    expect(simulated.requests.writes).toEqual(['setFaultLight {"enable":true}']);
  });

  test("a stopped miner is read over the web interface alone, and started there", async () => {
    const { rig, simulated } = await start(legacy);
    await rig.read(deadline());
    const stop = "mutation{bosminer{stop{__typename}}}";
    const post = (query: string, cookie: string, variables = {}) =>
      fetch(`http://${simulated.address}/graphql`, {
        method: "POST",
        headers: { cookie },
        body: JSON.stringify({ query, variables }),
      });
    const signedIn = await post("mutation{auth{login(a:1){void}}}", "", { username: "root", password });
    await post(stop, signedIn.headers.get("set-cookie") ?? "");
    const stopped = await rig.read(deadline());
    expect([stopped.readings.mining, stopped.readings.hashrate, values(stopped).mining]).toEqual([false, null, false]);
    expect(stopped.readings.notes).toContainEqual(expect.stringContaining("RPC did not answer"));
    await rig.set("mining", true, deadline());
    expect(simulated.requests.writes.at(-1)).toBe("start {}");
    clock.pass(30);
    expect((await rig.read(deadline())).readings.mining).toBe(true);
  });
});

describe("other answers", () => {
  const rpcOk = { STATUS: [{ STATUS: "S", Msg: "fine" }] };

  /** RPC answers these reports, the web these pages by `METHOD path`. */
  async function answering(rpc: Record<string, unknown>, web: Record<string, Buffer>, asked: string[] = []) {
    const server = await serve((socket, request) => {
      if (request.startsWith("{")) {
        const { command } = JSON.parse(request);
        asked.push(command);
        socket.end(`${JSON.stringify(rpc[command] ?? { STATUS: [{ STATUS: "E", Msg: "Invalid command" }] })}\0`);
        return;
      }
      const what = request.split(" ").slice(0, 2).join(" ");
      asked.push(what);
      socket.end(web[what] ?? http(404, "Not Found"));
    });
    return rigAt(braiins, `127.0.0.1:${server.port}`, login);
  }

  const details = { mac_address: "02:00:00:00:00:01", status: 2, bosminer_uptime_s: 10 };
  const restPages = (pages: Record<string, unknown>): Record<string, Buffer> => ({
    "GET /api/v1/version/": http(401, ""),
    "POST /api/v1/auth/login": http(200, '{"token":"t","timeout_s":60}'),
    ...Object.fromEntries(
      Object.entries(pages).map(([path, value]) => [`GET /api/v1/${path}`, http(200, JSON.stringify(value))]),
    ),
  });

  test("commands that cannot be joined are asked one by one", async () => {
    const asked: string[] = [];
    const rpc = {
      version: { ...rpcOk, VERSION: [{ BOSer: "boser-openwrt 0.1" }] },
      summary: { ...rpcOk, SUMMARY: [{ "MHS 5s": 1e6, Elapsed: 5 }] },
      devdetails: { ...rpcOk, DEVDETAILS: [{ ID: 1, Frequency: 500, Chips: 10 }] },
    };
    const rig = await answering(rpc, {}, asked);
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ hashrate: 1e12, uptime: 5, mining: true, power: null });
    expect(readings.boards).toEqual([expect.objectContaining({ slot: 1, frequency: 500e6, chips: 10 })]);
    expect(asked).toContain("tunerstatus");
  });

  test("a page that is missing is a note; without limits of its own the rig is offered none", async () => {
    const rig = await answering({}, restPages({ "miner/details": details }));
    const { readings, identity, controls, poolActions } = await rig.read(deadline());
    expect([identity.mac, readings.mining, readings.hashrate]).toEqual(["02:00:00:00:00:01", true, null]);
    expect(controls.map(({ key }) => key)).toEqual(["mining", "restart", "reboot"]);
    expect(poolActions).toEqual([]);
    expect(readings.notes).toContainEqual(expect.stringContaining("miner/stats could not be read"));
  });

  test.each([
    [{ running: { reason: { normal: {} } } }, true, true, []],
    [{ starting: { reason: { delayed_start: {} } } }, true, true, []],
    [{ stopped: { reason: { user_pause: {} } } }, false, false, []],
    [{ stopped: { reason: { thermal_pause: {} } } }, false, false, ["thermal_pause"]],
  ])("newer firmware reports its state in detail: %j", async (status, mining, wanted, errors) => {
    const page = { ...details, status: 2, detailed_status: { status } };
    const rig = await answering({}, restPages({ "miner/details": page }));
    const reading = await rig.read(deadline());
    expect([reading.readings.mining, values(reading).mining]).toEqual([mining, wanted]);
    expect(reading.starting).toBe("starting" in status);
    expect(reading.readings.errors.map(({ code }) => code)).toEqual(errors);
    expect(reading.halt?.code).toBe(errors.length === 0 ? undefined : "hot");
  });

  test("a rig in oil or water, or one that works to a hash rate, is offered no fan and shows no power target", async () => {
    const rig = await answering(
      {},
      restPages({
        "miner/details": details,
        "performance/tuner-state": {
          overall_tuner_state: 2,
          mode_state: { hashratetargetmodestate: { current_target: { terahash_per_second: 90 } } },
        },
        "configuration/miner": {
          pool_groups: [],
          temperature: { mode: { immersion: {} } },
          tuner: { enabled: true, tuner_mode: 2, power_target: { watt: 900 } },
        },
        "configuration/constraints": {
          tuner_constraints: { power_target: { min: { watt: 100 }, max: { watt: 900 } } },
          cooling_constraints: { fan_speed_ratio: { min: 0, max: 1, default: 1 } },
        },
      }),
    );
    const reading = await rig.read(deadline());
    expect([reading.readings.mode, reading.readings.powerLimit]).toEqual(["hashrate target", null]);
    expect(values(reading)).toEqual({ mining: true, restart: null, reboot: null, power_limit: null });
  });

  test("pools with hidden passwords are not written", async () => {
    const group = { uid: "g", name: "G", pools: [{ url: "stratum+tcp://a:1", user: "w", password: "***" }] };
    const asked: string[] = [];
    const pages = restPages({
      "miner/details": details,
      "pools/": [],
      "configuration/miner": { pool_groups: [group] },
    });
    const rig = await answering({}, pages, asked);
    await rig.read(deadline());
    await expect(rig.pools.add?.(pool, deadline())).rejects.toMatchObject({ code: "rig.garbled" });
    expect(asked.filter((what) => what.startsWith("PUT"))).toEqual([]);
  });

  test("pools that the configuration does not name are not written over", async () => {
    const shown = [{ name: "G", pools: [{ url: "stratum+tcp://a:1", user: "w", enabled: true, alive: true }] }];
    const pages = restPages({ "miner/details": details, "pools/": shown, "configuration/miner": { pool_groups: [] } });
    const rig = await answering({}, pages);
    await rig.read(deadline());
    await expect(rig.pools.add?.(pool, deadline())).rejects.toMatchObject({ code: "not.possible" });
  });

  test("a refused list that a rig repeats is reported without passwords", async () => {
    const group = { uid: "g", name: "G", pools: [{ url: "stratum+tcp://a:1", user: "w", password: "old-secret" }] };
    const echo = http(400, '{"message":"no room for old-secret, pool-secret"}');
    const pages = restPages({
      "miner/details": details,
      "pools/": [],
      "configuration/miner": { pool_groups: [group] },
    });
    const rig = await answering({}, { ...pages, "PUT /api/v1/pools/batch": echo });
    await rig.read(deadline());
    await expect(rig.pools.add?.(pool, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringMatching(/no room for \*\*\*, \*\*\*$/),
    });
  });

  test("lists are found where 25.07 has them, too", async () => {
    const shown = [{ name: "G", pools: [{ url: "stratum+tcp://a:1", user: "w", enabled: true, alive: true }] }];
    const { "GET /api/v1/version/": version = http(404, ""), ...pages } = restPages({
      "miner/details": details,
      pools: shown,
    });
    const rig = await answering({}, { ...pages, "GET /api/v1/version": version });
    expect(listed(await rig.read(deadline()))).toEqual(["a:1"]);
  });

  test("a rig with another task is busy", async () => {
    const pages = { ...restPages({ "miner/details": details }), "PUT /api/v1/actions/pause": http(409, "busy") };
    const rig = await answering({}, pages);
    await rig.read(deadline());
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.busy" });
  });

  test("a rig without its web interface is read over RPC alone", async () => {
    const rig = await answering(
      {
        version: { ...rpcOk, VERSION: [{ BOSer: "boser 1" }] },
        summary: { ...rpcOk, SUMMARY: [{ "MHS 5s": 1 }] },
      },
      { "GET /api/v1/version/": http(200, '{"major":1}'), "POST /api/v1/auth/login": http(500, "") },
    );
    const { readings } = await rig.read(deadline());
    expect(readings.hashrate).toBe(1e6);
    expect(readings.notes).toContainEqual(expect.stringContaining("web interface did not answer"));
  });
});
