import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading } from "../../../src/link/driver.ts";
import { mara } from "../../../src/link/drivers/mara/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { MaraSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, poolAt, renewed, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "root", password: "root" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));

const start = starterOf<MaraSpec>(mara, { kind: "mara", warm: true, restartSeconds: 0 }, login, clock.now);

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);

test("MARA is recognised by its RPC beside a login with Bitmain's realm, and identified by its API", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "mara" }, identity: { make: "MARA" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({
    identity: { make: "MARA", model: "Antminer S19", firmware: "25.1.0", mac: simulated.mac, hostname: "mara-1" },
  });
  expect(mara.makersLogin).toEqual(login);
});

describe("it is read", () => {
  test("with its login: rates of the RPC, the rest of its API", async () => {
    const { rig, simulated } = await start();
    const reading = await rig.read(deadline());
    const { readings } = reading;
    const { model } = simulated;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -8),
      hashrateAverage: expect.closeTo(model.averageHashrate, -8),
      hashrateExpected: expect.closeTo(model.ratedHashrate, -6),
      algorithm: "sha256",
      power: expect.closeTo(model.power, 3),
      powerSource: "reported",
      powerLimit: 3_000,
      temperature: expect.closeTo(model.temperature, 3),
      uptime: Math.floor(model.elapsed),
      mining: true,
      mode: "Auto",
      locate: false,
      fans: [0, 40, 80, 120].map((slower) => ({ rpm: model.fanRpm - slower, percent: null })),
      errors: [],
      notes: [],
    });
    expect(readings.boards).toHaveLength(3);
    expect(readings.boards[0]).toMatchObject({ slot: 0, chips: 76, serial: "SIMHB0" });
    expect(readings.boards[0]?.chipTemperature).toBeGreaterThan(readings.boards[0]?.temperature ?? 999);
    const ofBoards = readings.boards.reduce((sum, { hashrate }) => sum + (hashrate ?? 0), 0);
    expect(ofBoards / (readings.hashrate ?? 0)).toBeCloseTo(1, 2);
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test("with every temperature, speed and present rate of its boards new, and its configuration seldom", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.model.fanSetting = 1;
    clock.pass(10);
    const before = simulated.requests.count;
    const { readings } = await rig.read(deadline());
    expect(readings.fans[0]).toEqual({ rpm: simulated.model.fanRpm, percent: null });
    expect(readings.temperature).toBeCloseTo(simulated.model.temperature, 3);
    // Its RPC's four reports, and three pages.
    expect(simulated.requests.count - before).toBeLessThanOrEqual(8);
  });

  test.each<[string, Credentials, string]>([
    ["without one by its RPC alone", {}, "login missing"],
    ["with a wrong one by its RPC alone", { ...login, password: "geheim99" }, "login wrong"],
  ])("%s", async (_, credentials, why) => {
    const { rig, simulated } = await start({}, credentials);
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ controls: [], identity: { mac: null }, locked: { why } });
    expect(reading.readings).toMatchObject({
      hashrate: expect.closeTo(simulated.model.hashrate(5), -8),
      power: null,
      mining: true,
    });
    expect(JSON.stringify(reading)).not.toContain("geheim99");
    await expect(rig.set("reboot", true, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("and why it does not hash: it sleeps, or no pool answers", async () => {
    const { rig, simulated } = await start();
    await rig.set("mining", false, deadline());
    clock.pass(60);
    const stopped = await rig.read(deadline());
    expect(stopped.readings).toMatchObject({ mining: false, mode: "Sleep" });
    expect(haltOf(stopped)).toMatchObject({ code: "user" });
    await rig.set("mining", true, deadline());
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    clock.pass(600);
    expect(haltOf(await rig.read(deadline()))).toMatchObject({ code: "pools" });
  });
});

describe("its controls", () => {
  test("are read back as they were set, and leave the rest of the configuration as it was", async () => {
    const { rig, simulated } = await start();
    expect(keys(await rig.read(deadline()))).toEqual(["mining", "mode", "fan", "locate", "restart", "reboot"]);
    await rig.set("mode", "Fixed", deadline());
    await rig.set("fan", 80, deadline());
    await rig.set("locate", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, mode: "Fixed", fan: 80, locate: true });
    await rig.set("mining", false, deadline());
    const sleeping = await rig.read(deadline());
    expect(keys(sleeping)).toEqual(["mining", "fan", "locate", "restart", "reboot"]);
    expect(values(sleeping)).toMatchObject({ mining: false });
    await expect(rig.set("mode", "Stock", deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.set("mining", true, deadline())).resolves.toBe("stored; it wakes into the mode Fixed");
    await rig.set("fan", "auto", deadline());
    await rig.set("locate", false, deadline());
    const reading = await rig.read(deadline());
    expect(values(reading)).toMatchObject({ mining: true, mode: "Fixed", fan: "auto", locate: false });
    expect(reading.readings.powerLimit).toBeNull();
    const written = simulated.requests.writes.filter((write) => write.startsWith("miner_config"));
    expect(written).toHaveLength(5);
    for (const write of written) expect(write).toContain('"user-extra":"kept"');
  });

  test("wake a rig that was never seen awake into the mode of its targets", async () => {
    const { rig, simulated } = await start();
    await rig.set("mode", "Fixed", deadline());
    await rig.set("mining", false, deadline());
    const other = closing(rigAt(mara, simulated.address, login));
    await other.read(deadline());
    await expect(other.set("mining", true, deadline())).resolves.toBe("stored; it wakes into the mode Auto");
    expect(values(await other.read(deadline()))).toMatchObject({ mining: true, mode: "Auto" });
  });

  test("of restarts turn its counters back", async () => {
    const { rig, simulated } = await start();
    await rig.set("restart", true, deadline());
    await rig.set("reboot", true, deadline());
    expect(simulated.requests.writes).toEqual(['maintenance {"type":"reload"}', 'maintenance {"type":"reboot"}']);
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
  });

  test("that the rig refuses fail in its words, and those that are not documented do not exist", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    await expect(rig.set("power_limit", 2_000, deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.set("mode", "Sleep", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    simulated.fault = "denied";
    await expect(rig.set("locate", true, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Not permitted"),
    });
  });

  test("are not sent with an expired login, but after the rig was asked again which one it is", async () => {
    const { rig } = await start();
    await rig.read(deadline());
    clock.pass(700);
    await expect(renewed(rig, () => rig.set("mining", false, deadline()))).resolves.toBeDefined();
    expect((await rig.read(deadline())).readings.mining).toBe(false);
  });
});

describe("its pools", () => {
  const pool = { url: "stratum+tcp://new.example.org:4444", worker: "acct.new", password: "geheim99" };

  test("are added, moved to the front and removed, with the passwords of the others", async () => {
    const { rig, simulated } = await start({}, login);
    expect((await rig.read(deadline())).poolActions).toEqual(["add", "remove", "prioritize"]);
    await rig.pools.add?.(pool, deadline());
    await rig.pools.prioritize?.(await poolAt(rig, 2), deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*new.example.org:4444",
      "pool.example.com:3333",
      "backup.example.net:3333",
    ]);
    expect(simulated.model.pools.map(({ password }) => password)).toEqual(["geheim99", "x", "x"]);
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    simulated.fault = "denied";
    await expect(rig.pools.add?.({ ...pool, worker: "b" }, deadline())).rejects.toMatchObject({ code: "rig.refused" });
  });
});

describe("a broken reply of its API", () => {
  const ok = { STATUS: [{ STATUS: "S", Msg: "fine" }] };
  const answers: Readonly<Record<string, object>> = {
    version: { ...ok, VERSION: [{ CGMiner: "kaonsu 1.0", API: "3.7", Type: "Antminer S19" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 1000, "GHS 5s": 95_000, "GHS av": 94_000 }] },
  };
  const whole: Readonly<Record<string, unknown>> = {
    brief: { hashrate_realtime: 95, hashrate_ideal: 95_500, power_consumption_estimated: 3_200 },
    overview: { mac: "020000000009", model: "Antminer S19" },
    miner_config: { mode: { "work-mode-selector": "Stock" }, pools: [{ url: "a:1", user: "w", pass: "***" }] },
  };

  async function read(pages: typeof whole, rpc: typeof answers = answers): Promise<Reading> {
    const server = await serve((socket, request) => {
      if (request.startsWith("{")) {
        const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
        return socket.end(`${JSON.stringify(rpc[JSON.parse(request).command] ?? refused)}\0`);
      }
      const page = pages[request.split(" ")[1]?.replace("/kaonsu/v1/", "") ?? ""];
      return socket.end(page === undefined ? http(404, "{}") : http(200, JSON.stringify(page)));
    });
    return closing(rigAt(mara, `127.0.0.1:${server.port}`, login)).read(deadline());
  }

  test("costs a note and what it has, not the read, and no rate is taken whose unit is unclear", async () => {
    const reading = await read(whole);
    expect(reading.readings).toMatchObject({ hashrate: 95e12, hashrateExpected: 95.5e12, power: 3_200 });
    expect(keys(reading)).toEqual(["mining", "mode", "restart", "reboot"]);
    expect(reading.readings.notes.join()).toContain("its light cannot be read");
    const without = await read({ ...whole, brief: "busy" });
    expect(without.readings).toMatchObject({ hashrate: 95e12, power: null });
    const silent = await read({});
    expect(silent).toMatchObject({ controls: [], identity: { mac: null }, readings: { hashrate: 95e12 } });
    expect(silent.readings.notes).toEqual([expect.stringContaining("its web interface cannot be used now")]);
  });

  test("leaves the present rates of its boards, which an average does not replace", async () => {
    const stats = { chain_acn1: 76, chain_acn2: 76, chain_rate1: 50_000, chain_rate2: 0, "GHS 5s": 50_000 };
    const hashboards = [1, 0].map((index) => ({ index, hashrate_average: 48_000, serial_number: `HB${index}` }));
    const { readings } = await read(
      { ...whole, hashboards: { hashboards } },
      { ...answers, stats: { ...ok, STATS: [stats] } },
    );
    expect(readings.boards).toMatchObject([
      { slot: 0, serial: "HB0", hashrate: 50e12 },
      { slot: 1, serial: "HB1", hashrate: 0 },
    ]);
    const alone = await read({ ...whole, hashboards: { hashboards }, fans: { fans: [{ current_speed: 3_000 }] } });
    expect(alone.readings.fans).toEqual([{ rpm: 3_000, percent: null }]);
    expect(alone.readings.boards.map(({ hashrate }) => hashrate)).toEqual([48e12, 48e12]);
  });

  test("of its RPC while it sleeps is no error, and it wakes into Stock where it has no target", async () => {
    const posted: string[] = [];
    const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    let isSilent = false;
    const sleeping = { mode: { "work-mode-selector": "Sleep", concorde: { "power-target": 0 } }, pools: [] };
    const server = await serve((socket, request) => {
      if (request.startsWith("{")) {
        const answer = answers[JSON.parse(request).command] ?? refused;
        return isSilent ? socket.end() : socket.end(`${JSON.stringify(answer)}\0`);
      }
      if (request.startsWith("POST")) posted.push(request);
      const name = request.split(" ")[1]?.replace("/kaonsu/v1/", "") ?? "";
      const page = name === "miner_config" ? sleeping : whole[name];
      return socket.end(page === undefined ? http(404, "{}") : http(200, JSON.stringify(page)));
    });
    const rig = closing(rigAt(mara, `127.0.0.1:${server.port}`, login));
    expect((await rig.read(deadline())).readings).toMatchObject({ hashrate: 0, mining: false, mode: "Sleep" });
    isSilent = true;
    const silent = await rig.read(deadline());
    expect(silent.readings).toMatchObject({ hashrate: 0, mining: false, mode: "Sleep", errors: [] });
    expect(haltOf(silent)).toMatchObject({ code: "user" });
    await expect(rig.set("mining", true, deadline())).resolves.toContain("it wakes into the mode Stock");
    expect(posted).toEqual([expect.stringContaining('"work-mode-selector":"Stock"')]);
  });

  test("that hides the passwords of its pools leaves them as they are", async () => {
    expect((await read(whole)).poolActions).toEqual([]);
  });
});
