import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { isSince } from "../../../src/link/drivers/vnish/controls.ts";
import { vnish } from "../../../src/link/drivers/vnish/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { VnishSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { objectOf } from "../../simulator/ask.ts";
import { deadline, linkWith, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { starterOf } from "./family.ts";

const clock = stoppedClock();
const owner = { password: "admin" };

const start = starterOf<VnishSpec>(vnish, { kind: "vnish", warm: true, restartSeconds: 0 }, owner, clock.now);

/** A device with these pages: by path for GET, by `POST path` else. */
async function showing(
  pages: Record<string, unknown>,
  asked: string[] = [],
  credentials: Credentials = owner,
): Promise<Rig> {
  const server = await serve((socket, request) => {
    const [head = "", body = ""] = request.split("\r\n\r\n");
    const [method = "", path = ""] = head.split(" ");
    const name = `${method === "GET" ? "" : `${method} `}${path.replace("/api/v1/", "")}`;
    asked.push(body === "" ? name : `${name} ${body}`);
    const page = pages[name] ?? (name === "POST unlock" ? { token: "t1" } : undefined);
    if (Buffer.isBuffer(page)) socket.end(page);
    else socket.end(page === undefined ? http(404, '{"err":"Not found"}') : http(200, JSON.stringify(page)));
  });
  return rigAt(vnish, `127.0.0.1:${server.port}`, credentials);
}

const mining = { miner: { miner_status: { miner_state: "mining" } } };

describe("is recognised", () => {
  test.each(["1.2.6", "1.3.4"] as const)("by its page and by its RPC, with firmware %s", async (version) => {
    const { simulated } = await start({ version });
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect([found.driver.id, found.identity.make]).toEqual(["vnish", "VNish"]);
  });

  test("by stats where version is refused, and asks for nothing else", () => {
    const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    const signs = { root: null, version: refused, pages: {}, reports: {} };
    expect(vnish.recognise(signs)).toEqual({ command: "stats" });
    const stats = { STATS: [{ Type: "Antminer S21 Pro (Vnish 1.3.4)" }] };
    expect(vnish.recognise({ ...signs, reports: { stats } })).toEqual({
      make: "VNish",
      model: "Antminer S21 Pro",
      firmware: "1.3.4",
    });
    expect(vnish.recognise({ ...signs, reports: { stats: { STATS: [{ Type: "Antminer S21 Pro" }] } } })).toBe(
      undefined,
    );
    const stock = { STATUS: [{ STATUS: "S" }], VERSION: [{ Type: "Antminer S19" }] };
    expect(vnish.recognise({ ...signs, version: stock })).toBe(undefined);
  });
});

test.each(["1.2.6", "1.3.4"] as const)("an S19 with %s is read with every figure that it reports", async (version) => {
  const { rig, simulated } = await start({ version });
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -8);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -8),
    hashrateExpected: expect.closeTo(model.ratedHashrate, -8),
    algorithm: "sha256",
    power: Math.round(model.power),
    powerLimit: null,
    powerSource: "reported",
    temperature: Math.round(model.temperature),
    psu: { model: "APW12SIM", serial: expect.any(String) },
    uptime: model.elapsed,
    mining: true,
    mode: "disabled",
    locate: false,
    bestShare: model.bestShare,
    foundBlocks: 0,
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    errors: [],
    notes: [],
  });
  expect(readings.fans).toEqual(Array(4).fill({ rpm: model.fanRpm, percent: Math.round(model.fan * 100) }));
  expect(readings.boards).toHaveLength(3);
  expect(readings.boards[0]).toMatchObject({
    slot: 1,
    chips: 76,
    chipsExpected: 76,
    frequency: 675e6,
    voltage: 13.7,
    temperature: Math.round(model.temperature),
    chipTemperature: Math.round(model.temperature + 15),
    serial: expect.stringContaining("SIMB1"),
  });
  expect(reading.identity).toEqual({
    make: "VNish",
    model: "Antminer S19",
    firmware: version,
    mac: simulated.mac,
    hostname: "vnish-1",
    serial: null,
  });
  expect(reading.devices.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "Board 1 enabled",
    "Board 2 enabled",
    "Board 3 enabled",
  ]);
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333", "DevFee"]);
  expect(reading.pools.map(({ devFee }) => devFee)).toEqual([false, false, true]);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(3);
});

describe("a rig whose web does not answer", () => {
  test("is read over its RPC, and cannot be controlled", async () => {
    const { simulated } = await start({ version: "1.2.6" });
    const { port } = simulated;
    const noWeb = await serve((socket) => socket.destroy());
    const { http } = openLink({ host: "127.0.0.1", port: noWeb.port, tls: false }, owner);
    const link = linkWith(openLink({ host: "127.0.0.1", port, tls: false }, owner), { http });
    const reading = await vnish.connect(link).read(deadline());
    const { model } = simulated;
    expect(reading.identity).toMatchObject({ make: "VNish", model: "Antminer S19", firmware: "1.2.6" });
    expect(reading.readings).toMatchObject({
      mining: true,
      power: expect.closeTo(model.power, -1),
      uptime: model.elapsed,
      hashrateExpected: expect.closeTo(model.ratedHashrate, -8),
      notes: [expect.stringContaining("its web API does not answer")],
    });
    expect(reading.readings.boards[2]).toMatchObject({ slot: 3, chips: 76, voltage: 13.7 });
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
  });

  test("and whose RPC does not either cannot be reached", async () => {
    const { rig, simulated } = await start();
    simulated.powerOff();
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.unreachable" });
  });
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig, simulated } = await start();
    await rig.set("locate", true, deadline());
    await rig.set("locate", true, deadline());
    await rig.set("throttle", 60, deadline());
    await rig.set("temperature_target", 50, deadline());
    expect(values(await rig.read(deadline()))).toEqual({
      restart: null,
      reboot: null,
      mining: true,
      locate: true,
      throttle: 60,
      mode: "disabled",
      power_limit: null,
      fan: "auto",
      temperature_target: 50,
    });
    await rig.set("fan", 40, deadline());
    await rig.set("mining", false, deadline());
    const stopped = await rig.read(deadline());
    expect(values(stopped)).toMatchObject({ fan: 40, mining: false });
    expect(stopped.readings).toMatchObject({ mining: false, hashrate: 0, uptime: null });
    await rig.set("fan", "auto", deadline());
    await rig.set("mining", true, deadline());
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({
      fan: "auto",
      temperature_target: 50,
      mining: true,
      locate: false,
      throttle: 100,
    });
    expect(simulated.requests.writes.map((write) => write.split(" ")[0])).toEqual([
      "find-miner",
      "mining/throttle",
      "settings",
      "settings",
      "mining/stop",
      "settings",
      "mining/start",
      "find-miner",
    ]);
    expect(simulated.requests.writes[2]).toBe('settings {"miner":{"cooling":{"mode":{"name":"auto","param":50}}}}');
  });

  test("a throttle holds at once, without a restart", async () => {
    const { rig, simulated } = await start();
    const full = (await rig.read(deadline())).readings;
    await rig.set("throttle", 50, deadline());
    clock.pass(120);
    const { readings } = await rig.read(deadline());
    expect(readings.power).toBeCloseTo(simulated.model.powerAt(0.5), -2);
    expect(readings.uptime).toBeGreaterThan(full.uptime ?? 0);
    const { controls } = await rig.read(deadline());
    expect(controls.find(({ key }) => key === "throttle")).toMatchObject({
      min: 20,
      max: 100,
      lasting: false,
      restartsMining: false,
    });
  });

  test("a preset is stored by its name alone, and taken up by the restart of mining that the rig wants", async () => {
    const { rig, simulated } = await start({ restartSeconds: 60 });
    await expect(rig.set("mode", "2000", deadline())).resolves.toBe("VNish stored the settings and restarts mining");
    expect(simulated.requests.writes).toEqual(['settings {"miner":{"overclock":{"preset":"2000"}}}', "mining/restart"]);
    const during = await rig.read(deadline());
    expect(during.readings).toMatchObject({ mining: true, hashrate: 0 });
    clock.pass(61);
    await rig.read(deadline());
    clock.pass(180);
    const { readings, controls } = await rig.read(deadline());
    expect(readings).toMatchObject({ mode: "2000", powerLimit: 2000 });
    expect(readings.power).toBeCloseTo(2000, -2);
    expect(controls.find(({ key }) => key === "mode")?.options).toEqual([
      ...[1400, 1700, 2000, 2300, 2600, 2900].map((watts) => ({ watts, label: String(watts) })),
      "disabled",
    ]);
  });

  test("a power limit chooses the strongest tuned preset within it", async () => {
    const { rig } = await start();
    await expect(rig.set("power_limit", 2250, deadline())).resolves.toContain("preset 2000");
    const { readings, controls } = await rig.read(deadline());
    expect(readings).toMatchObject({ mode: "2000", powerLimit: 2000 });
    expect(controls.find(({ key }) => key === "power_limit")).toMatchObject({ min: 1400, max: 2900, value: 2250 });
  });

  test("a preset for a stopped rig waits, and does not start it", async () => {
    const { rig, simulated } = await start();
    await rig.set("mining", false, deadline());
    await expect(rig.set("mode", "1400", deadline())).resolves.toContain("when mining starts next");
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ mining: false, mode: "disabled" });
    expect(readings.notes).toEqual(["changed settings take effect when mining restarts"]);
    await rig.set("mining", true, deadline());
    expect((await rig.read(deadline())).readings.mode).toBe("1400");
    expect(simulated.requests.writes).not.toContain("mining/restart");
  });

  test("are not a power limit while the rig moves between presets by itself", async () => {
    const { rig } = await start({ switchesPresets: true });
    const reading = await rig.read(deadline());
    expect(Object.keys(values(reading))).toContain("mode");
    expect(Object.keys(values(reading))).not.toContain("power_limit");
    expect(reading.readings.notes).toEqual(["its preset switcher selects presets automatically"]);
  });

  test("of firmware before 1.3.3 have no throttle", async () => {
    const { rig } = await start({ version: "1.2.6" });
    expect(Object.keys(values(await rig.read(deadline())))).not.toContain("throttle");
    expect(["1.3.3", "1.3.10", "2.0", "1.4.0-rc1"].map((version) => isSince(version, [1, 3, 3]))).toEqual(
      Array(4).fill(true),
    );
    expect(["1.3.2", "1.2.9", "new", null].map((version) => isSince(version, [1, 3, 3]))).toEqual(Array(4).fill(false));
  });

  test("restart and reboot are done and told", async () => {
    const { rig, simulated } = await start();
    await rig.set("restart", true, deadline());
    await rig.set("reboot", true, deadline());
    expect(simulated.requests.writes).toEqual(["mining/restart", "system/reboot"]);
    clock.pass(10);
    expect((await rig.read(deadline())).readings.uptime).toBe(10);
  });

  test("out of range or of the wrong kind send nothing", async () => {
    const { rig, simulated } = await start();
    for (const [key, value] of [
      ["power_limit", 100],
      ["mode", "3200"],
      ["throttle", 10],
      ["fan", 5],
      ["temperature_target", 100],
    ] as const) {
      await expect(rig.set(key, value, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    }
    await expect(rig.set("frequency", 500, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that the rig refuses are refused in its words", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining('refused "mining/stop": 500 Not permitted'),
    });
  });

  test("that were stored, but not taken up, say so", async () => {
    const asked: string[] = [];
    const rig = await showing(
      {
        summary: mining,
        status: { miner_state: "mining", find_miner: false },
        "autotune/presets": [{ name: "1100", status: "tuned" }],
        "POST settings": { restart_required: true, reboot_required: true },
      },
      asked,
    );
    await expect(rig.set("mode", "1100", deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("The settings are stored, but mining was not restarted"),
    });
    // The newer name of a path is tried where the older is not there.
    await expect(rig.set("locate", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect(asked.slice(-2)).toEqual(["POST find-miner", "POST locate-miner"]);
  });
});

describe("the login", () => {
  test("is not needed to read newer firmware, but to control it", async () => {
    const { rig, simulated } = await start({}, {});
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions, reading.readings.mining]).toEqual([[], [], true]);
    expect(reading.readings.notes).toEqual(["to control this rig, configure the password of its web interface"]);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.login" });
    const pool = await poolAt(rig, 0);
    await expect(rig.pools.switch?.(pool, deadline())).rejects.toMatchObject({ code: "rig.login" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("is needed to read older firmware", async () => {
    const { rig } = await start({ version: "1.2.6" }, {});
    await expect(rig.read(deadline())).rejects.toMatchObject({
      code: "rig.login",
      message: expect.stringContaining("requires its password"),
    });
  });

  test("with a wrong password is refused, tried once only, and tells none", async () => {
    const { rig, simulated } = await start({}, { password: "wrong-secret" });
    for (let reads = 0; reads < 8; reads += 1) {
      const { readings, controls } = await rig.read(deadline());
      expect([readings.notes, controls]).toEqual([["this rig rejects the configured password"], []]);
    }
    const refused = rig.set("mining", false, deadline());
    await expect(refused).rejects.toMatchObject({ code: "rig.login", message: expect.stringContaining("(403)") });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining("wrong-secret") });
    for (let tries = 0; tries < 5; tries += 1) await rig.set("mining", false, deadline()).catch(() => {});
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.login",
      message: expect.stringContaining("too many wrong passwords"),
    });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("with a wrong password does not read older firmware", async () => {
    const { rig } = await start({ version: "1.2.6" }, { password: "wrong" });
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.login" });
  });

  test("with an API key needs no password", async () => {
    const apiKey = "k".repeat(32);
    const { rig, simulated } = await start({ apiKey, version: "1.2.6" }, { token: apiKey });
    expect((await rig.read(deadline())).controls.length).toBeGreaterThan(5);
    await rig.set("mining", false, deadline());
    expect(simulated.requests.writes).toEqual(["mining/stop"]);
  });

  test("with a wrong API key is refused", async () => {
    const { rig } = await start({}, { token: "nonsense" });
    await rig.read(deadline());
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.login",
      message: expect.stringContaining("API key"),
    });
  });

  test("is kept, and renewed once when its token has run out", async () => {
    const { rig, simulated } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    await renewed(rig, () => rig.set("mining", false, deadline()));
    expect((await rig.read(deadline())).readings.mining).toBe(false);
    clock.pass(61);
    await renewed(rig, () => rig.set("fan", 50, deadline()));
    expect(simulated.requests.writes.map((write) => write.split(" ")[0])).toEqual([
      "mining/stop",
      "mining/stop",
      "settings",
    ]);
  });

  test("whose new token is refused is an error, not a circle", async () => {
    const asked: string[] = [];
    const rig = await showing({ summary: mining, "POST mining/restart": http(401, "") }, asked);
    await expect(rig.set("restart", true, deadline())).rejects.toMatchObject({ code: "rig.login" });
    expect(asked.filter((each) => each === "POST mining/restart")).toHaveLength(1);
  });
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "secret" };

  test("are added, put first and removed by the whole list, with the passwords of the others", async () => {
    const { rig, simulated } = await start();
    await expect(rig.pools.add?.(login, deadline())).resolves.toBe("VNish stored the settings and restarts mining");
    expect(objectOf(JSON.parse(simulated.requests.writes[0]?.replace("settings ", "") ?? ""))).toEqual({
      miner: {
        pools: [
          { url: "stratum+tcp://pool.example.com:3333", user: "acct.vnish-1", pass: "x" },
          { url: "stratum+tcp://backup.example.net:3333", user: "acct.vnish-1", pass: "x" },
          { url: login.url, user: "acct.new", pass: "secret" },
        ],
      },
    });
    await rig.pools.prioritize?.(await poolAt(rig, 2), deadline());
    const third = await poolAt(rig, 2);
    expect(third.url).toContain("backup");
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    // It has moved up by one, and is found all the same.
    await rig.pools.remove?.(third, deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:4444", "DevFee"]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
  });

  test("are switched between without a change of the list", async () => {
    const { rig, simulated } = await start();
    await rig.pools.switch?.(await poolAt(rig, 1), deadline());
    expect((await poolAt(rig, 1)).active).toBe(true);
    expect(simulated.requests.writes).toEqual(['mining/switch-pool {"pool_id":1}']);
  });

  test("of the firmware's maker are shown, never changed", async () => {
    const { rig, simulated } = await start();
    const fee = await poolAt(rig, 2);
    expect(fee.devFee).toBe(true);
    for (const action of ["switch", "remove", "prioritize"] as const) {
      await expect(rig.pools[action]?.(fee, deadline())).rejects.toMatchObject({ code: "not.possible" });
    }
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that are one too many leave the old list, and the refusal tells no password", async () => {
    const { rig } = await start();
    await rig.pools.add?.(login, deadline());
    const refused = rig.pools.add?.(
      { ...login, url: "stratum+tcp://more.example.org:1", password: "other" },
      deadline(),
    );
    await expect(refused).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Failed to parse settings"),
    });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringMatching(/secret|other/) });
    expect((await rig.read(deadline())).pools).toHaveLength(4);
  });

  test("whose passwords are hidden are not written back", async () => {
    const { rig, simulated } = await start({ hidesPasswords: true });
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({
      code: "rig.read-only",
      message: expect.stringContaining("hides the passwords"),
    });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("of settings that are broken are not written back", async () => {
    for (const settings of [
      {},
      { miner: {} },
      { miner: { pools: [{ url: 1 }] } },
      http(200, '{"miner":{"pools":[}}'),
    ]) {
      const asked: string[] = [];
      const rig = await showing({ summary: mining, settings }, asked);
      await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "rig.garbled" });
      expect(asked).not.toContainEqual(expect.stringContaining("POST settings"));
    }
  });

  test("gone from the list, or with a wrong address, send nothing", async () => {
    const { rig, simulated } = await start();
    const gone = { ...(await poolAt(rig, 0)), url: "stratum+tcp://gone.example.com:1" };
    await expect(rig.pools.remove?.(gone, deadline())).rejects.toMatchObject({ code: "not.possible" });
    await expect(rig.pools.add?.({ ...login, url: "nowhere" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    expect(simulated.requests.writes).toEqual([]);
  });
});

describe("other rigs", () => {
  test("say failures, lost fans, failed boards and the temperatures of their water", async () => {
    const rig = await showing({
      summary: {
        miner: {
          miner_type: "Antminer S19 Hydro (Vnish 1.3.4)",
          miner_status: { miner_state: "failure", failure_code: 1002, description: "Failed to parse configuration" },
          hr_realtime: 9300.5,
          chains: [
            {
              id: 1,
              status: { state: "failure", description: "No chips" },
              inlet_water_temp: 31,
              outlet_water_temp: 38,
            },
            { id: 2, status: { state: "disabled" }, inlet_water_temp: 32, outlet_water_temp: 0 },
          ],
          cooling: { fans: [{ id: 0, rpm: 0, status: "lost" }], settings: { mode: { name: "immersion" } } },
          pools: [{ id: 7, url: "scrypt.example.com:1", user: "w", status: "offline" }],
        },
      },
      info: { hr_measure: "MH/s", algorithm: "scrypt", serial: "SN1" },
    });
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({
      hashrate: 9300.5e6,
      algorithm: "scrypt",
      mining: false,
      temperatureIn: 32,
      temperatureOut: 38,
      errors: [
        { code: "1002", text: "Failed to parse configuration" },
        { code: "board.failure", text: "Board 1: No chips" },
        { code: "fan.lost", text: "Fan 0 does not turn" },
      ],
    });
    expect(haltOf(reading)).toEqual({ code: "hardware", text: "Failed to parse configuration" });
    expect(reading.identity).toMatchObject({ model: "Antminer S19 Hydro", firmware: "1.3.4", serial: "SN1" });
    expect(reading.devices.map(({ status }) => status)).toEqual(["dead", "disabled"]);
    expect(reading.pools[0]).toMatchObject({ index: 7, url: "stratum+tcp://scrypt.example.com:1", status: "dead" });
    // It may be started and stopped; its cooling is left alone, and what it does not tell is not offered.
    expect(values(reading)).toEqual({ restart: null, reboot: null, mining: null });
  });

  test.each([
    ["initializing", true, true, "warming"],
    ["restarting", true, true, "warming"],
    ["auto-tuning", true, false, "tuning"],
    ["mining", true, false, "unknown"],
    ["shutting-down", false, false, "user"],
  ])("say whether they start, and why they do not hash: %s", async (state, mining, starting, reason) => {
    const rig = await showing({ summary: { miner: { miner_status: { miner_state: state }, hr_realtime: 0 } } });
    const reading = await rig.read(deadline());
    expect([reading.readings.mining, reading.starting]).toEqual([mining, starting]);
    expect(haltOf(reading)?.code).toBe(reason);
  });

  test("that have failed in the heat say so", async () => {
    const status = { miner_state: "failure", failure_code: 80, description: "Overheated: chip temp 105" };
    const rig = await showing({ summary: { miner: { miner_status: status, hr_realtime: 0 } } });
    expect(haltOf(await rig.read(deadline()))).toEqual({ code: "hot", text: "Overheated: chip temp 105" });
  });

  test("that are paused are resumed", async () => {
    const asked: string[] = [];
    const pages = { summary: { miner: { miner_status: { miner_state: "paused" } } }, "POST mining/resume": {} };
    const rig = await showing(pages, asked);
    await rig.set("mining", true, deadline());
    expect(asked).toContain("POST mining/resume");
  });

  test("with odd fields have unknowns and notes", async () => {
    const rig = await showing({ summary: { miner: { hr_realtime: "fast", chains: [3], pools: {}, cooling: 1 } } });
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ hashrate: null, boards: [], mining: null, mode: null });
    expect(readings.notes).toContain("miner.hr_realtime is not a number");
    expect(readings.notes).toContain('its "perf-summary" could not be read');
  });
});
