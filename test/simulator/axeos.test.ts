import { request } from "node:http";
import { describe, expect, test } from "@jest/globals";
import type { AxeosSpec, SimulatedRig } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { within } from "../until.ts";
import { objectOf } from "./ask.ts";

const clock = stoppedClock();

const start = (spec: Omit<AxeosSpec, "kind"> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "axeos", warm: true, name: "bitaxe-1", ...spec }, clock.now);

const call = (rig: SimulatedRig, method: string, path: string, body?: unknown) =>
  fetch(`http://${rig.address}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

const info = async (rig: SimulatedRig) => objectOf(await (await call(rig, "GET", "/api/system/info")).json());

describe("a virtual Bitaxe", () => {
  test("serves the page of AxeOS, and 404 for unknown paths", async () => {
    const rig = await start();
    expect(await (await call(rig, "GET", "/")).text()).toContain("AxeOS");
    expect((await call(rig, "GET", "/api/system/nothing")).status).toBe(404);
  });

  test("reports its state in the firmware's units, and pools without a scheme", async () => {
    const rig = await start({ mac: "02:00:00:00:00:07" });
    expect(await info(rig)).toMatchObject({
      hashRate: expect.closeTo(1071, -2),
      expectedHashrate: 1071,
      power: expect.closeTo(17.4, 0),
      temp2: -1,
      frequency: 525,
      coreVoltage: 1150,
      macAddr: "02:00:00:00:00:07",
      hostname: "bitaxe-1",
      ASICModel: "BM1370",
      uptimeSeconds: 3600,
      stratumURL: "pool.example.com",
      stratumPort: 3333,
      fallbackStratumURL: "backup.example.net",
      isUsingFallbackStratum: 0,
      miningPaused: false,
    });
    const asic = objectOf(await (await call(rig, "GET", "/api/system/asic")).json());
    expect(asic).toMatchObject({ defaultFrequency: 525, defaultVoltage: 1150 });
    expect(asic.frequencyOptions).toContain(600);
  });

  test("applies frequency, voltage and fan at once", async () => {
    const rig = await start();
    const settings = { frequency: 600, coreVoltage: 1200, autofanspeed: 0, manualFanSpeed: 80, unknown: "passed over" };
    expect((await call(rig, "PATCH", "/api/system", settings)).status).toBe(200);
    clock.pass(60);
    expect(await info(rig)).toMatchObject({ frequency: 600, coreVoltage: 1200, fanspeed: 80, expectedHashrate: 1224 });
    expect(rig.requests.writes).toEqual([`PATCH /api/system ${JSON.stringify(settings)}`]);
  });

  test.each([
    { frequency: "fast" },
    { manualFanSpeed: 101 },
    { stratumURL: "stratum+tcp://pool.example.com" },
    { coreVoltage: 5000 },
  ])("refuses %j and changes nothing", async (settings) => {
    const rig = await start();
    const before = await info(rig);
    const reply = await call(rig, "PATCH", "/api/system", settings);
    expect([reply.status, await reply.text()]).toEqual([400, "Wrong API input"]);
    expect(await info(rig)).toEqual(before);
  });

  test("stores pools at once and uses them after a restart, which resets its counters", async () => {
    const rig = await start({ restartSeconds: 5 });
    const pool = { stratumURL: "other.example.org", stratumPort: 4444, stratumUser: "acct.new" };
    await call(rig, "PATCH", "/api/system", pool);
    expect(await info(rig)).toMatchObject(pool);
    expect(rig.model.activePool?.url).toBe("stratum+tcp://pool.example.com:3333");
    expect((await call(rig, "POST", "/api/system/restart")).status).toBe(200);
    await expect(info(rig)).rejects.toThrow();
    clock.pass(7);
    expect(await info(rig)).toMatchObject({ ...pool, uptimeSeconds: 2, sharesAccepted: 0 });
    expect(rig.model.activePool?.url).toBe("stratum+tcp://other.example.org:4444");
  });

  test("mines on the fallback while the first pool is dead", async () => {
    const rig = await start();
    rig.model.setPoolAlive(0, false);
    expect(await info(rig)).toMatchObject({ isUsingFallbackStratum: 1 });
  });

  test("pauses and resumes", async () => {
    const rig = await start();
    expect((await call(rig, "POST", "/api/system/pause")).status).toBe(200);
    clock.pass(30);
    expect(await info(rig)).toMatchObject({ miningPaused: true, hashRate: 0, power: expect.closeTo(2.6, 0) });
    await call(rig, "POST", "/api/system/resume");
    clock.pass(90);
    expect(await info(rig)).toMatchObject({ miningPaused: false, hashRate: expect.closeTo(1071, -2) });
  });

  test("older firmware has no pause, but can be located", async () => {
    const rig = await start({ pausable: false });
    expect((await call(rig, "POST", "/api/system/pause")).status).toBe(404);
    expect((await call(rig, "POST", "/api/system/identify")).status).toBe(200);
    expect(rig.model.mining).toBe(true);
  });

  test("stops hashing when it overheats, and reports it", async () => {
    const rig = await start();
    rig.model.change((model) => {
      model.ambient = 65;
    });
    clock.pass(1200);
    expect(await info(rig)).toMatchObject({ overheat_mode: 1, hashRate: 0 });
  });

  test("accepts a chunked body", async () => {
    const rig = await start();
    const answered = new Promise((resolve, reject) => {
      const options = { host: rig.host, port: rig.port, method: "PATCH", path: "/api/system", agent: false };
      const sent = request(options, (reply) => resolve(reply.resume().statusCode));
      sent.on("error", reject);
      sent.write('{"frequency":');
      sent.end("490}");
    });
    expect(await within(answered, "the rig to answer")).toBe(200);
    expect(rig.model.frequency).toBe(490e6);
  });
});
