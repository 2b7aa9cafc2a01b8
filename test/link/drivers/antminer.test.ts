import { afterEach, describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { antminer } from "../../../src/link/drivers/antminer/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { rpcTransport } from "../../../src/link/transports/rpc.ts";
import type { AntminerSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, linkWith, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { closedPort } from "../servers.ts";

const login = { username: "root", password: "root" };

let rig: Rig | undefined;
afterEach(async () => {
  rig?.close();
});

/** The same with nothing listening where RPC is asked. */
async function startWebAlone(
  spec: Partial<AntminerSpec> = {},
  credentials: Credentials = login,
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const { simulated } = await start({ ...spec, speaks: "web" });
  const link = openLink(parseAddress(simulated.address), credentials);
  rig = antminer.connect(linkWith(link, { rpc: rpcTransport("127.0.0.1", await closedPort()) }));
  return { rig, simulated };
}

/** A clock that stands unless it is moved, so that restarts end when a test says so. */
let now = Date.UTC(2026, 0, 1);

async function start(
  spec: Partial<AntminerSpec> = {},
  credentials: Credentials = login,
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "antminer", warm: true, restartSeconds: 120, ...spec }, () => now);
  rig = rigAt(antminer, simulated.address, credentials);
  return { rig, simulated };
}

const minutes = (count: number): void => {
  now += count * 60_000;
};

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);
const posted = ({ requests }: SimulatedRig): string[] =>
  requests.writes.filter((write) => !write.includes("onPageLoaded"));

describe("an Antminer is recognised", () => {
  test.each<[Partial<AntminerSpec>, Credentials, object]>([
    [{}, login, { model: "Antminer S19", mac: "02:51:00:00:00:00", hostname: "antminer-1" }],
    [{ model: "S9" }, login, { model: "Antminer S9", firmware: "Tue May 29 10:21:40 CST 2018" }],
    [{ model: "S23", speaks: "web" }, login, { model: "Antminer S23", serial: "SIM025100000000" }],
    [{ model: "S21 Hydro", speaks: "rpc" }, {}, { model: "Antminer S21 Hyd.", mac: null }],
  ])("%j with the login %j", async (spec, credentials, identity) => {
    const { simulated } = await start(spec);
    const found = await identify(parseAddress(simulated.address), credentials, deadline());
    expect(found).toMatchObject({ driver: { id: "antminer" }, identity: { make: "Antminer" } });
    await expect(found.rig.read(deadline(8_000))).resolves.toMatchObject({
      identity: { make: "Antminer", ...identity },
    });
  });

  const statusE = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
  const signs = { root: null, version: null, pages: {}, reports: {} };
  test("by its statistics where it no longer knows `version`", () => {
    expect(antminer.recognise({ ...signs, version: statusE })).toEqual({ command: "stats" });
    const reports = { stats: { STATS: [{ Type: "Antminer S21" }] } };
    expect(antminer.recognise({ ...signs, version: statusE, reports })).toMatchObject({ model: "Antminer S21" });
  });

  test.each([
    ["Hiveon", "Hiveon 1.2"],
    ["VNish", "Antminer S19 (Vnish 1.2.6)"],
    ["MSKMiner", "rwglr Antminer S19"],
    ["plain cgminer", "cgminer"],
  ])("and %s on the same hardware is not taken for it", (_, Type) => {
    const version = { STATUS: [{ STATUS: "S" }], VERSION: [{ CGMiner: "4.11.1", Type }] };
    expect(antminer.recognise({ ...signs, version })).toBeUndefined();
  });

  test("and the maker's login is named for those who allow it to be tried", () => {
    expect(antminer.makersLogin).toEqual(login);
  });
});

describe("an Antminer with a login is read", () => {
  test("in four requests, as its model says", async () => {
    const { rig, simulated } = await start({ model: "S23" });
    await rig.read(deadline());
    const before = simulated.requests.count;
    const { readings, pools, devices } = await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(4);
    const { model } = simulated;
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -8),
      hashrateAverage: expect.closeTo(model.averageHashrate, -8),
      hashrateExpected: expect.closeTo(318e12, -8),
      algorithm: "sha256",
      power: Math.round(model.power),
      powerSource: "reported",
      temperature: Math.round(model.temperature),
      uptime: Math.floor(model.elapsed),
      mining: true,
      mode: "normal",
      locate: false,
      bestShare: model.bestShare,
      foundBlocks: 0,
      shares: { ...model.shares, hardwareErrors: expect.any(Number) },
      fans: Array(4).fill({ rpm: model.fanRpm, percent: null }),
      errors: [],
      notes: [],
    });
    expect(readings.boards).toHaveLength(3);
    expect(readings.boards[2]).toMatchObject({
      slot: 3,
      chips: 132,
      chipsExpected: null,
      frequency: 420e6,
      serial: "BOARD2",
    });
    expect(devices.map(({ name }) => name)).toEqual(["Board 1", "Board 2", "Board 3"]);
    expect(pools[0]).toMatchObject({ active: true, priority: 0, accepted: model.shares.accepted });
  });

  test("and what is cooled by water has coolant temperatures in place of fans, and that is no fault", async () => {
    const { rig } = await start({ model: "S21 Hydro" });
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({
      fans: [],
      errors: [],
      temperatureIn: 26,
      temperatureOut: 37,
      power: null,
    });
    expect(keys(reading)).not.toContain("fan");
  });

  test("and an old one too, whose boards are numbered from 6", async () => {
    const { rig, simulated } = await start({ model: "S9" });
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(simulated.model.hashrate(5), -8),
      mining: true,
      mode: null,
    });
    expect(readings.boards.map(({ slot, chips }) => [slot, chips])).toEqual([
      [6, 63],
      [7, 63],
      [8, 63],
    ]);
    expect(readings.fans).toHaveLength(2);
  });

  test("with its faults in its own words", async () => {
    const { rig, simulated } = await start();
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    const { readings, pools } = await rig.read(deadline());
    expect(readings.errors).toEqual([{ code: "network", text: "network connection lost" }]);
    expect(pools.map(({ status, active }) => [status, active])).toEqual([
      ["dead", false],
      ["dead", false],
    ]);
  });

  test("by the RPC alone when the web interface does not answer, and notes that", async () => {
    const { rig, simulated } = await start({ speaks: "rpc" });
    const reading = await rig.read(deadline());
    expect(reading.readings.hashrate).toBeCloseTo(simulated.model.hashrate(5), -8);
    expect(reading).toMatchObject({ controls: [], poolActions: [] });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("nothing can be controlled now"));
  });

  test.each(["S9", "S23"] as const)("by the web alone when an %s's RPC does not answer", async (model) => {
    const { rig, simulated } = await startWebAlone({ model });
    const reading = await rig.read(deadline());
    expect(reading.readings.hashrate).toBeCloseTo(simulated.model.hashrate(5), -8);
    expect(reading.identity).toMatchObject({ model: `Antminer ${model}` });
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    expect(reading.poolActions).toContain("switch");
  });

  test("still when its login's challenge has grown old", async () => {
    const { rig, simulated } = await start({ nonceSeconds: 60 });
    await rig.read(deadline());
    minutes(5);
    await expect(renewed(rig, () => rig.set("locate", true, deadline()))).resolves.toContain("B000");
    expect(posted(simulated)).toHaveLength(1);
  });

  test("and asked anew what it is when that is in doubt", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    const before = simulated.requests.count;
    rig.doubt?.();
    await expect(rig.read(deadline())).resolves.toMatchObject({ identity: { mac: "02:51:00:00:00:00" } });
    expect(simulated.requests.count - before).toBe(6);
  });
});

describe("an Antminer without a login", () => {
  test("is read over RPC, and notes what a login would add", async () => {
    const { rig, simulated } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading.readings.hashrate).toBeCloseTo(simulated.model.hashrate(5), -8);
    expect(reading.controls).toEqual([]);
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("read without a login"));
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test("and reports its power or coolant nevertheless, where it has them", async () => {
    const { rig, simulated } = await start({ model: "S23" }, {});
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ power: Math.round(simulated.model.power), powerSource: "reported" });
    const water = await start({ model: "S21 Hydro" }, {});
    const cooled = await water.rig.read(deadline());
    expect(cooled.readings).toMatchObject({ power: null, fans: [], temperatureIn: 26, temperatureOut: 37 });
  });

  test("is not asked again for what it lacks", async () => {
    const { rig, simulated } = await start({}, {});
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(4);
  });

  test("refuses what only a login gives, and what it does not have at all", async () => {
    const { rig } = await start({}, {});
    await expect(rig.set("reboot", true, deadline())).rejects.toMatchObject({ code: "rig.login" });
    await expect(rig.set("power_limit", 2000, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("and without RPC asks for one", async () => {
    const { rig } = await startWebAlone({}, {});
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.login" });
  });
});

describe("an Antminer with a wrong login", () => {
  test("is read over RPC, and is not controlled", async () => {
    const { rig } = await start({ password: "other" });
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ mining: true });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("rejects this user name and password"));
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.login" });
    const pool = await poolAt(rig, 0);
    await expect(rig.pools.switch?.(pool, deadline())).rejects.toMatchObject({ code: "rig.login" });
  });

  test("and without RPC cannot be read", async () => {
    const { rig } = await startWebAlone({ password: "other" });
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.login" });
  });

  test("is asked again only after a while, or when that is in doubt", async () => {
    const { rig, simulated } = await start({ password: "other" });
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(3);
    rig.doubt?.();
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(3 + 6);
  });
});

describe("an Antminer is controlled", () => {
  test("into sleep and back into the mode in which it was", async () => {
    const { rig, simulated } = await start();
    await rig.set("mode", "low", deadline());
    minutes(5);
    await rig.read(deadline());
    expect(simulated.model.level).toBe(0.7);
    await expect(rig.set("mining", false, deadline())).resolves.toContain("M000");
    minutes(5);
    const asleep = await rig.read(deadline());
    expect(asleep.readings).toMatchObject({ mining: false, mode: "sleep", hashrate: 0 });
    expect(values(asleep)).toMatchObject({ mining: false });
    expect(keys(asleep)).not.toContain("mode");
    await rig.set("mining", true, deadline());
    minutes(5);
    await rig.read(deadline());
    minutes(5);
    const awake = await rig.read(deadline());
    expect(awake.readings).toMatchObject({ mining: true, mode: "low" });
    expect(values(awake)).toMatchObject({ mining: true, mode: "low" });
  });

  test("and while its mining program restarts, its settings are shown and nothing is invented", async () => {
    const { rig } = await start();
    await rig.read(deadline());
    await rig.set("mode", "low", deadline());
    const { readings, controls, pools } = await rig.read(deadline());
    expect(readings).toMatchObject({ mode: "low", mining: null, hashrate: null });
    expect(readings.errors).toContainEqual({ code: "miner.silent", text: expect.stringContaining("does not answer") });
    expect(controls.find(({ key }) => key === "mode")).toMatchObject({
      value: "low",
      lasting: true,
      restartsMining: true,
      seconds: 180,
    });
    expect(pools).toHaveLength(2);
  });

  test.each(["S19", "S9"] as const)("and an %s says which rig it is in each read, whatever restarts", async (model) => {
    const { rig } = await start({ model });
    await rig.read(deadline());
    await rig.set("fan", 50, deadline());
    for (let step = 0; step < 4; step += 1) {
      const { identity } = await rig.read(deadline());
      expect(identity).toMatchObject({ model: `Antminer ${model}`, mac: "02:51:00:00:00:00", hostname: "antminer-1" });
      minutes(1);
    }
  });

  test("also where it takes its mode only as text", async () => {
    const { rig, simulated } = await start({ modeAsText: true });
    await rig.read(deadline());
    await rig.set("mining", false, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: false });
    expect(posted(simulated)).toHaveLength(1);
    await rig.set("mining", true, deadline());
    expect(posted(simulated)).toHaveLength(2);
  });

  test.each(["S19", "S9"] as const)("in the speed of an %s's fans", async (model) => {
    const { rig, simulated } = await start({ model });
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: "auto" });
    await rig.set("fan", 70, deadline());
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: 70 });
    expect(simulated.model.fanSetting).toBe(0.7);
    await rig.set("fan", "auto", deadline());
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: "auto" });
    await expect(rig.set("fan", 120, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    expect(posted(simulated)).toHaveLength(2);
  });

  test.each(["S19", "S9"] as const)("in the light of an %s", async (model) => {
    const { rig } = await start({ model });
    await rig.read(deadline());
    await rig.set("locate", true, deadline());
    expect((await rig.read(deadline())).readings.locate).toBe(true);
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ locate: false });
  });

  test.each(["S19", "S9"] as const)("to a reboot of an %s, which counts from zero after it", async (model) => {
    const { rig } = await start({ model });
    const before = await rig.read(deadline());
    await rig.set("reboot", true, deadline());
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
    minutes(5);
    const after = await rig.read(deadline());
    expect(after.readings.uptime).toBeLessThan(before.readings.uptime ?? 0);
    expect(after.readings.mining).toBe(true);
  });

  test("but to nothing that it lacks", async () => {
    const { rig } = await start({ model: "S9" });
    expect(keys(await rig.read(deadline()))).toEqual(["reboot", "locate", "fan"]);
    for (const key of ["mining", "power_limit", "restart"] as const)
      await expect(rig.set(key, 1, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("and refuses in its own words, without the password", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    const failure = await rig.set("mining", false, deadline()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rig.refused", message: expect.stringContaining("M001 Illegal request!") });
    expect(simulated.model.mining).toBe(true);
  });
});

describe.each(["S19", "S9"] as const)("the pools of an %s", (model) => {
  const third = { url: "stratum+tcp://third.example.org:443", worker: "acct.3", password: "pass:3" };

  test("are added, chosen, put first and removed, with their passwords kept", async () => {
    const pools = [
      { url: "stratum+tcp://pool.example.com:3333", user: "a.1", password: "one" },
      { url: "stratum+tcp://backup.example.net:3333", user: "a.2", password: "two" },
    ];
    const { rig, simulated } = await start({ model, pools });
    const act = async (work: Promise<string> | undefined): Promise<string[]> => {
      await work;
      minutes(5);
      return listed(await rig.read(deadline()));
    };
    expect(await act(rig.pools.add?.(third, deadline()))).toEqual([
      "*pool.example.com:3333",
      "backup.example.net:3333",
      "third.example.org:443",
    ]);
    expect((await rig.read(deadline())).poolActions).toEqual(["use", "switch", "remove", "prioritize"]);
    expect(await act(rig.pools.switch?.(await poolAt(rig, 2), deadline()))).toEqual([
      "*third.example.org:443",
      "pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    expect(await act(rig.pools.remove?.(await poolAt(rig, 1), deadline()))).toEqual([
      "*third.example.org:443",
      "backup.example.net:3333",
    ]);
    expect(await act(rig.pools.use?.({ ...third, worker: "acct.4" }, deadline()))).toEqual([
      "*third.example.org:443",
      "backup.example.net:3333",
    ]);
    expect(simulated.model.pools.map(({ user, password }) => [user, password])).toEqual([
      ["acct.4", "pass:3"],
      ["a.2", "two"],
    ]);
    await act(rig.pools.remove?.(await poolAt(rig, 0), deadline()));
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
  });

  test("are shown as written while the mining program starts anew", async () => {
    const { rig } = await start({ model });
    await rig.pools.switch?.(await poolAt(rig, 1), deadline());
    const reading = await rig.read(deadline());
    expect(listed(reading)).toEqual(["*backup.example.net:3333", "pool.example.com:3333"]);
    expect(reading.pools[0]).toMatchObject({ accepted: null, rejected: null });
  });

  test("stay as they were when the list is full, the pool unknown or the rig unwilling", async () => {
    const { rig, simulated } = await start({ model });
    const before = listed(await rig.read(deadline()));
    const gone = { ...(await poolAt(rig, 0)), worker: "nobody" };
    await expect(rig.pools.remove?.(gone, deadline())).rejects.toMatchObject({ code: "not.possible" });
    await expect(rig.pools.add?.({ ...third, url: "not a pool" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    simulated.fault = "denied";
    await expect(rig.pools.add?.(third, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    simulated.fault = null;
    expect(listed(await rig.read(deadline()))).toEqual(before);
    await rig.pools.add?.(third, deadline());
    minutes(5);
    await expect(rig.pools.add?.({ ...third, worker: "acct.5" }, deadline())).rejects.toMatchObject({
      code: "not.possible",
    });
  });
});

test("an S9 that is applying another change is busy, and keeps its pools", async () => {
  const { rig, simulated } = await start({ model: "S9" });
  await rig.read(deadline());
  await rig.set("fan", 60, deadline());
  await expect(rig.set("fan", 80, deadline())).rejects.toMatchObject({ code: "rig.busy" });
  minutes(5);
  expect(values(await rig.read(deadline()))).toMatchObject({ fan: 60 });
  expect(simulated.model.pools).toHaveLength(2);
});

test("an S9 is not given a password that its scripts would spoil", async () => {
  const { rig, simulated } = await start({ model: "S9" });
  await rig.read(deadline());
  const login = { url: "stratum+tcp://third.example.org:443", worker: "acct.3", password: 'what"now!' };
  await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "input.invalid" });
  expect(posted(simulated)).toEqual([]);
});
