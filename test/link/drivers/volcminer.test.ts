import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { Reading } from "../../../src/link/driver.ts";
import { volcminer } from "../../../src/link/drivers/volcminer/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { VolcminerSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, poolAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "root", password: "ltc@dog" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));
const minutes = (count: number): void => clock.pass(count * 60);

const start = starterOf<VolcminerSpec>(
  volcminer,
  { kind: "volcminer", warm: true, restartSeconds: 120 },
  login,
  clock.now,
);

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);

test("a VolcMiner is recognised by its RPC, and identified by its page", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "volcminer" }, identity: { make: "VolcMiner", model: "VolcMiner D1" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({
    identity: {
      make: "VolcMiner",
      model: "VolcMiner D1",
      firmware: "2025-02-18 15-51-04 CST",
      mac: "02:51:00:00:00:00",
      hostname: "volcminer-1",
    },
  });
  expect(volcminer.makersLogin).toEqual(login);
});

describe("a VolcMiner is read", () => {
  test.each<[string, Credentials]>([
    ["with its login", login],
    ["without one", {}],
  ])("in MH/s, %s", async (_, credentials) => {
    const { rig, simulated } = await start({}, credentials);
    const { readings, devices } = await rig.read(deadline());
    const { model } = simulated;
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -5),
      hashrateAverage: expect.closeTo(model.averageHashrate, -5),
      algorithm: "scrypt",
      power: null,
      uptime: Math.floor(model.elapsed),
      mining: true,
      shares: { accepted: model.shares.accepted, rejected: model.shares.rejected },
    });
    expect(readings.fans.map(({ rpm }) => rpm)).toHaveLength(4);
    expect(readings.boards).toHaveLength(3);
    expect(readings.boards[2]).toMatchObject({ slot: 3, chips: 105, frequency: 1_900e6 });
    const ofBoards = readings.boards.reduce((sum, { hashrate }) => sum + (hashrate ?? 0), 0);
    expect(ofBoards / (readings.hashrate ?? 0)).toBeCloseTo(1, 3);
    expect(devices.map(({ name }) => name)).toEqual(["Board 1", "Board 2", "Board 3"]);
  });

  test("with an empty slot left out", async () => {
    const reading = await damaged({});
    expect(reading.readings.boards.map(({ slot, hashrate }) => [slot, hashrate])).toEqual([
      [1, 5_100e6],
      [2, 5_200e6],
      [4, 5_200e6],
    ]);
    expect(reading.readings).toMatchObject({ hashrate: 15_500e6, temperature: 64 });
  });

  test("without a login, which is noted, and has no controls", async () => {
    const { rig } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({
      identity: { make: "VolcMiner", mac: null, firmware: "1.3.0.8" },
      controls: [],
      poolActions: [],
      locked: { why: "login missing" },
    });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("read without a login"));
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test("with a wrong login by its RPC alone, and its web is asked again only after a while", async () => {
    const { rig, simulated } = await start({ password: "other" });
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ controls: [], locked: { why: "login wrong" }, readings: { mining: true } });
    const before = simulated.requests.count;
    await rig.read(deadline());
    const rpcAlone = simulated.requests.count - before;
    rig.doubt?.();
    await rig.read(deadline());
    expect(simulated.requests.count - before).toBeGreaterThan(2 * rpcAlone);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("and why it does not hash: no pool answers", async () => {
    const { rig, simulated } = await start();
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    minutes(10);
    const reading = await rig.read(deadline());
    expect(reading.pools.map(({ status }) => status)).toEqual(["dead", "dead"]);
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });
});

describe("a VolcMiner is controlled", () => {
  test("to stop and to start, its other settings kept", async () => {
    const { rig, simulated } = await start();
    expect(keys(await rig.read(deadline()))).toEqual(["mining", "reboot"]);
    await expect(rig.set("mining", false, deadline())).resolves.toBe("ok");
    const silent = await rig.read(deadline());
    expect(silent.readings).toMatchObject({ hashrate: null, boards: [], errors: [{ code: "miner.silent" }] });
    expect(values(silent)).toMatchObject({ mining: false });
    minutes(5);
    const stopped = await rig.read(deadline());
    expect(stopped.readings).toMatchObject({ mining: false, hashrate: 0 });
    expect(values(stopped)).toMatchObject({ mining: false });
    expect(haltOf(stopped)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    minutes(5);
    await rig.read(deadline());
    minutes(5);
    const running = await rig.read(deadline());
    expect(values(running)).toMatchObject({ mining: true });
    expect(running.readings.mining).toBe(true);
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["x", "x"]);
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
    expect(simulated.model.pools.map(({ user, password }) => [user, password])).toEqual([
      ["acct.3", "pass:3"],
      ["acct.volcminer-1", "x"],
    ]);
    const spoiled = { ...third, password: 'what"now!' };
    await expect(rig.pools.use?.(spoiled, deadline())).rejects.toMatchObject({ code: "input.invalid" });
  });

  test("and refuses in its own words", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("400 refused"),
    });
    for (const key of ["fan", "locate"] as const)
      await expect(rig.set(key, 1, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });
});

const ok = { STATUS: [{ STATUS: "S", Msg: "fine", Description: "ccminer 2.3.3" }] };
const pool = { url: "stratum+tcp://pool.example.com:3333", user: "a.1", pass: "x" };
const answers: Readonly<Record<string, object>> = {
  version: { ...ok, VERSION: [{ CGMiner: "2.3.3", API: "3.1", Miner: "1.3", Type: "VolcMiner D1" }] },
  summary: { ...ok, SUMMARY: [{ Elapsed: 1000, "MHS 5s": "15500.00", "MHS av": "15400.00" }] },
  stats: {
    ...ok,
    STATS: [
      { Type: "VolcMiner D1" },
      {
        temp1: 64,
        temp2: 63,
        temp3: 0,
        temp4: 63,
        "MHS 5s": "15500.00",
        chain_acn1: 105,
        chain_acn2: 105,
        chain_acn3: 0,
        chain_acn4: 105,
        chain_rate1: "5100.00",
        chain_rate2: "5200.00",
        chain_rate3: "",
        chain_rate4: "5200.00",
      },
    ],
  },
  pools: { ...ok, POOLS: [{ POOL: 0, URL: pool.url, User: pool.user, Status: "Alive", Accepted: 7, Rejected: 1 }] },
};
const pages: Readonly<Record<string, string>> = {
  get_system_info: JSON.stringify({ minertype: "VolcMiner D1", macaddr: "02:00:00:00:00:09" }),
  get_miner_conf: JSON.stringify({ pools: [pool], freq: "1900", "coin-type": "ltc", "sram-voltage": "3" }),
  get_miner_confV1: '{"code": 200, "data": "{ "cfgs": "[{}]", "runmode": "0", "voltage": "1260" }"}',
};

/** Reports and pages, some of them replaced, without a login. */
async function damaged(other: Readonly<Record<string, string>>): Promise<Reading> {
  const server = await serve((socket, request) => {
    if (!request.startsWith("{")) {
      const name = /\/cgi-bin\/(\w+)\.cgi/.exec(request)?.[1] ?? "";
      return socket.end(http(200, other[name] ?? pages[name] ?? ""));
    }
    const { command }: { command: string } = JSON.parse(request);
    const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    return socket.end(other[command] ?? `${JSON.stringify(answers[command] ?? refused)}\0`);
  });
  const rig = closing(connect(volcminer, openLink(parseAddress(`127.0.0.1:${server.port}`), login)));
  return rig.read(deadline());
}

describe("a broken reply of a VolcMiner", () => {
  test.each([
    ["get_miner_conf", "{}"],
    ["get_miner_confV1", '{"code": 200, "data": "{ "voltage": "1260" }"}'],
    ["get_miner_conf", JSON.stringify({ pools: [pool], freq: "1900" })],
  ])("%s costs a note and what is written with it, not the read", async (name, body) => {
    const reading = await damaged({ [name]: body });
    expect(reading).toMatchObject({ identity: { mac: "02:00:00:00:00:09" }, poolActions: [] });
    expect(reading.readings.hashrate).toBe(15_500e6);
    expect(keys(reading)).toEqual(["reboot"]);
    expect(reading.readings.notes).toEqual([expect.stringContaining("its configuration cannot be read")]);
  });

  test("on the page of its identity costs a note and the controls", async () => {
    const reading = await damaged({ get_system_info: "Socket connect failed: Connection refused\n" });
    expect(reading).toMatchObject({ identity: { mac: null }, controls: [], poolActions: [] });
    expect(reading.readings.hashrate).toBe(15_500e6);
    expect(reading.readings.notes).toEqual([expect.stringContaining("its web interface cannot be used now")]);
  });

  test("of its RPC fails the read", async () => {
    await expect(damaged({ summary: "not yet" })).rejects.toMatchObject({ code: "rig.garbled" });
  });
});
