import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { axeos } from "../../../src/link/drivers/axeos/index.ts";
import type { AxeosSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";

async function start(spec: Partial<AxeosSpec> = {}): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "axeos", warm: true, restartSeconds: 0, ...spec }, () => 1.8e12);
  return { rig: rigAt(axeos, simulated.address), simulated };
}

/** A device that shows this information page and knows the paths named. */
async function showing(info: object, paths: Record<string, Buffer> = {}, asked: string[] = []): Promise<Rig> {
  const server = await serve((socket, request) => {
    const [method = "", path = ""] = request.split(" ");
    asked.push(`${method} ${path} ${request.split("\r\n\r\n")[1] ?? ""}`.trimEnd());
    const known = paths[`${method} ${path}`] ?? (path === "/api/system/info" ? http(200, JSON.stringify(info)) : null);
    socket.end(known ?? http(404, "Not found"));
  });
  return rigAt(axeos, `127.0.0.1:${server.port}`);
}

describe("a Bitaxe is named by its board", () => {
  test.each([
    [{ ASICModel: "BM1366", boardVersion: "204" }, "Ultra 204"],
    [{ ASICModel: "BM1368", boardVersion: "401" }, "Supra 401"],
    [{ ASICModel: "BM1370", boardVersion: "600" }, "Gamma 600"],
    [{ ASICModel: "BM1370", boardVersion: "602" }, "Gamma 602"],
    [{ ASICModel: "BM1370", boardVersion: 601 }, "Gamma 601"],
    [{ ASICModel: "BM1397", boardVersion: "102" }, "Max 102"],
    [{ ASICModel: "BM1370", boardVersion: "9999" }, "BM1370 9999"],
    [{ ASICModel: "BM1370" }, "BM1370"],
    [{ ASICModel: "BM1370", boardVersion: "601", deviceModel: "Desk Lamp" }, "Desk Lamp"],
  ])("%j", async (info, model) => {
    const rig = await showing({ ...info, hashRate: 1 });
    expect((await rig.read(deadline())).identity).toMatchObject({ make: "Bitaxe", model });
  });
});

test("the second fan of a fork is read by its own name", async () => {
  const rig = await showing({ deviceModel: "NerdQAxe++", hashRate: 1, fanspeed: 40, fanrpm: 3000, fanrpm2: 3100 });
  expect((await rig.read(deadline())).readings.fans).toEqual([
    { rpm: 3000, percent: 40 },
    { rpm: 3100, percent: 40 },
  ]);
});

test("the second fan of a NerdQAxe++ has its own percentage, and stays listed when it stands still", async () => {
  const info = { deviceModel: "NerdQAxe++", hashRate: 1, fanspeed: 40, fanspeed2: 55, fanrpm: 3000 };
  let fanrpm2 = 0;
  const server = await serve((socket, request) =>
    socket.end(
      request.startsWith("GET /api/system/info") ? http(200, JSON.stringify({ ...info, fanrpm2 })) : http(404, ""),
    ),
  );
  const rig = rigAt(axeos, `127.0.0.1:${server.port}`);
  const first = { rpm: 3000, percent: 40 };
  const fans = async () => (await rig.read(deadline())).readings.fans;
  expect(await fans()).toEqual([first]);
  fanrpm2 = 3100;
  expect(await fans()).toEqual([first, { rpm: 3100, percent: 55 }]);
  fanrpm2 = 0;
  expect(await fans()).toEqual([first, { rpm: 0, percent: 55 }]);
});

test("a fallback of a NerdQAxe without a worker is not listed, and its place is free", async () => {
  const info = {
    deviceModel: "NerdQAxe++",
    hashRate: 1,
    stratumURL: "pool.example.com",
    stratumPort: 3333,
    stratumUser: "acct.rig",
    fallbackStratumURL: "spare.example.net",
    fallbackStratumPort: 3333,
    fallbackStratumUser: "",
  };
  const asked: string[] = [];
  const rig = await showing(info, { "PATCH /api/system": http(200, "") }, asked);
  const reading = await rig.read(deadline());
  expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
  expect(reading.poolActions).toContain("add");
  await rig.pools.add?.({ url: "stratum+tcp://two.example.com:3333", worker: "acct.rig", password: "x" }, deadline());
  expect(asked.at(-1)).toContain('"fallbackStratumURL":"two.example.com"');
});

test("a Bitaxe is read with every figure that it reports, in SI units", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings.hashrate).toBeCloseTo(simulated.model.hashrate(10), -12);
  expect(readings).toMatchObject({
    hashrateExpected: 1.071e12,
    hashrateAverage: expect.any(Number),
    algorithm: "sha256",
    power: expect.closeTo(simulated.model.power, 3),
    powerSource: "reported",
    temperature: 58,
    psu: { voltage: expect.any(Number), temperature: expect.any(Number) },
    fans: [{ rpm: expect.any(Number), percent: expect.any(Number) }],
    mining: true,
    notes: [],
  });
  expect(readings.bestShare).toBeGreaterThan(0);
  expect(readings.boards).toEqual([
    expect.objectContaining({ slot: 0, chips: 1, frequency: 525e6, voltage: expect.closeTo(1.15, 1), temperature: 58 }),
  ]);
  expect(reading.identity).toEqual({
    make: "Bitaxe",
    model: "Gamma 601",
    firmware: expect.any(String),
    mac: simulated.mac,
    hostname: "axeos-1",
    serial: null,
  });
  expect(reading.devices).toEqual([expect.objectContaining({ kind: "asic", name: "BM1370", temperature: 58 })]);
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
});

describe("controls", () => {
  test("are read back as they were set", async () => {
    const { rig } = await start();
    await rig.set("frequency", 490, deadline());
    await rig.set("voltage", 1100, deadline());
    await rig.set("fan", 80, deadline());
    await rig.set("temperature_target", 55, deadline());
    await expect(rig.set("mining", false, deadline())).resolves.toBe("Mining paused");
    expect(values(await rig.read(deadline()))).toEqual({
      restart: null,
      reboot: null,
      frequency: 490,
      voltage: 1100,
      fan: 80,
      temperature_target: 55,
      mining: false,
      locate: null,
    });
    await rig.set("fan", "auto", deadline());
    await expect(rig.set("mining", true, deadline())).resolves.toBe("Mining resumed");
    const reading = await rig.read(deadline());
    expect(values(reading)).toMatchObject({ fan: "auto", mining: true });
  });

  test("restart, reboot and locate resolve with the device's words", async () => {
    const { rig, simulated } = await start();
    await expect(rig.set("locate", true, deadline())).resolves.toBe("Identify signal sent");
    await expect(rig.set("restart", true, deadline())).resolves.toBe("System will restart shortly.");
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("System will restart shortly.");
    expect(simulated.requests.writes).toEqual([
      "POST /api/system/identify",
      "POST /api/system/restart",
      "POST /api/system/restart",
    ]);
  });

  test("out of range or of the wrong kind send nothing", async () => {
    const { rig, simulated } = await start();
    for (const [key, value] of [
      ["frequency", 5000],
      ["voltage", "high"],
      ["fan", 101],
      ["fan", "full"],
      ["mining", 1],
    ] as const) {
      await expect(rig.set(key, value, deadline())).rejects.toMatchObject({ code: "input.invalid" });
    }
    await expect(rig.set("power_limit", 10, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("of firmware without pause have no mining switch, without pausing to find out", async () => {
    const asked: string[] = [];
    const rig = await showing({ ASICModel: "BM1366", frequency: 485 }, {}, asked);
    expect(Object.keys(values(await rig.read(deadline())))).toEqual(["restart", "reboot", "frequency"]);
    expect(asked).toEqual(["GET /api/system/info", "GET /api/system/asic"]);
  });

  test("show a device that hashes nothing without being paused as switched on", async () => {
    const rig = await showing({ ASICModel: "BM1366", miningPaused: false, hashRate: 0 });
    expect((await rig.read(deadline())).readings).toMatchObject({ mining: true, hashrate: 0 });
  });

  test("that the firmware lacks are refused", async () => {
    const rig = await showing({ ASICModel: "BM1366", miningPaused: false });
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "rig.refused" });
  });

  test("of a device that rejects this network are refused in its words", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("frequency", 490, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("401 Unauthorized"),
    });
  });

  test("pause by the other path where the first is not there", async () => {
    const asked: string[] = [];
    const paths = { "POST /api/system/mining": http(200, '{"paused":true}') };
    const rig = await showing({ ASICModel: "BM1370", miningPaused: false }, paths, asked);
    await expect(rig.set("mining", false, deadline())).resolves.toBe("paused");
    expect(asked.slice(-2)).toEqual(["POST /api/system/pause", 'POST /api/system/mining {"pause":true}']);
  });
});

describe("pools", () => {
  const login = { url: "stratum+ssl://new.example.org:4444", worker: "acct.new", password: "secret" };

  test("are two; a third is not possible, and the primary cannot be removed", async () => {
    const { rig, simulated } = await start();
    await expect(rig.pools.add?.(login, deadline())).rejects.toMatchObject({ code: "not.possible" });
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("the fallback can be removed and set, and the last cannot be removed", async () => {
    const { rig } = await start();
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    const one = await rig.read(deadline());
    expect([listed(one), one.poolActions]).toEqual([["*pool.example.com:3333"], ["use", "add"]]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    await expect(
      rig.pools.add?.({ ...login, url: "stratum+tcp://new.example.org:4444" }, deadline()),
    ).resolves.toContain("after the next restart");
    expect((await poolAt(rig, 1)).url).toBe("stratum+tcp://new.example.org:4444");
  });

  test("are switched with the restart that it takes, where the firmware can", async () => {
    const { rig, simulated } = await start();
    const said = await rig.pools.switch?.(await poolAt(rig, 1), deadline());
    expect(said).toContain("restart");
    expect(simulated.requests.writes).toEqual([
      'PATCH /api/system {"useFallbackStratum":1}',
      "POST /api/system/restart",
    ]);
    expect(listed(await rig.read(deadline()))).toEqual(["*backup.example.net:3333", "pool.example.com:3333"]);
  });

  test("cannot be switched on older firmware, which hides their passwords", async () => {
    const rig = await showing({
      stratumURL: "a.example.com",
      stratumPort: 1,
      stratumUser: "w",
      fallbackStratumURL: "b.example.com",
      fallbackStratumPort: 2,
      isUsingFallbackStratum: 1,
    });
    const reading = await rig.read(deadline());
    expect([listed(reading), reading.poolActions]).toEqual([
      ["a.example.com:1", "*b.example.com:2"],
      ["use", "remove"],
    ]);
    await expect(rig.pools.switch?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({
      code: "control.absent",
      message: expect.stringContaining("passwords"),
    });
  });

  test("replace the primary one, with the restart that it takes", async () => {
    const { rig, simulated } = await start();
    const said = await rig.pools.use?.(login, deadline());
    expect(said).toContain("restart");
    expect(simulated.requests.writes.map((write) => write.replace("secret", "***"))).toEqual([
      expect.stringContaining('"stratumURL":"new.example.org","stratumPort":4444,"stratumUser":"acct.new"'),
      "POST /api/system/restart",
    ]);
    expect((await poolAt(rig, 0)).worker).toBe("acct.new");
  });

  test("with a comma, or gone from the list, send nothing", async () => {
    const { rig, simulated } = await start();
    const fallback = await poolAt(rig, 1);
    await rig.pools.remove?.(fallback, deadline());
    const before = simulated.requests.writes.length;
    await expect(rig.pools.add?.({ ...login, url: "stratum+tcp://a,b:1" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    await expect(rig.pools.remove?.(fallback, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toHaveLength(before);
  });
});

describe("other firmware", () => {
  test("without the options page has the ranges that AxeOS's own page offers for its chip", async () => {
    const rig = await showing({ ASICModel: "BM1366", frequency: 485, coreVoltage: 1200 });
    const { controls } = await rig.read(deadline());
    expect(controls.find(({ key }) => key === "frequency")).toMatchObject({ min: 400, max: 575, value: 485 });
    expect(controls.find(({ key }) => key === "voltage")).toMatchObject({ min: 1100, max: 1300, value: 1200 });
  });

  test("with an unknown chip offers no frequency or voltage", async () => {
    const rig = await showing({ ASICModel: "BM9999", frequency: 485, coreVoltage: 1200 });
    expect(Object.keys(values(await rig.read(deadline())))).toEqual(["restart", "reboot"]);
  });

  test("reports its best share in short form, its second sensor and fan, and its errors", async () => {
    const rig = await showing({
      bestDiff: "7.64G",
      temp: 55,
      temp2: 57.5,
      vrTemp: 0,
      fanspeed: 40,
      fanrpm: 3000,
      fan2rpm: 3100,
      overheat_mode: 1,
      power_fault: "OVER CURRENT",
      hashRate: "500.5",
      hashrateMonitor: { asics: [{ errorCount: 2 }, { errorCount: 3 }] },
      macAddr: "aabbccddeeff",
      minerModel: "LV08",
    });
    const { readings, identity, halt } = await rig.read(deadline());
    expect(halt).toMatchObject({ code: "hot" });
    expect(readings).toMatchObject({
      hashrate: 500.5e9,
      bestShare: 7.64e9,
      temperature: 57.5,
      psu: { temperature: null },
      fans: [
        { rpm: 3000, percent: 40 },
        { rpm: 3100, percent: 40 },
      ],
      mining: false,
      shares: { hardwareErrors: 5 },
      errors: [{ code: "overheat" }, { code: "power_fault", text: "OVER CURRENT" }],
    });
    expect(readings.boards[0]?.chips).toBe(2);
    expect(identity).toMatchObject({ make: "LuckyMiner", model: "LV08", mac: "AA:BB:CC:DD:EE:FF" });
  });

  test("with a sensor at -1 and with wrong types has unknowns and notes", async () => {
    const rig = await showing({ temp: -1, temp2: -1, power: {}, fanspeed: "fast", hostname: [], sharesAccepted: -4 });
    const { readings, identity } = await rig.read(deadline());
    expect(readings).toMatchObject({ temperature: null, power: null, powerSource: null, hashrate: null, mining: null });
    expect(identity.hostname).toBeNull();
    expect(readings.notes).toHaveLength(4);
  });
});
