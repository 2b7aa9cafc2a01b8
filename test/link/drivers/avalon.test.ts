import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { avalon } from "../../../src/link/drivers/avalon/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { AvalonSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { serve } from "../servers.ts";

let now = 1.8e12;
const pass = (seconds: number): void => {
  now += seconds * 1000;
};

async function start(
  spec: Partial<AvalonSpec> = {},
  credentials: Credentials = {},
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  now = 1.8e12;
  const simulated = await startRig({ kind: "avalon", warm: true, restartSeconds: 0, ...spec }, () => now);
  return { rig: rigAt(avalon, simulated.address, credentials), simulated };
}

const owner = { username: "root", password: "root" };
const ok = { STATUS: [{ STATUS: "S", When: 1_700_000_000, Code: 1, Msg: "fine" }] };
const withLine = (line: string, more: object = {}): object => ({
  ...ok,
  STATS: [{ ID: "AVA100", "MM ID0": line, ...more }],
});
const refusal = (words: string, code = 120): object => ({ STATUS: [{ STATUS: "E", Code: code, Msg: words }] });
const help = (options: string): object => ({
  STATUS: [{ STATUS: "I", Code: 118, Msg: `ASC 0 set info: ${options}|` }],
});

/** A rig that answers what is written for it, and that it knows nothing else. */
async function answering(answers: Record<string, unknown>, asked: string[] = []): Promise<Rig> {
  const all: Record<string, unknown> = { summary: { ...ok, SUMMARY: [{ Elapsed: 7, "MHS 5s": 5e6 }] }, ...answers };
  const server = await serve((socket, request) => {
    if (!request.startsWith("{")) {
      socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    const { command, parameter } = JSON.parse(request);
    asked.push(parameter === undefined ? command : `${command}|${parameter}`);
    const answer = all[asked.at(-1) ?? ""] ?? refusal("Invalid command", 14);
    socket.end(`${typeof answer === "string" ? answer : JSON.stringify(answer)}\0`);
  });
  return rigAt(avalon, `127.0.0.1:${server.port}`);
}

describe("an address is recognised", () => {
  test.each([
    ["a-series", "AvalonMiner 1246-83"],
    ["nano3", "Avalon Nano 3"],
    ["nano3s", "Avalon Nano 3S"],
    ["mini3", "Avalon Mini 3"],
    ["q", "Avalon Q"],
  ] as const)("as %s", async (generation, model) => {
    const { simulated } = await start({ generation });
    const found = await identify(parseAddress(simulated.address), {}, deadline());
    expect(found.driver.id).toBe("avalon");
    expect(found.identity).toMatchObject({ make: "Avalon", model, firmware: expect.stringMatching(/^25061801_/) });
    found.rig.close();
    expect(simulated.requests.writes).toEqual([]);
  });

  test("by its page alone where RPC is closed, and not where RPC says another firmware", () => {
    const root = { status: 200, headers: {}, body: "<title>Avalon Device</title>" };
    const signs = { root, version: null, pages: {}, reports: {} };
    expect(avalon.recognise(signs)).toEqual({ make: "Avalon" });
    const luxos = { ...ok, VERSION: [{ LUXminer: "2024", Type: "Avalon" }] };
    expect(avalon.recognise({ ...signs, version: luxos })).toBeUndefined();
    expect(avalon.recognise({ ...signs, root: null })).toBeUndefined();
  });
});

describe("a Q is read", () => {
  test("with every figure that it reports, in SI units", async () => {
    const { rig, simulated } = await start();
    const { model } = simulated;
    const { readings, identity, workUtility, software, logInterval } = await rig.read(deadline());
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(readings.hashrate).toBeCloseTo(model.hashrate(5), -8);
    expect(readings.hashrateAverage).toBeCloseTo(model.averageHashrate, -8);
    expect(readings.hashrateExpected).toBeCloseTo(model.ratedHashrate, -8);
    expect(readings).toMatchObject({
      algorithm: "sha256",
      power: Math.round(model.power),
      powerSource: "reported",
      powerLimit: 1674,
      temperature: Math.round(model.temperature),
      temperatureIn: 25,
      temperatureOut: expect.any(Number),
      uptime: 3600,
      mining: true,
      mode: "super",
      locate: null,
      bestShare: model.bestShare,
      foundBlocks: 0,
      shares: { ...model.shares, hardwareErrors: model.hardwareErrors },
      psu: { power: Math.round(model.power), voltage: 24.1 },
      errors: [],
      notes: [],
    });
    expect(readings.fans).toHaveLength(4);
    expect(readings.fans[0]).toEqual({ rpm: model.fanRpm, percent: Math.round(model.fan * 100) });
    expect(readings.boards).toEqual([
      expect.objectContaining({
        slot: 0,
        chips: 160,
        chipsExpected: 160,
        frequency: 500e6,
        chipTemperature: Math.round(model.temperature) + 8,
      }),
    ]);
    expect(identity).toMatchObject({ mac: simulated.mac, model: "Avalon Q", serial: expect.stringMatching(/^0201/) });
    expect([software, logInterval]).toEqual([null, null]);
    expect(workUtility).toBeCloseTo((60 * model.work) / 3600, 0);
  });

  test("with its pools and its board as a device", async () => {
    const { rig } = await start();
    const reading = await rig.read(deadline());
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    expect(reading.devices).toEqual([expect.objectContaining({ kind: "asic", name: "Board 0", status: "enabled" })]);
  });

  test("with three questions, once it has said what it is", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(3);
    expect(simulated.requests.writes).toEqual([]);
  });
});

describe("the other generations are read", () => {
  test("an A-series with three boards, its light and the power to its boards", async () => {
    const { rig, simulated } = await start({ generation: "a-series" });
    const { readings, identity } = await rig.read(deadline());
    expect(readings).toMatchObject({
      power: Math.round(simulated.model.power),
      mode: "0",
      locate: false,
      mining: true,
    });
    expect(readings.boards.map(({ slot, chips }) => [slot, chips])).toEqual([
      [0, 120],
      [1, 120],
      [2, 120],
    ]);
    expect(readings.boards.map(({ temperature }) => temperature)).toEqual(
      [0, 1, 2].map((board) => Math.round(simulated.model.temperature - board * 1.5)),
    );
    expect(identity.mac).toBe(simulated.mac);
  });

  test("a Nano 3 without watts, with its MAC from the web page", async () => {
    const { rig, simulated } = await start({ generation: "nano3" });
    const { readings, identity } = await rig.read(deadline());
    expect(readings).toMatchObject({ power: null, powerSource: null, mode: "high", psu: null });
    expect(identity).toMatchObject({ mac: simulated.mac, serial: null });
  });

  test("a Nano 3S, where -273 °C is no temperature", async () => {
    const { rig, simulated } = await start({ generation: "nano3s" });
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({
      power: Math.round(simulated.model.power),
      temperatureIn: null,
      mode: "high",
      psu: { voltage: 27.5 },
    });
  });

  test("a Mini 3 with what it takes from the wall", async () => {
    const { rig, simulated } = await start({ generation: "mini3" });
    const { readings } = await rig.read(deadline());
    expect([readings.power, readings.mode]).toEqual([Math.round(simulated.model.power), "super"]);
  });
});

describe("lines of other firmware", () => {
  test.each([
    ["Ver[1047-19120401_d46bc64_0367a8b] PS[0 1212 1315 174 2288 1320]", 2288],
    ["Ver[1346-110-24041001_08b0955_0196aba] PS[0 1199 1391 225 3126 1393 3348]", 3126],
    ["Ver[15-194-24102401_25462b2] PS[0 1209 1187 297 3526 1188 3731]", 3731],
    ["Ver[15-194-24102401_25462b2] PS[0 1209 1187 297 3526 1188 3731] WALLPOWER[3740]", 3740],
    ["Ver[921-18051401_1a2b] PS[0 1 2 3 4 5]", null],
    ["Ver[Nano3s-25021401_56abae7] PS[0 0 27541 4 0 3756 133]", 133],
    ["Ver[nano3-24071801_42c628d] PS[0 0 0 4 2756 126 330]", null],
    ["Ver[Q-25052801_14a19a2] PS[0 1216 1 0 0 2243 17]", 17],
    ["Ver[Q-25052801_14a19a2] PS[0 x y]", null],
  ])("%s takes %p W", async (line, watts) => {
    const rig = await answering({ stats: withLine(line) });
    expect((await rig.read(deadline())).readings.power).toBe(watts);
  });

  test("the line names the model where the version does not", async () => {
    const rig = await answering({ stats: withLine("Ver[1246-83-21072802_4ec6bb0] DNA[02010000cbd2fd6d]") });
    expect((await rig.read(deadline())).identity).toMatchObject({
      model: "AvalonMiner 1246-83",
      firmware: "21072802_4ec6bb0",
      serial: "02010000cbd2fd6d",
    });
  });

  test("an idle rig hashes nothing, whatever its averages say", async () => {
    const line = "SYSTEMSTATU[Work: In Idle, Hash Board: 1] GHSspd[0.00] MGHS[44499.41] TA[160] TMax[0] PVT_T0[58 59]";
    const rig = await answering({ stats: withLine(line) });
    const { readings, halt } = await rig.read(deadline());
    expect(halt?.code).toBe("user");
    expect(readings).toMatchObject({ mining: false, hashrate: 0, temperature: null });
    expect(readings.boards[0]).toMatchObject({ hashrate: 0, chips: null, chipsExpected: 160, chipTemperature: null });
  });

  test("an idle rig that was not switched off does not count as stopped by a user", async () => {
    const idle = (softOff: number) =>
      withLine(`SYSTEMSTATU[Work: In Idle, Hash Board: 1] GHSspd[0.00] SoftOFF[${softOff}]`);
    const codes = [];
    for (const softOff of [0, 4]) {
      const rig = await answering({ stats: idle(softOff) });
      codes.push(haltOf(await rig.read(deadline()))?.code);
    }
    expect(codes).toEqual(["unknown", "user"]);
  });

  test("its errors are listed, and the bit of healthy boards is not one", async () => {
    const line =
      "SYSTEMSTATU[Work: In Fault, Hash Board: 3 ] ECHU[512 0 513] ECMM[1] FanErr[2] PS[4 0 0 0 0] MGHS[1 2 3]";
    const rig = await answering({ stats: withLine(line) });
    const { readings } = await rig.read(deadline());
    expect(readings.errors.map(({ code }) => code)).toEqual(["system.fault", "board.2", "control-board", "fan", "psu"]);
    expect(readings.mining).toBe(false);
  });

  test("the shorter report is read where the others are empty, and asked first from then on", async () => {
    const asked: string[] = [];
    const empty = { ...ok, STATS: [{ ID: "AVALON0", "MM ID0:Summary": "" }] };
    const lite = withLine("STATE[1] MODE[2] LEVEL[-1] GHSspd[80000.0] ITemp[21]");
    const rig = await answering({ stats: empty, estats: empty, litestats: lite }, asked);
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ mining: true, mode: "2, level -1", hashrate: 80e12, temperatureIn: 21 });
    asked.length = 0;
    await rig.read(deadline());
    expect(asked).toEqual(["summary", "pools", "litestats"]);
  });

  test("a rig without any of these reports is not asked for all of them each time", async () => {
    const asked: string[] = [];
    const rig = await answering({ stats: { ...ok, STATS: [{ ID: "AVALON0", "MM ID0": "" }] } }, asked);
    expect((await rig.read(deadline())).readings).toMatchObject({ mining: true, temperature: null, boards: [] });
    asked.length = 0;
    await rig.read(deadline());
    expect(asked).toEqual(["summary", "pools", "stats"]);
  });

  test("a report that cannot be read costs a note, not the read", async () => {
    const rig = await answering({ stats: "{no json", pools: "[" });
    const { readings } = await rig.read(deadline());
    expect(readings.hashrate).toBe(5e12);
    expect(readings.notes.length).toBeGreaterThan(1);
  });
});

describe("controls", () => {
  test.each([
    ["a-series", ["mining", "mode", "fan", "locate", "reboot"]],
    ["nano3", ["mode", "reboot"]],
    ["nano3s", ["mode", "fan", "temperature_target", "locate", "reboot"]],
    ["mini3", ["mining", "mode", "fan", "reboot"]],
    ["q", ["mining", "mode", "fan", "reboot"]],
  ] as const)("of a %s are those that its firmware lists", async (generation, keys) => {
    const { rig } = await start({ generation });
    expect((await rig.read(deadline())).controls.map(({ key }) => key)).toEqual(keys);
  });

  test.each(["Q-25052801_14a19a2", "Nano3s-25021401_56abae7"])(
    "hold no search where the lamp of a %s is lit",
    async (ver) => {
      const rig = await answering({
        stats: withLine(`Ver[${ver}] SYSTEMSTATU[Work: In Work, Hash Board: 1] Led[1]`),
        "ascset|0,help": help("help|led|reboot"),
      });
      const { readings, controls } = await rig.read(deadline());
      expect(readings.locate).toBeNull();
      expect(controls.map(({ key }) => key)).toEqual(["reboot"]);
    },
  );

  test("of firmware without a list are the reboot, and the light that it reports", async () => {
    const { rig } = await start({ generation: "a-series", helps: false });
    expect(values(await rig.read(deadline()))).toEqual({ locate: false, reboot: null });
  });

  test.each(["q", "a-series"] as const)(
    "stop and start a %s five seconds later by its own clock",
    async (generation) => {
      const { rig, simulated } = await start({ generation });
      await rig.read(deadline());
      await expect(rig.set("mining", false, deadline())).resolves.toContain("success softoff");
      expect(values(await rig.read(deadline())).mining).toBe(true);
      pass(8);
      const stopped = await rig.read(deadline());
      expect(values(stopped).mining).toBe(false);
      expect(stopped.readings).toMatchObject({ mining: false, hashrate: 0 });
      expect(simulated.model.mining).toBe(false);
      await rig.set("mining", true, deadline());
      pass(8);
      expect(values(await rig.read(deadline())).mining).toBe(true);
    },
  );

  test("are read back while the boards come up: started, and so it says", async () => {
    const { rig } = await start({ restartSeconds: 60 });
    await rig.read(deadline());
    await rig.set("mining", false, deadline());
    pass(8);
    await rig.read(deadline());
    await rig.set("mining", true, deadline());
    pass(8);
    const starting = await rig.read(deadline());
    expect([values(starting).mining, starting.readings.mining, starting.starting]).toEqual([true, true, true]);
    pass(60);
    expect((await rig.read(deadline())).starting).toBe(false);
  });

  test("cut the boards' power where there is no standby, and a reboot brings it back", async () => {
    const asked: string[] = [];
    const rig = await answering(
      {
        stats: withLine("SYSTEMSTATU[Work: In Work, Hash Board: 3 ]"),
        "ascset|0,help": help("help|hashpower|reboot"),
        "ascset|0,hashpower,0": help("Power off hash now ..."),
        "ascset|0,reboot,0": ok,
      },
      asked,
    );
    const { controls } = await rig.read(deadline());
    expect(controls.find(({ key }) => key === "mining")).toMatchObject({ value: true, seconds: 230, lasting: false });
    await rig.set("mining", false, deadline());
    await rig.set("mining", true, deadline());
    expect(asked.slice(-2)).toEqual(["ascset|0,hashpower,0", "ascset|0,reboot,0"]);
  });

  test("choose the mode of a Q by name, with watts that its own cap confirms, and reboot it", async () => {
    const { rig, simulated } = await start();
    const mode = (await rig.read(deadline())).controls.find(({ key }) => key === "mode");
    expect(mode).toMatchObject({
      kind: "choice",
      value: "super",
      options: [
        { watts: 800, label: "eco" },
        { watts: 1300, label: "standard" },
        { watts: 1674, label: "super" },
      ],
      lasting: true,
      restartsMining: true,
      seconds: 230,
    });
    await expect(rig.set("mode", "eco", deadline())).resolves.toBe("ASC 0 set OK; ASC 0 set OK");
    expect(simulated.requests.writes).toEqual(["ascset|0,workmode,set,0", "ascset|0,reboot,0"]);
    pass(600);
    const { readings, controls } = await rig.read(deadline());
    expect(readings).toMatchObject({ mode: "eco", powerLimit: 800 });
    expect(Math.abs((readings.power ?? 0) - 800)).toBeLessThan(80);
    expect(controls.find(({ key }) => key === "mode")?.value).toBe("eco");
  });

  test("do not reboot a rig for the mode that it is in", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await expect(rig.set("mode", "super", deadline())).resolves.toContain("already");
    expect(simulated.requests.writes).toEqual([]);
  });

  test("have no watts where the firmware's cap is another", async () => {
    const line = "Ver[Q-25052801_1] SYSTEMSTATU[Work: In Work, Hash Board: 1] WORKMODE[0] WORKLEVEL[1] MPO[900]";
    const rig = await answering({ stats: withLine(line), "ascset|0,help": help("help|workmode|worklevel") });
    const { controls, readings } = await rig.read(deadline());
    expect(controls[0]).toMatchObject({ key: "mode", value: "eco", options: ["eco", "standard", "super"] });
    expect(readings.mode).toBe("eco, level 1");
  });

  test.each([
    ["a-series", "1", ["ascset|0,workmode,1", "ascset|0,reboot,0"]],
    ["mini3", "standard", ["ascset|0,workmode,set,1", "ascset|0,reboot,0"]],
    ["nano3s", "low", ["ascset|0,workmode,set,0"]],
    ["nano3", "medium", ["ascset|0,worklevel,set,1"]],
  ] as const)("choose the mode of a %s in its own form", async (generation, mode, writes) => {
    const { rig, simulated } = await start({ generation });
    await rig.read(deadline());
    await rig.set("mode", mode, deadline());
    expect(simulated.requests.writes).toEqual(writes);
    pass(600);
    expect(values(await rig.read(deadline())).mode).toBe(mode);
  });

  test("set the fan, and make it automatic again", async () => {
    const { rig, simulated } = await start();
    expect((await rig.read(deadline())).controls.find(({ key }) => key === "fan")).toMatchObject({
      min: 25,
      max: 100,
      options: ["auto"],
      value: null,
    });
    await rig.set("fan", 60, deadline());
    expect((await rig.read(deadline())).readings.fans[0]?.percent).toBe(60);
    await rig.set("fan", "auto", deadline());
    expect(simulated.model.fanSetting).toBeNull();
  });

  test("set the target temperature of a Nano 3S", async () => {
    const { rig } = await start({ generation: "nano3s" });
    await rig.read(deadline());
    await rig.set("temperature_target", 75, deadline());
    expect(values(await rig.read(deadline())).temperature_target).toBe(75);
  });

  test("switch the light of an A-series", async () => {
    const { rig } = await start({ generation: "a-series" });
    await rig.read(deadline());
    await rig.set("locate", true, deadline());
    const lit = await rig.read(deadline());
    expect([lit.readings.locate, values(lit).locate]).toEqual([true, true]);
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline())).locate).toBe(false);
  });

  test("make the light of a Nano 3S blink, and restore its effect and colour", async () => {
    const { rig, simulated } = await start({ generation: "nano3s" });
    await rig.read(deadline());
    await rig.set("locate", true, deadline());
    expect(values(await rig.read(deadline())).locate).toBe(true);
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline())).locate).toBe(false);
    expect(simulated.requests.writes).toEqual([
      "ascset|0,ledset,2-100-50-0-120-255",
      "ascset|0,ledset,1-80-50-0-120-255",
    ]);
  });

  test("reboot it, and it is away while it starts", async () => {
    const { rig, simulated } = await start({ restartSeconds: 230 });
    await rig.read(deadline());
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("ASC 0 set OK");
    expect(simulated.requests.writes).toEqual(["ascset|0,reboot,0"]);
    await expect(rig.read(deadline(1_000))).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
    pass(231);
    expect((await rig.read(deadline())).readings.uptime).toBeLessThan(5);
  });
});

describe("what cannot be done fails with its own code", () => {
  test.each([
    ["mining", "off"],
    ["fan", 10],
    ["fan", "loud"],
    ["mode", "turbo"],
  ] as const)("%s takes no %p, and nothing is sent", async (key, value) => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await expect(rig.set(key, value, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("a control that it lacks", async () => {
    const { rig, simulated } = await start({ generation: "nano3s" });
    await rig.read(deadline());
    for (const key of ["mining", "frequency", "voltage", "power_limit", "restart"] as const)
      await expect(rig.set(key, false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("a rig that only lets itself be read", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("fan", 50, deadline())).rejects.toMatchObject({
      code: "rig.read-only",
      message: expect.stringContaining("Access denied"),
    });
  });

  test.each([
    [refusal("ASC 0 set failed: Unknown option: fan-spd"), "control.absent", "Unknown option"],
    [refusal("ASC 0 set failed: current mode 1 is caling Don't permit switch mode"), "rig.refused", "caling"],
    [help("not in (day)mode now"), "rig.refused", "not in (day)mode now"],
    [{ odd: true }, "rig.garbled", "without a STATUS"],
  ])("%j", async (answer, code, words) => {
    const rig = await answering({
      stats: withLine("FanR[30%]"),
      "ascset|0,help": help("help|fan-spd"),
      "ascset|0,fan-spd,40": answer,
    });
    await rig.read(deadline());
    await expect(rig.set("fan", 40, deadline())).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    });
  });

  test("an option that is gone is looked for anew with the next read", async () => {
    const asked: string[] = [];
    const rig = await answering(
      {
        stats: withLine("FanR[30%]"),
        "ascset|0,help": help("help|fan-spd"),
        "ascset|0,fan-spd,40": refusal("Unknown option: fan-spd"),
      },
      asked,
    );
    await rig.read(deadline());
    await expect(rig.set("fan", 40, deadline())).rejects.toMatchObject({ code: "control.absent" });
    asked.length = 0;
    await rig.read(deadline());
    expect(asked).toContain("ascset|0,help");
  });

  test("a rig that says nothing", async () => {
    const { rig, simulated } = await start();
    simulated.fault = "silent";
    await expect(rig.read(deadline(300))).rejects.toMatchObject({ code: "rig.timeout" });
  });
});

test("it is asked one thing at a time, and what it can do only once per firmware", async () => {
  let open = 0;
  let most = 0;
  const asked: string[] = [];
  const server = await serve((socket, request) => {
    open += 1;
    most = Math.max(most, open);
    const { command, parameter } = JSON.parse(request);
    asked.push(`${command}|${parameter}`);
    const version = { ...ok, VERSION: [{ PROD: "Avalon Q", MODEL: "Q", CGVERSION: "1" }] };
    const answer = command === "version" ? version : command === "summary" ? { ...ok, SUMMARY: [{ Elapsed: 5 }] } : ok;
    setImmediate(() => {
      open -= 1;
      socket.end(`${JSON.stringify(answer)}\0`);
    });
  });
  const rig = rigAt(avalon, `127.0.0.1:${server.port}`);
  await rig.read(deadline());
  rig.doubt?.();
  await rig.read(deadline());
  expect(most).toBe(1);
  expect(asked.filter((each) => each === "version|undefined")).toHaveLength(2);
  // It answers this with rubbish, so it is not asked about the others either.
  expect(asked.filter((each) => each.startsWith("check|"))).toEqual(["check|addpool"]);
});

describe("pools with the password of the web page", () => {
  const third = { url: "stratum+tcp://third.example.org:4444", worker: "acct.q", password: "p,w" };

  test("are added to the list that a Q keeps, with the passwords of the others, and it restarts", async () => {
    const { rig, simulated } = await start({}, owner);
    expect((await rig.read(deadline())).poolActions).toEqual([
      "add",
      "use",
      "switch",
      "enable",
      "disable",
      "remove",
      "prioritize",
    ]);
    await expect(rig.pools.add?.(third, deadline())).resolves.toMatch(/stores 3 pools.*restarts/);
    expect(simulated.requests.writes).toEqual(["POST /cgpools.cgi", "ascset|0,reboot,0"]);
    expect(listed(await rig.read(deadline()))).toEqual([
      "*pool.example.com:3333",
      "backup.example.net:3333",
      "third.example.org:4444",
    ]);
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["x", "x", "p,w"]);
    expect((await rig.read(deadline())).poolActions).not.toContain("add");
    const fourth = { ...third, url: "stratum+tcp://fourth.example.org:1" };
    await expect(renewed(rig, async () => rig.pools.add?.(fourth, deadline()))).rejects.toMatchObject({
      code: "not.possible",
    });
  });

  test("are removed, and used in the first place", async () => {
    const { rig } = await start({ generation: "mini3" }, owner);
    await rig.read(deadline());
    await rig.pools.remove?.(await poolAt(rig, 0), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*backup.example.net:3333"]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    await renewed(rig, async () => rig.pools.use?.(third, deadline()));
    expect(listed(await rig.read(deadline()))).toEqual(["*third.example.org:4444"]);
  });

  test("stay as they are where the rig does not take the list, and it is not restarted", async () => {
    const { rig, simulated } = await start({}, owner);
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.pools.add?.(third, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    simulated.fault = null;
    expect(simulated.requests.writes).toEqual(["POST /cgpools.cgi"]);
    await rig.set("reboot", true, deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test("are refused with a wrong password, without it in the message, and nothing is written", async () => {
    const { rig, simulated } = await start({ password: "another" }, { password: "geheim" });
    await rig.read(deadline());
    await expect(rig.pools.add?.(third, deadline())).rejects.toMatchObject({
      code: "rig.login",
      message: expect.not.stringContaining("geheim"),
    });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("are changed again after a restart has made the cookie worthless", async () => {
    const { rig, simulated } = await start({}, owner);
    await rig.read(deadline());
    await rig.pools.add?.(third, deadline());
    pass(60);
    await rig.set("reboot", true, deadline());
    pass(60);
    const added = await poolAt(rig, 2);
    await renewed(rig, async () => rig.pools.remove?.(added, deadline()));
    expect(simulated.requests.writes.filter((write) => write.startsWith("POST"))).toHaveLength(2);
    expect(listed(await rig.read(deadline()))).toHaveLength(2);
  });

  test("with a password that the rig's page garbles are left alone rather than wiped", async () => {
    const pools = [{ url: "stratum+tcp://a.example.com:1", user: "w", password: 'p"q' }];
    const { rig, simulated } = await start({ pools }, owner);
    await rig.read(deadline());
    await expect(rig.pools.add?.(third, deadline())).rejects.toMatchObject({ code: "rig.garbled" });
    await expect(rig.pools.add?.({ ...third, password: 'a"b' }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("are set place by place on an A-series, which then restarts, and no password is passed on", async () => {
    const { rig, simulated } = await start({ generation: "a-series" }, owner);
    expect((await rig.read(deadline())).poolActions).toEqual([
      "add",
      "use",
      "switch",
      "enable",
      "disable",
      "prioritize",
    ]);
    const login = { ...third, password: "verborgen" };
    const words = await rig.pools.add?.(login, deadline());
    expect(words).toMatch(/^pool 2 is set; .*restarts/);
    expect(words).not.toContain("verborgen");
    expect(simulated.requests.writes).toEqual([
      "ascset|0,setpool,root,root,2,stratum+tcp://third.example.org:4444,acct.q,verborgen",
      "ascset|0,reboot,0",
    ]);
    expect(listed(await rig.read(deadline()))).toHaveLength(3);
    await rig.pools.use?.({ ...login, worker: "first" }, deadline());
    expect((await rig.read(deadline())).pools[0]).toMatchObject({ worker: "first", active: true });
  });

  test.each([
    [{ password: "geheim" }, third.url, "rig.login"],
    [{ password: "root", username: "admin" }, third.url, "rig.login"],
    [{ password: "root" }, "stratum+tcp://refused.example.org:1", "rig.refused"],
  ])("that an A-series refuses to %j leave it as it is", async (credentials, url, code) => {
    const { rig, simulated } = await start({ generation: "a-series" }, credentials);
    await rig.read(deadline());
    const error = await rig.pools
      .add?.({ url, worker: "w", password: "verborgen" }, deadline())
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringMatching(/^(?!.*(?:geheim|verborgen))/) });
    expect(simulated.requests.writes).not.toContain("ascset|0,reboot,0");
  });

  test("with a comma in it are not sent to an A-series, which reads it as its own", async () => {
    const { rig, simulated } = await start({ generation: "a-series" }, owner);
    await rig.read(deadline());
    await expect(rig.pools.add?.(third, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(simulated.requests.writes).toEqual([]);
  });
});

describe("pools without it", () => {
  test("are chosen, switched off and on and put first by cgminer's own commands", async () => {
    const { rig } = await start();
    expect((await rig.read(deadline())).poolActions).toEqual(["switch", "enable", "disable", "prioritize"]);
    await expect(rig.pools.switch?.(await poolAt(rig, 1), deadline())).resolves.toContain("Switching to pool 1");
    expect(listed(await rig.read(deadline()))).toEqual(["*backup.example.net:3333", "pool.example.com:3333"]);
    await rig.pools.disable?.(await poolAt(rig, 0), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*backup.example.net:3333", "-pool.example.com:3333"]);
    await rig.pools.enable?.(await poolAt(rig, 0), deadline());
    await rig.pools.prioritize?.(await poolAt(rig, 0), deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test("are added and removed where its cgminer does that", async () => {
    const { rig } = await start({ generation: "nano3" });
    expect((await rig.read(deadline())).poolActions).toEqual([
      "add",
      "switch",
      "enable",
      "disable",
      "remove",
      "prioritize",
    ]);
    await rig.pools.add?.({ url: "stratum+tcp://c.example.com:1", worker: "a,b", password: "" }, deadline());
    expect((await poolAt(rig, 2)).worker).toBe("a,b");
    await rig.pools.remove?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toHaveLength(2);
  });

  test("are not added to a Q, and it is said what is missing", async () => {
    const { rig } = await start();
    await rig.read(deadline());
    const login = { url: "stratum+tcp://c.example.com:1", worker: "w", password: "x" };
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.pools.use?.(login, deadline())).rejects.toMatchObject({ code: "rig.login" });
  });
});

test("a reading of it says the same as a later one, so that nothing seems to change", async () => {
  const { rig } = await start();
  const first: Reading = await rig.read(deadline());
  expect(await rig.read(deadline())).toEqual(first);
});
