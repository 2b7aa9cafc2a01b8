import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import { connect } from "../../../src/link/connect.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { hammer } from "../../../src/link/drivers/hammer/index.ts";
import { identify } from "../../../src/link/identify.ts";
import { type Credentials, openLink } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { HammerSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, rigAt } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "root", password: "root" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));
const minutes = (count: number): void => clock.pass(count * 60);

const start = starterOf<HammerSpec>(hammer, { kind: "hammer", warm: true, restartSeconds: 120 }, login, clock.now);

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);

test("a Hammer is recognised by its RPC, and identified by its page", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "hammer" }, identity: { make: "Hammer", model: "Hammer D10" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({
    identity: {
      make: "Hammer",
      model: "Hammer D10",
      firmware: "2023-05-28 17-20-35 CST",
      mac: "02:51:00:00:00:00",
      hostname: "hammer-1",
    },
  });
  expect(hammer.makersLogin).toEqual(login);
});

describe("a Hammer is read", () => {
  test.each<[string, Credentials]>([
    ["with its login", login],
    ["without one", {}],
  ])("in MH/s, %s", async (_, credentials) => {
    const { rig, simulated } = await start({}, credentials);
    const { readings, pools } = await rig.read(deadline());
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
    expect(readings.fans).toHaveLength(4);
    expect(readings.boards).toHaveLength(3);
    expect(readings.boards[0]).toMatchObject({ slot: 1, chips: 108, frequency: 810e6 });
    const ofBoards = readings.boards.reduce((sum, { hashrate }) => sum + (hashrate ?? 0), 0);
    expect(ofBoards / (readings.hashrate ?? 0)).toBeCloseTo(1, 3);
    expect(pools[0]).toMatchObject({ active: true, accepted: model.shares.accepted });
  });

  test("without a login, which is noted, and has no address of its own", async () => {
    const { rig } = await start({}, {});
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ identity: { mac: null }, controls: [], locked: { why: "login missing" } });
    expect(reading.readings.notes).toEqual([expect.stringContaining("read without a login")]);
  });

  test("with a wrong login by its RPC alone", async () => {
    const { rig } = await start({ password: "other" });
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ controls: [], locked: { why: "login wrong" }, readings: { mining: true } });
    await expect(rig.set("reboot", true, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("and why it does not hash: no pool answers", async () => {
    const { rig, simulated } = await start();
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    minutes(10);
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ hashrate: 0, mining: false });
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });
});

test("a Hammer is rebooted, and counts from zero after it", async () => {
  const { rig } = await start();
  const before = await rig.read(deadline());
  expect(keys(before)).toEqual(["reboot"]);
  expect(before.poolActions).toEqual([]);
  await rig.set("reboot", true, deadline());
  await expect(rig.read(deadline())).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
  minutes(5);
  const after = await rig.read(deadline());
  expect(after.readings.uptime).toBeLessThan(before.readings.uptime ?? 0);
  expect(after.identity.mac).toBe("02:51:00:00:00:00");
});

test("and not to what is not documented, nor where it refuses", async () => {
  const { rig, simulated } = await start();
  await rig.read(deadline());
  for (const key of ["mining", "fan", "locate"] as const)
    await expect(rig.set(key, 1, deadline())).rejects.toMatchObject({ code: "control.absent" });
  simulated.fault = "denied";
  await expect(rig.set("reboot", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
});

describe("a broken reply of a Hammer", () => {
  const ok = { STATUS: [{ STATUS: "S", Msg: "fine", Description: "ccminer 2.3.3" }] };
  const answers: Readonly<Record<string, object>> = {
    version: { ...ok, VERSION: [{ CGMiner: "2.3.3", API: "3.1", Miner: "2.0.2.2", Type: "Hammer D10" }] },
    summary: {
      ...ok,
      SUMMARY: [{ Elapsed: 1000, "MHS 5s": "4885.0", "MHS av": "4872.9", Accepted: "156.0000", Rejected: "156.0000" }],
    },
    stats: { ...ok, STATS: [{ Type: "Hammer D10" }, { chain_acn1: 108, chain_rate1: "4885.0", "MHS 5s": "4885.0" }] },
    pools: {
      ...ok,
      POOLS: [{ POOL: 0, URL: "stratum+tcp://pool.example.com:3333", Status: "Alive", Accepted: 9_900, Rejected: 156 }],
    },
  };

  let rig: Rig | undefined;

  async function damaged(other: Readonly<Record<string, string>>): Promise<Reading> {
    const server = await serve((socket, request) => {
      if (!request.startsWith("{")) return socket.end(http(200, other.page ?? '{"macaddr":"02:00:00:00:00:09"}'));
      const { command }: { command: string } = JSON.parse(request);
      const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
      return socket.end(other[command] ?? `${JSON.stringify(answers[command] ?? refused)}\0`);
    });
    rig = closing(connect(hammer, openLink(parseAddress(`127.0.0.1:${server.port}`), login)));
    return rig.read(deadline());
  }

  test("on its page costs a note and the controls, not the read", async () => {
    const reading = await damaged({ page: "Socket connect failed: Connection refused\n" });
    expect(reading).toMatchObject({ identity: { mac: null }, controls: [], readings: { hashrate: 4_885e6 } });
    expect(reading.readings.notes).toEqual([expect.stringContaining("its web interface cannot be used now")]);
  });

  test("on its page after a doubt costs no more than that: it is asked again at once which rig it is", async () => {
    const page: { page?: string } = {};
    expect((await damaged(page)).identity.mac).toBe("02:00:00:00:00:09");
    rig?.doubt?.();
    page.page = "busy";
    expect((await rig?.read(deadline()))?.identity.mac).toBeNull();
    delete page.page;
    expect((await rig?.read(deadline()))?.identity.mac).toBe("02:00:00:00:00:09");
  });

  test.each([
    ["on its page after a doubt is asked for three times, and then again after a minute", http(200, "busy"), 3],
    [
      "by its login after a doubt is not sent again before a minute has passed",
      http(401, "", ['WWW-Authenticate: Digest realm="blackMiner", nonce="1", qop="auth"']),
      2,
    ],
  ])("%s", async (_, broken, times) => {
    let page = http(200, '{"macaddr":"02:00:00:00:00:09"}');
    let asked = 0;
    const server = await serve((socket, request) => {
      if (request.startsWith("{")) return socket.end(`${JSON.stringify(answers[JSON.parse(request).command] ?? {})}\0`);
      asked += 1;
      return socket.end(page);
    });
    const rig = closing(rigAt(hammer, `127.0.0.1:${server.port}`, login, clock.now));
    await rig.read(deadline());
    const before = asked;
    page = broken;
    rig.doubt?.();
    for (let read = 0; read < 6; read += 1) await rig.read(deadline());
    expect(asked - before).toBe(times);
    minutes(1);
    await rig.read(deadline());
    expect(asked - before).toBeGreaterThan(times);
  });

  test("its summary, which has its rejected shares under both names: those of its pools are shown", async () => {
    expect((await damaged({})).readings.shares).toMatchObject({ accepted: 9_900, rejected: 156 });
  });

  test("of its RPC fails the read", async () => {
    await expect(damaged({ summary: "not yet" })).rejects.toMatchObject({ code: "rig.garbled" });
  });
});
