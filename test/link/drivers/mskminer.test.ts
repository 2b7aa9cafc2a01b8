import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { Reading } from "../../../src/link/driver.ts";
import { mskminer } from "../../../src/link/drivers/mskminer/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { MskminerSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "admin", password: "root" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));

const start = starterOf<MskminerSpec>(mskminer, { kind: "mskminer", warm: true }, login, clock.now);

test("an MSKMiner is recognised by its RPC, and identified by its page", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "mskminer" }, identity: { make: "MSKMiner" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({
    identity: {
      make: "MSKMiner",
      model: "S19-88 v.2.6.0.39",
      firmware: "10 Dec 2024 14:34:31 GMT",
      mac: "02:51:00:00:00:00",
    },
  });
  expect(mskminer.makersLogin).toEqual(login);
});

describe("an MSKMiner is read", () => {
  test.each<[string, Credentials]>([
    ["with its login", login],
    ["without one", {}],
  ])("in GH/s, with its power, %s", async (_, credentials) => {
    const { rig, simulated } = await start({}, credentials);
    const { readings, pools } = await rig.read(deadline());
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
    expect(readings.fans).toHaveLength(4);
    expect(pools[0]).toMatchObject({ active: true, accepted: model.shares.accepted });
  });

  test("and its page once, until that is in doubt", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await rig.read(deadline());
    const before = simulated.requests.count;
    await rig.read(deadline());
    const usual = simulated.requests.count - before;
    rig.doubt?.();
    await rig.read(deadline());
    expect(simulated.requests.count - before - usual).toBeGreaterThanOrEqual(usual + 2);
  });

  test("without a login, which is noted", async () => {
    const { rig } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ identity: { mac: null }, locked: { why: "login missing" } });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("read without a login"));
  });

  test("with a wrong login by its RPC alone", async () => {
    const { rig } = await start({ password: "other" });
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({
      identity: { mac: null },
      locked: { why: "login wrong" },
      readings: { mining: true },
    });
    expect(JSON.stringify(reading)).not.toContain('"root"');
  });

  test("and why it does not hash: no pool answers", async () => {
    const { rig, simulated } = await start();
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    clock.pass(600);
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ hashrate: 0, mining: false });
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });

  test("and takes no commands where its RPC allows none, which is noted", async () => {
    const { rig } = await start();
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ controls: [], poolActions: [], locked: { why: "read-only" } });
    expect(reading.readings.notes).toEqual([expect.stringContaining("does not allow this computer to control it")]);
    for (const key of ["reboot", "mining", "fan"] as const)
      await expect(rig.set(key, 1, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });
});

const ok = { STATUS: [{ STATUS: "S", Msg: "fine" }] };

/** A rig with these statistics, which refuses its summary, and with such a page in place of all others. */
async function answering(stats: object, page: Buffer): Promise<Reading> {
  const answers: Readonly<Record<string, object>> = {
    version: { ...ok, VERSION: [{ BMMiner: "4.11.1 rwglr", Type: "S19-88 v.2.6.0.39 " }] },
    stats: { ...ok, STATS: [{ Type: "S19-88" }, { chain_acn1: 88, chain_rate1: 33_000, Elapsed: 900, ...stats }] },
    pools: { ...ok, POOLS: [{ POOL: 0, URL: "stratum+tcp://pool.example.com:3333", Status: "Alive" }] },
  };
  const server = await serve((socket, request) => {
    if (!request.startsWith("{")) return socket.end(page);
    const { command }: { command: string } = JSON.parse(request);
    const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    return socket.end(`${JSON.stringify(answers[command] ?? refused)}\0`);
  });
  const rig = closing(connect(mskminer, openLink(parseAddress(`127.0.0.1:${server.port}`), login)));
  return rig.read(deadline());
}

describe("the statistics of an MSKMiner", () => {
  const working = { "GHS 5s": 33_000, "GHS av": 33_000 };

  test.each([
    ["broken", http(200, "<html></html>"), "its web interface cannot be used now"],
    ["missing", http(404, ""), "its web interface cannot be used now"],
  ])("are read though its page is %s, which is noted", async (_, page, note) => {
    const reading = await answering(working, page);
    expect(reading).toMatchObject({ identity: { make: "MSKMiner", mac: null }, readings: { hashrate: 33e12 } });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining(note));
  });

  test("and a page without an address leaves the rig without one", async () => {
    const reading = await answering(working, http(200, '{"network_info":{"result":{}}}'));
    expect(reading).toMatchObject({ identity: { mac: null }, readings: { hashrate: 33e12, uptime: 900 } });
  });

  test("say why it does not hash: it is tuning", async () => {
    const stats = { "GHS 5s": 0, "GHS av": 0, tune_running: "1" };
    const reading = await answering(stats, http(200, '{"network_info":{}}'));
    expect(haltOf(reading)).toMatchObject({ code: "tuning" });
  });
});
