import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { Reading } from "../../../src/link/driver.ts";
import { elphapex } from "../../../src/link/drivers/elphapex/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { ElphapexSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { linkOf } from "../link-double.ts";
import { deadline, listed, poolAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { expectContractReads } from "./contract-reads.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "root", password: "root" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));
const minutes = (count: number): void => clock.pass(count * 60);

const start = starterOf<ElphapexSpec>(
  elphapex,
  { kind: "elphapex", warm: true, restartSeconds: 120 },
  login,
  clock.now,
);

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);

test("an Elphapex is recognised by the realm of its login, and read", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "elphapex" }, identity: { make: "Elphapex" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({
    identity: {
      make: "Elphapex",
      model: "DG1+",
      firmware: "DG1+_SW_V1.0.2",
      mac: "02:51:00:00:00:00",
      hostname: "elphapex-1",
      serial: "SIM025100000000",
    },
  });
});

test("and by its page where that needs no login", () => {
  const page = { status: 200, headers: {}, body: "<title>Elphapex</title>" };
  const signs = { root: page, version: null, pages: {}, reports: {} };
  expect(elphapex.recognise(signs)).toEqual({ make: "Elphapex" });
  expect(elphapex.recognise({ ...signs, root: { ...page, body: "<title>Antminer</title>" } })).toBeUndefined();
  expect(elphapex.makersLogin).toEqual(login);
});

describe("an Elphapex is read", () => {
  test("in MH/s, in four requests", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    const before = simulated.requests.count;
    const { readings, pools, devices } = await rig.read(deadline());
    expect(simulated.requests.count - before).toBe(4);
    const { model } = simulated;
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -5),
      hashrateAverage: expect.closeTo(model.averageHashrate, -5),
      hashrateExpected: 14.2e9,
      algorithm: "scrypt",
      power: null,
      temperature: Math.round(model.temperature),
      uptime: Math.floor(model.elapsed),
      mining: true,
      mode: "normal",
      locate: false,
      bestShare: null,
      fans: Array(4).fill({ rpm: model.fanRpm, percent: null }),
      errors: [],
      notes: [],
    });
    expect(readings.boards).toHaveLength(4);
    expect(readings.boards[3]).toMatchObject({ slot: 4, chips: 204, chipsExpected: null, serial: "BOARD3" });
    expect(devices.map(({ name }) => name)).toEqual(["Board 1", "Board 2", "Board 3", "Board 4"]);
    expect(pools[0]).toMatchObject({ active: true, priority: 0, accepted: model.shares.accepted });
  });

  test("with its chips' temperatures in °C, which it reports in thousandths", async () => {
    const { rig } = await start();
    const { boards } = (await rig.read(deadline())).readings;
    for (const { temperature, chipTemperature } of boards) expect(chipTemperature).toBe((temperature ?? 0) - 9.5);
  });

  test("without hardware errors and frequencies, which its figures under these names are not", async () => {
    const { rig } = await start();
    const { readings, devices } = await rig.read(deadline());
    expect(readings.shares.hardwareErrors).toBeNull();
    expect(readings.boards.map(({ frequency }) => frequency)).toEqual([null, null, null, null]);
    expect(devices.map(({ hardwareErrors }) => hardwareErrors)).toEqual([null, null, null, null]);
  });

  test("with its faults in its own words, and the pools that cannot be reached", async () => {
    const { rig, simulated } = await start();
    simulated.model.setPoolAlive(0, false);
    const one = await rig.read(deadline());
    expect(one.pools.map(({ status, active }) => [status, active])).toEqual([
      ["dead", false],
      ["enabled", true],
    ]);
    simulated.model.setPoolAlive(1, false);
    await rig.read(deadline());
    const { readings, pools } = await rig.read(deadline());
    expect(readings.errors).toEqual([{ code: "network", text: "network connection lost" }]);
    expect(pools.map(({ status }) => status)).toEqual(["dead", "dead"]);
  });

  test("and why it does not hash: no pool answers", async () => {
    const { rig, simulated } = await start();
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    minutes(10);
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ hashrate: 0, mining: false });
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });

  test("asleep too, which somebody has set; no control for that is offered", async () => {
    const { rig } = await start({ asleep: true });
    minutes(10);
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ hashrate: 0, mining: false, mode: "sleep" });
    expect(haltOf(reading)).toMatchObject({ code: "user" });
    expect(keys(reading)).toEqual(["reboot", "locate", "fan"]);
  });

  test.each<[string, Credentials]>([
    ["no login", {}],
    ["a wrong login", { username: "root", password: "other" }],
  ])("but not with %s", async (_, credentials) => {
    const { rig } = await start({}, credentials);
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.login" });
  });
});

describe("an Elphapex is controlled", () => {
  test("in its fans, its other settings kept", async () => {
    const { rig, simulated } = await start();
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: "auto" });
    await expect(rig.set("fan", 70, deadline())).resolves.toContain("M000");
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ hashrate: null, mining: null });
    expect(readings.errors).toContainEqual({ code: "miner.silent", text: expect.stringContaining("does not answer") });
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: 70 });
    expect(simulated.model.fanSetting).toBe(0.7);
    await rig.set("fan", "auto", deadline());
    minutes(5);
    expect(values(await rig.read(deadline()))).toMatchObject({ fan: "auto" });
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["x", "x"]);
  });

  test("in its light", async () => {
    const { rig } = await start();
    await rig.read(deadline());
    await rig.set("locate", true, deadline());
    expect((await rig.read(deadline())).readings.locate).toBe(true);
    await rig.set("locate", false, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ locate: false });
  });

  test("to a reboot, after which it counts from zero", async () => {
    const { rig } = await start();
    const before = await rig.read(deadline());
    await rig.set("reboot", true, deadline());
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
    minutes(5);
    const after = await rig.read(deadline());
    expect(after.readings.uptime).toBeLessThan(before.readings.uptime ?? 0);
    expect(after.readings.mining).toBe(true);
  });

  test("and refuses in its own words", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("fan", 50, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("M001 FAIL!"),
    });
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
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
    expect(await act(rig.pools.add?.(third, deadline()))).toEqual([`*${first}`, second, "third.example.org:443"]);
    expect((await rig.read(deadline())).poolActions).toEqual(["use", "switch", "remove", "prioritize"]);
    const switched = ["*third.example.org:443", first, second];
    expect(await act(rig.pools.switch?.(await poolAt(rig, 2), deadline()))).toEqual(switched);
    const prioritized = [`*${second}`, "third.example.org:443", first];
    expect(await act(rig.pools.prioritize?.(await poolAt(rig, 2), deadline()))).toEqual(prioritized);
    const left = [`*${second}`, first];
    expect(await act(rig.pools.remove?.(await poolAt(rig, 1), deadline()))).toEqual(left);
    const used = ["*third.example.org:443", first];
    expect(await act(rig.pools.use?.(third, deadline()))).toEqual(used);
    expect(simulated.model.pools.map(({ user, password }) => [user, password])).toEqual([
      ["acct.3", "pass:3"],
      ["acct.elphapex-1", "x"],
    ]);
  });
});

const pool = { url: "stratum+tcp://pool.example.com:3333", user: "a.1", pass: "x" };
const pages: Readonly<Record<string, unknown>> = {
  get_system_info: { minertype: "DG1", macaddr: "02:00:00:00:00:09", Algorithm: "Scrypt" },
  summary: { SUMMARY: [{ bestshare: 0, status: [] }] },
  stats: { STATS: [{ elapsed: 10, rate_5s: 11_000, rate_avg: 11_000, fan_num: 1, fan: ["5000"], chain: [] }] },
  pools: { POOLS: [{ index: 0, url: pool.url, user: pool.user, status: "Alive", priority: 0, accepted: 7 }] },
  get_miner_conf: { pools: [pool], "fc-fan-ctrl": false, "fc-fan-pwm": "80", "fc-work-mode": 0 },
  get_blink_status: { blink: false },
};

/** The pages, some of them replaced, without a login. */
async function damaged(other: Readonly<Record<string, string>>): Promise<Reading> {
  const server = await serve((socket, request) => {
    const name = /\/cgi-bin\/(\w+)\.cgi/.exec(request)?.[1] ?? "";
    socket.end(http(200, other[name] ?? JSON.stringify(pages[name])));
  });
  const rig = closing(connect(elphapex, openLink(parseAddress(`127.0.0.1:${server.port}`), login)));
  return rig.read(deadline());
}

describe("one broken page of an Elphapex costs a note, not the read", () => {
  test.each(["get_system_info", "pools", "get_miner_conf", "get_blink_status", "summary"])("%s", async (name) => {
    const { readings } = await damaged({ [name]: "Socket connect failed: Connection refused\n" });
    expect(readings).toMatchObject({ hashrate: 11e9, fans: [{ rpm: 5000 }] });
    expect(readings.notes).not.toEqual([]);
  });

  test("and with neither statistics nor configuration there is nothing to read", async () => {
    await expect(damaged({ stats: "not yet", get_miner_conf: "not yet" })).rejects.toMatchObject({
      code: "rig.garbled",
    });
  });

  test("and without its address it has none", async () => {
    const reading = await damaged({ get_system_info: JSON.stringify({ minertype: "DG1", macaddr: "" }) });
    expect(reading.identity).toMatchObject({ model: "DG1", mac: null });
  });
});

test("whatever its pages hold, a read ends within the contract or with a documented error", async () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, "", "nan", "-1", 255, 1e308, -1000, [], {}, [null]),
    fc.jsonValue(),
  );
  const some = (...keys: string[]): fc.Arbitrary<unknown> =>
    fc.oneof(odd, fc.record(Object.fromEntries(keys.map((key) => [key, odd])), { requiredKeys: [] }));
  const listOf = (each: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof(odd, fc.array(each, { maxLength: 3 }));
  const chain = fc.record({
    chip: some("index", "rate_real", "asic_num", "asic", "sn"),
    temperatures: fc.record({ temp_pcb: listOf(odd), temp_chip: listOf(odd) }),
  });
  const said = fc.record({
    get_system_info: some("minertype", "macaddr", "hostname", "Algorithm", "system_filesystem_version"),
    get_miner_conf: fc.record({ pools: listOf(some("url", "user", "pass")), "fc-work-mode": odd, "fc-fan-ctrl": odd }),
    stats: fc.record({
      INFO: some("type", "dev_sn"),
      STATS: listOf(
        fc.record({
          rate_5s: odd,
          rate_avg: odd,
          rate_unit: odd,
          elapsed: odd,
          fan_num: odd,
          fan: listOf(odd),
          chain: listOf(chain.map(({ chip, temperatures }) => Object.assign({}, chip, temperatures))),
        }),
      ),
    }),
    pools: fc.record({ POOLS: listOf(some("index", "url", "user", "status", "priority", "accepted")) }),
    summary: fc.record({
      SUMMARY: listOf(fc.record({ bestshare: odd, status: listOf(some("type", "status", "msg")) })),
    }),
    get_blink_status: some("blink"),
  });
  await expectContractReads(
    said,
    (pages) => {
      const known: Readonly<Record<string, unknown>> = pages;
      const call = async ({ path }: { readonly path: string }) => {
        const body = JSON.stringify(known[/\/(\w+)\.cgi/.exec(path)?.[1] ?? ""]) ?? "";
        return { status: 200, headers: {}, body, notes: [] };
      };
      return connect(elphapex, linkOf({ credentials: login, http: { call } }));
    },
    200,
  );
});
