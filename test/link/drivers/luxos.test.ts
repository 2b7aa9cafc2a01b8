import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { luxos } from "../../../src/link/drivers/luxos/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { SessionEnded } from "../../../src/link/session-ended.ts";
import type { LuxosSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { command, objectOf, records } from "../../simulator/ask.ts";
import { deadline, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";

const clock = stoppedClock();

async function start(spec: Partial<LuxosSpec> = {}): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "luxos", warm: true, restartSeconds: 0, ...spec }, clock.now);
  return { rig: rigAt(luxos, simulated.address), simulated };
}

/** A device with these answers by command; `command|parameter` goes before `command`. */
async function answering(answers: Record<string, unknown>, asked: string[] = []): Promise<Rig> {
  const server = await serve((socket, request) => {
    const { command: name, parameter } = objectOf(JSON.parse(request));
    const whole = parameter === undefined ? String(name) : `${name}|${parameter}`;
    asked.push(whole);
    const answer = answers[whole] ?? answers[String(name)] ?? refusal(14, "Invalid command");
    socket.end(`${JSON.stringify(answer)}\0`);
  });
  return rigAt(luxos, `127.0.0.1:${server.port}`);
}

const status = (letter: string, Code: number, Msg: string) => [{ STATUS: letter, Code, Msg }];
const refusal = (code: number, words: string) => ({ STATUS: status("E", code, words) });
const report = (section: string, ...records: object[]) => ({ STATUS: status("S", 1, "ok"), [section]: records });
const summary = report("SUMMARY", { Elapsed: 10, "GHS 5s": 100_000 });

/** The session that somebody holds now. */
const sessionOf = async (simulated: SimulatedRig): Promise<unknown> =>
  records(await command(simulated, "session"), "SESSION")[0]?.SessionID;

const profile = (name: string, watts: number) => ({ "Profile Name": name, Watts: watts });

test("is recognised by its RPC, and by its page alone", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), {}, deadline());
  expect([found.driver.id, found.identity]).toEqual([
    "luxos",
    expect.objectContaining({ make: "LuxOS", model: "Antminer S19k Pro", firmware: "2025.9.8.152528" }),
  ]);
  const root = { status: 200, headers: {}, body: "<title>Luxor Firmware</title>" };
  expect(luxos.recognise({ root, version: null, pages: {}, reports: {} })).toEqual({ make: "LuxOS" });
  expect(luxos.recognise({ root: null, version: report("VERSION", { CGMiner: "4" }), pages: {}, reports: {} })).toBe(
    undefined,
  );
});

test("an S19k Pro is read with every figure that it reports, in SI units, in two questions and one a board", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  const { model } = simulated;
  expect(simulated.requests.count).toBe(5);
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
  expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -8);
  expect(readings).toMatchObject({
    hashrateAverage: expect.closeTo(model.averageHashrate, -8),
    hashrateExpected: expect.closeTo(model.ratedHashrate, -8),
    algorithm: "sha256",
    power: Math.round(model.power),
    powerLimit: Math.round(model.powerAt(590 / 640)),
    powerSource: "reported",
    temperature: Math.round(model.temperature),
    psu: { model: "APW12SIM", power: null },
    uptime: model.elapsed,
    mining: true,
    mode: "default",
    locate: false,
    bestShare: model.bestShare,
    foundBlocks: 0,
    shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
    errors: [],
    notes: [],
  });
  expect(readings.fans).toEqual(Array(4).fill({ rpm: expect.any(Number), percent: Math.round(model.fan * 100) }));
  expect(readings.boards.map(({ slot }) => slot)).toEqual([0, 1, 2]);
  expect(readings.boards[1]).toMatchObject({ chips: 77, frequency: 590e6, voltage: 13.5, chipTemperature: null });
  expect(new Set(readings.boards.map(({ serial }) => serial)).size).toBe(3);
  expect(reading.identity).toMatchObject({ mac: simulated.mac, hostname: "luxos-1", serial: expect.any(String) });
  expect(reading.devices.map(({ name, kind, status }) => [name, kind, status])).toEqual([
    ["Board 0", "asic", "enabled"],
    ["Board 1", "asic", "enabled"],
    ["Board 2", "asic", "enabled"],
  ]);
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  await rig.read(deadline());
  expect(simulated.requests.count).toBe(6);
});

test("firmware that does not join reports is read one after the other", async () => {
  const { rig, simulated } = await start({ joins: false });
  const { readings, controls } = await rig.read(deadline());
  expect(readings).toMatchObject({ mining: true, mode: "default", notes: [] });
  expect(controls.length).toBeGreaterThan(8);
  const before = simulated.requests.count;
  await rig.read(deadline());
  expect(simulated.requests.count - before).toBe(10);
});

test("one that tunes itself says so where it hashes nothing", async () => {
  const config = (mode: string) => report("CONFIG", { CurtailMode: mode, IsTuning: true });
  const rig = await answering({ summary, config: config("None") });
  const { halt } = await rig.read(deadline());
  expect(halt).toMatchObject({ code: "tuning" });
});

test("sections that are refused or odd cost a note each, not the read", async () => {
  const rig = await answering({
    summary,
    config: report("CONFIG", { CurtailMode: 7, RedLed: {}, MACAddr: "0" }),
    devs: report("DEVS", { ID: 0, "MHS 5s": "nan", Enabled: "perhaps", Temperature: 999 }),
    power: "nothing",
  });
  const { readings, devices, identity } = await rig.read(deadline());
  expect(readings).toMatchObject({ hashrate: 1e14, power: null, uptime: 10, mining: true });
  expect(devices).toHaveLength(1);
  expect(identity.mac).toBeNull();
  expect(readings.notes).toEqual(
    expect.arrayContaining(['"temps": Invalid command', "DEVS[0].MHS 5s is not a number"]),
  );
});

test("temperatures in the water are taken from the sensors that LuxOS names so", async () => {
  const rig = await answering({
    summary,
    temps: {
      ...report("TEMPS", { ID: 0, TopLeft: 41, BottomLeft: 33 }, { ID: 1, TopLeft: 42, BottomLeft: 0 }),
      METADATA: [{ TopLeft: { Label: "Water Outlet" }, BottomLeft: { Label: "Water Inlet" } }],
    },
  });
  expect((await rig.read(deadline())).readings).toMatchObject({ temperatureIn: 33, temperatureOut: 42 });
});

describe("controls", () => {
  test("are read back as they were set, and no session is left behind", async () => {
    const { rig, simulated } = await start();
    await rig.set("locate", true, deadline());
    await rig.set("fan", 70, deadline());
    await rig.set("temperature_target", 55, deadline());
    await rig.set("mode", "490MHz", deadline());
    await rig.set("board_1", false, deadline());
    await expect(rig.set("mining", false, deadline())).resolves.toBe("Curtailment command sent");
    const reading = await rig.read(deadline());
    expect(values(reading)).toMatchObject({
      mining: false,
      locate: true,
      mode: "490MHz",
      temperature_target: 55,
      board_0: true,
      board_1: false,
    });
    expect(reading.readings).toMatchObject({ mining: false, mode: "490MHz", locate: true });
    expect(reading.devices[1]?.status).toBe("disabled");
    await rig.set("mining", true, deadline());
    await rig.set("locate", false, deadline());
    await rig.set("board_1", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, locate: false, board_1: true, fan: 70 });
    await rig.set("fan", "auto", deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: "auto" });
    expect(simulated.requests.writes).toEqual([
      "ledset|red,blink",
      "fanset|speed=70",
      "tempctrlset|55,75,80",
      "profileset|490MHz",
      "disableboard|1",
      "curtail|sleep",
      "curtail|wakeup",
      "ledset|red,auto",
      "enableboard|1",
      "fanset|speed=-1",
    ]);
    expect(await sessionOf(simulated)).toBe("");
  });

  test("say what each takes, and the watts of each profile", async () => {
    const { rig, simulated } = await start();
    const { controls } = await rig.read(deadline());
    const lowest = Math.round(simulated.model.powerAt(290 / 640));
    const control = (key: string) => controls.find((each) => each.key === key);
    expect(control("mode")?.options?.[0]).toEqual({ label: "290MHz", watts: lowest });
    expect(control("power_limit")).toMatchObject({ min: lowest, max: 3120, step: 1, unit: "W", lasting: true });
    expect(control("reboot")).toMatchObject({ kind: "trigger", restartsMining: true, seconds: 180 });
    expect(control("temperature_target")).toMatchObject({ max: 75 });
  });

  test("a power limit chooses the strongest profile within it, and is reported as it was asked for", async () => {
    const { rig, simulated } = await start();
    const { controls } = await rig.read(deadline());
    const options = controls.find(({ key }) => key === "mode")?.options ?? [];
    const [, second = ""] = options;
    const watts = typeof second === "string" ? 0 : second.watts;
    await rig.set("power_limit", watts + 10, deadline());
    const reading = await rig.read(deadline());
    expect(values(reading)).toMatchObject({ power_limit: watts + 10, mode: "315MHz" });
    expect(reading.readings.powerLimit).toBe(watts);
    clock.pass(120);
    expect((await rig.read(deadline())).readings.power).toBeLessThan(watts * 1.02);
    await rig.set("mode", "490MHz", deadline());
    expect(values(await rig.read(deadline())).power_limit).toBe(Math.round(simulated.model.powerAt(490 / 640)));
  });

  test("thermal management is off only for the change, and has the limit as its highest profile", async () => {
    const { rig, simulated } = await start({ managed: true });
    const before = await rig.read(deadline());
    expect(before.readings.powerLimit).toBe(Math.round(simulated.model.powerAt(590 / 640)));
    await expect(rig.set("power_limit", 2000, deadline())).resolves.toContain("thermal management stays on");
    expect(simulated.requests.writes).toEqual([
      "atmset|enabled=false",
      "profileset|390MHz",
      "atmset|max_profile=390MHz",
      "atmset|enabled=true",
    ]);
    expect(values(await rig.read(deadline()))).toMatchObject({ power_limit: 2000, mode: "390MHz" });
  });

  test("thermal management is switched on again when the profile is refused", async () => {
    const asked: string[] = [];
    const rig = await answering(
      {
        summary,
        config: report("CONFIG", { Profile: "a", IsAtmEnabled: true }),
        profiles: report("PROFILES", profile("a", 900), profile("b", 1000)),
        logon: report("SESSION", { SessionID: "session1" }),
        atmset: report("ATM"),
        profileset: refusal(400, "Board session1 is ramping"),
        logoff: report("SESSION"),
      },
      asked,
    );
    await expect(rig.set("mode", "b", deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Board *** is ramping"),
    });
    expect(asked.slice(-5)).toEqual([
      "logon",
      "atmset|session1,enabled=false",
      "profileset|session1,b",
      "atmset|session1,enabled=true",
      "logoff|session1",
    ]);
  });

  test("restart and reboot are told in the device's words, and a sleeping rig sleeps on", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("restart", true, deadline())).resolves.toBe("Resetting miner");
    await rig.set("mining", false, deadline());
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("Rebooting device");
    clock.pass(5);
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ mining: false, uptime: 5 });
    expect(simulated.requests.writes).toEqual(["resetminer", "curtail|sleep", "rebootdevice"]);
  });

  test("of a rig that reboots at once are done all the same, and its lost session does no harm", async () => {
    const { rig, simulated } = await start({ restartSeconds: 30 });
    await rig.read(deadline());
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("Rebooting device");
    clock.pass(31);
    await renewed(rig, () => rig.set("locate", true, deadline()));
    expect(values(await rig.read(deadline())).locate).toBe(true);
    expect(await sessionOf(simulated)).toBe("");
  });

  test("out of range or of the wrong kind send nothing", async () => {
    const { rig, simulated } = await start();
    for (const [key, value] of [
      ["power_limit", 100],
      ["power_limit", 9000],
      ["mode", "1000MHz"],
      ["fan", 101],
      ["temperature_target", 90],
      ["mining", 1],
    ] as const) {
      await expect(rig.set(key, value, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    }
    await expect(rig.set("throttle", 50, deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.set("board_7", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that the rig refuses are refused in its words", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("temperature_target", 20, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Invalid parameter: temperatures"),
    });
    simulated.fault = "denied";
    await expect(rig.set("locate", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
  });

  test("without fans, thresholds or profiles are not offered", async () => {
    const rig = await answering({ summary, config: report("CONFIG", { ImmersionMode: true }) });
    expect(Object.keys(values(await rig.read(deadline())))).toEqual(["restart", "reboot"]);
  });
});

describe("the session", () => {
  test("of somebody else is waited for by the owner, in the device's words, until it ends", async () => {
    const { rig, simulated } = await start();
    await command(simulated, "logon");
    const [others] = [await sessionOf(simulated)];
    await expect(rig.set("locate", true, deadline())).rejects.toMatchObject({
      code: "rig.busy",
      message: expect.stringContaining("Another session is active"),
    });
    expect(await sessionOf(simulated)).toBe(others);
    expect(simulated.requests.writes).toEqual([]);
    clock.pass(61);
    await expect(rig.set("locate", true, deadline())).resolves.toBe("LED mode set");
  });

  test("that has run out is renewed once it is known which rig answers", async () => {
    let sessions = 0;
    const asked: string[] = [];
    const server = await serve((socket, request) => {
      const { command: name, parameter = "" } = objectOf(JSON.parse(request));
      asked.push(`${name}|${parameter}`);
      if (name === "logon") sessions += 1;
      const answers: Record<string, unknown> = {
        summary,
        logon: report("SESSION", { SessionID: `s${sessions}` }),
        resetminer: String(parameter) === "s2" ? report("RESET") : refusal(401, "Invalid session"),
        logoff: report("SESSION"),
      };
      socket.end(`${JSON.stringify(answers[String(name)] ?? refusal(14, "Invalid command"))}\0`);
    });
    const rig = rigAt(luxos, `127.0.0.1:${server.port}`);
    await expect(rig.set("restart", true, deadline())).rejects.toBeInstanceOf(SessionEnded);
    expect(asked.slice(-3)).toEqual(["logon|", "resetminer|s1", "logoff|s1"]);
    await expect(rig.set("restart", true, deadline())).resolves.toBe("ok");
    expect(asked.slice(-3)).toEqual(["logon|", "resetminer|s2", "logoff|s2"]);
    await expect(rig.set("reboot", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
  });

  test("that is no word is never sent on", async () => {
    const rig = await answering({ summary, logon: report("SESSION", { SessionID: "a,b" }) });
    await expect(rig.set("restart", true, deadline())).rejects.toMatchObject({ code: "rig.garbled" });
  });
});

describe("pools", () => {
  const login = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "secret" };

  test("are added, switched to, disabled, enabled and removed without a session", async () => {
    const { rig, simulated } = await start();
    await expect(rig.pools.add?.(login, deadline())).resolves.toContain("Added pool 2");
    await rig.pools.switch?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*new.example.org:4444",
      "pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    await rig.pools.disable?.(await poolAt(rig, 0), deadline());
    expect((await poolAt(rig, 0)).status).toBe("disabled");
    await rig.pools.enable?.(await poolAt(rig, 0), deadline());
    expect((await poolAt(rig, 0)).status).toBe("enabled");
    const last = await poolAt(rig, 2);
    await rig.pools.remove?.(await poolAt(rig, 0), deadline());
    // It has moved up by one, and is found all the same.
    await rig.pools.remove?.(last, deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*backup.example.net:3333"]);
    expect(simulated.requests.writes.map((write) => write.replace("secret", "***"))).toEqual([
      "addpool|stratum+tcp://new.example.org:4444,acct.new,***",
      "switchpool|2",
      "disablepool|0",
      "enablepool|0",
      "removepool|0",
      "removepool|1",
    ]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
  });

  test("that are gone, or have a comma in them, send nothing", async () => {
    const { rig, simulated } = await start();
    const gone = { ...(await poolAt(rig, 0)), url: "stratum+tcp://gone.example.com:1" };
    await expect(rig.pools.switch?.(gone, deadline())).rejects.toMatchObject({ code: "not.possible" });
    for (const part of [{ worker: "a,b" }, { password: "a,b" }, { url: "nowhere" }]) {
      await expect(rig.pools.add?.({ ...login, ...part }, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    }
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that are refused leave the list as it was, and tell no password", async () => {
    const pools = Array.from({ length: 8 }, (_, n) => ({ url: `stratum+tcp://p${n}.example.com:1`, user: "w" }));
    const { rig } = await start({ pools });
    const refused = rig.pools.add?.(login, deadline());
    await expect(refused).rejects.toMatchObject({ code: "rig.refused", message: expect.stringContaining("Too many") });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining("secret") });
    expect((await rig.read(deadline())).pools).toHaveLength(8);
  });
});

test("a page on its RPC port is no LuxOS", async () => {
  const server = await serve((socket) => socket.end(http(200, "hello")));
  const rig = rigAt(luxos, `127.0.0.1:${server.port}`);
  await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
});
