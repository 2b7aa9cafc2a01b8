import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { PoolReading, Reading } from "../../../src/link/driver.ts";
import { poolsOf } from "../../../src/link/drivers/antminer/config.ts";
import { hiveon } from "../../../src/link/drivers/hiveon/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { HiveonSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, poolAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "root", password: "root" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));
const minutes = (count: number): void => clock.pass(count * 60);

const start = starterOf<HiveonSpec>(hiveon, { kind: "hiveon", warm: true, restartSeconds: 120 }, login, clock.now);

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);

test("a Hiveon is recognised by its RPC, though that names MSKMiner's program too, and identified by its page", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "hiveon" }, identity: { make: "Hiveon" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({
    identity: {
      make: "Hiveon",
      model: "Antminer S19 (Hiveon 1.04)",
      firmware: "10 Dec 2023 14:34:31 GMT",
      mac: "02:51:00:00:00:00",
      hostname: "hiveon-1",
    },
  });
  expect(hiveon.makersLogin).toEqual(login);
});

describe("a Hiveon is read", () => {
  test.each<[string, Credentials]>([
    ["with its login", login],
    ["without one", {}],
  ])("in GH/s, with its power, %s", async (_, credentials) => {
    const { rig, simulated } = await start({}, credentials);
    const { readings } = await rig.read(deadline());
    const { model } = simulated;
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -8),
      hashrateAverage: expect.closeTo(model.averageHashrate, -8),
      hashrateExpected: expect.closeTo(95e12, -8),
      algorithm: "sha256",
      power: Math.floor(model.power),
      powerSource: "reported",
      uptime: Math.floor(model.elapsed),
      mining: true,
      errors: [],
      shares: { accepted: model.shares.accepted, rejected: model.shares.rejected },
    });
    expect(readings.boards).toHaveLength(3);
    expect(readings.boards[0]).toMatchObject({ slot: 1, chips: 76, voltage: 13.7, frequency: 675e6 });
  });

  test("with the settings of its page", async () => {
    const { rig } = await start();
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ mode: "normal", locate: false, notes: [] });
    expect(keys(reading)).toEqual(["reboot", "locate", "fan", "mining", "mode"]);
  });

  test("without a login, which is noted", async () => {
    const { rig } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ identity: { mac: null }, controls: [], locked: { why: "login missing" } });
    expect(reading.readings.notes).toEqual([expect.stringContaining("read without a login")]);
  });

  test("with a wrong login by its RPC alone", async () => {
    const { rig } = await start({ password: "other" });
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ controls: [], locked: { why: "login wrong" }, readings: { mining: true } });
  });

  test("and why it does not hash: no pool answers", async () => {
    const { rig, simulated } = await start();
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    minutes(10);
    const reading = await rig.read(deadline());
    expect(reading.readings.hashrate).toBe(0);
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });
});

describe("a Hiveon is controlled", () => {
  test("into sleep and back", async () => {
    const { rig } = await start();
    await rig.read(deadline());
    await expect(rig.set("mining", false, deadline())).resolves.toContain("M000");
    const silent = await rig.read(deadline());
    expect(silent.readings).toMatchObject({ hashrate: null, mode: "sleep", errors: [{ code: "miner.silent" }] });
    minutes(5);
    const asleep = await rig.read(deadline());
    expect(asleep.readings).toMatchObject({ mining: false, mode: "sleep", hashrate: 0 });
    expect(haltOf(asleep)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    minutes(5);
    await rig.read(deadline());
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, mode: "normal" });
  });

  test("in its mode, its fans and its light", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await rig.set("mode", "low", deadline());
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ mode: "low" });
    await rig.set("fan", 70, deadline());
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: 70 });
    expect(simulated.model.fanSetting).toBe(0.7);
    await rig.set("locate", true, deadline());
    expect((await rig.read(deadline())).readings.locate).toBe(true);
  });

  test("to a reboot, after which it counts from zero", async () => {
    const { rig } = await start();
    const before = await rig.read(deadline());
    await rig.set("reboot", true, deadline());
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
    minutes(5);
    const after = await rig.read(deadline());
    expect(after.readings.uptime).toBeLessThan(before.readings.uptime ?? 0);
  });

  test("and refuses in its own words", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.refused" });
  });

  test("in its pools, with their passwords kept", async () => {
    const { rig, simulated } = await start();
    const third = { url: "stratum+tcp://third.example.org:443", worker: "acct.3", password: "pass:3" };
    const act = async (work: Promise<string> | undefined): Promise<string[]> => {
      await work;
      minutes(5);
      return listed(await rig.read(deadline()));
    };
    const [first, second] = ["pool.example.com:3333", "backup.example.net:3333"];
    await rig.read(deadline());
    expect(await act(rig.pools.add?.(third, deadline()))).toEqual([`*${first}`, second, "third.example.org:443"]);
    const switched = ["*third.example.org:443", first, second];
    expect(await act(rig.pools.switch?.(await poolAt(rig, 2), deadline()))).toEqual(switched);
    const prioritized = [`*${second}`, "third.example.org:443", first];
    expect(await act(rig.pools.prioritize?.(await poolAt(rig, 2), deadline()))).toEqual(prioritized);
    expect(await act(rig.pools.remove?.(await poolAt(rig, 1), deadline()))).toEqual([`*${second}`, first]);
    expect(await act(rig.pools.use?.(third, deadline()))).toEqual(["*third.example.org:443", first]);
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["pass:3", "x"]);
  });
});

test("a pool of the firmware's maker is listed as such, behind those of the configuration", () => {
  const pool = { url: "stratum+tcp://pool.example.com:3333", user: "a.1", pass: "x" };
  const running: PoolReading = {
    index: 0,
    url: pool.url,
    worker: pool.user,
    status: "enabled",
    active: false,
    priority: 0,
    quota: null,
    accepted: 1,
    rejected: 0,
    stale: 0,
    devFee: false,
  };
  const fee = { ...running, index: 1, url: "DevFee", worker: "DevFee", active: true, priority: 999, devFee: true };
  const pools = poolsOf({ pools: [pool], mode: 0 }, [running, fee]);
  expect(pools.map(({ url, active, devFee }) => [url, active, devFee])).toEqual([
    [pool.url, false, false],
    ["DevFee", true, true],
  ]);
});

const ok = { STATUS: [{ STATUS: "S", Msg: "fine" }] };
const answers = (stats: object): Readonly<Record<string, object>> => ({
  version: { ...ok, VERSION: [{ BMMiner: "4.11.1 rwglr", Type: "S19x88 Hiveon" }] },
  summary: { ...ok, SUMMARY: [{ Elapsed: 1000, "GHS 5s": 95_000, "GHS av": 95_000 }] },
  stats: {
    ...ok,
    STATS: [{ Type: "S19x88 Hiveon" }, { chain_acn1: 4, chain_acs1: " oxoo", chain_rate1: 95_000, ...stats }],
  },
  pools: { ...ok, POOLS: [{ POOL: 0, URL: "stratum+tcp://pool.example.com:3333", Status: "Alive" }] },
});

/** A rig with these statistics, and with such a page in place of all others, without a login. */
async function answering(stats: object, page = "Socket connect failed: Connection refused\n"): Promise<Reading> {
  const server = await serve((socket, request) => {
    if (!request.startsWith("{")) return socket.end(http(200, page));
    const { command }: { command: string } = JSON.parse(request);
    const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    return socket.end(`${JSON.stringify(answers(stats)[command] ?? refused)}\0`);
  });
  const rig = closing(connect(hiveon, openLink(parseAddress(`127.0.0.1:${server.port}`), login)));
  return rig.read(deadline());
}

describe("the statistics of a Hiveon", () => {
  test.each<[object, number | null]>([
    [{ total_power: 3_358 }, 3_358],
    [{ chain_power: "1240 (3 x 413)" }, 1_240],
    [{ chain_power1: 1_135 }, 1_135],
    [{ chain_power1: 1_135, chain_acn2: 4, chain_rate2: 1 }, null],
    [{ chain_power: "unknown" }, null],
  ])("%j have its power: %d", async (stats, power) => {
    expect((await answering(stats)).readings.power).toBe(power);
  });

  test("show chips that do not answer, and a fault of the power supply in its own words", async () => {
    const { readings } = await answering({ psu_status: "PSU over temperature" });
    expect(readings.boards[0]).toMatchObject({ chips: 3, chipsExpected: 4 });
    expect(readings.errors).toEqual([{ code: "psu", text: "PSU over temperature" }]);
  });

  test("are read though its pages are broken, which is noted", async () => {
    const reading = await answering({});
    expect(reading).toMatchObject({ identity: { make: "Hiveon", mac: null }, controls: [] });
    expect(reading.readings).toMatchObject({ hashrate: 95e12, algorithm: "sha256" });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("its web interface cannot be used now"));
  });

  test("and a configuration without pools is noted, and never written back", async () => {
    const reading = await answering({}, '{"macaddr":"02:00:00:00:00:09"}');
    expect(reading).toMatchObject({ identity: { mac: "02:00:00:00:00:09" }, poolActions: [] });
    expect(keys(reading)).toEqual(["reboot"]);
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("its configuration cannot be read"));
  });
});
