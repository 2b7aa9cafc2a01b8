import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { xmrig } from "../../../src/link/drivers/xmrig/index.ts";
import type { SimulatedRig, XmrigSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt, values } from "../rigs.ts";
import { http, serve } from "../servers.ts";

const token = "geheim";
const clock = stoppedClock();

async function start(
  spec: Partial<XmrigSpec> = {},
  credentials: object = { token },
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const open = { kind: "xmrig", warm: true, restricted: false, token } as const;
  const simulated = await startRig({ ...open, ...spec }, clock.now);
  return { rig: rigAt(xmrig, simulated.address, credentials, clock.now), simulated };
}

/** The program has taken up its new configuration, and is read. */
function settled(rig: Rig): Promise<Reading> {
  clock.pass(1);
  return rig.read(deadline());
}

/** An XMRig that answers GETs by this table; several answers for one path are given one after the other. */
async function answering(answers: Record<string, (string | object)[]>, asked: string[] = []): Promise<Rig> {
  const server = await serve((socket, request) => {
    const [method, path = ""] = request.split(" ");
    asked.push(`${method} ${path}`);
    const list = answers[path] ?? [];
    const answer = list.length > 1 ? list.shift() : list[0];
    const body = typeof answer === "string" ? answer : JSON.stringify(answer);
    socket.end(answer === undefined ? http(404, '{"status":404,"error":"NOT_FOUND"}') : http(200, body));
  });
  return rigAt(xmrig, `127.0.0.1:${server.port}`, { token });
}

test("an XMRig is read with every figure that it reports", async () => {
  const { rig } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({
    hashrate: expect.any(Number),
    hashrateAverage: expect.any(Number),
    algorithm: "rx/0",
    power: null,
    uptime: expect.any(Number),
    mining: true,
    bestShare: expect.any(Number),
    shares: { accepted: expect.any(Number), rejected: expect.any(Number), hardwareErrors: null },
    notes: [],
  });
  expect(readings.hashrate).toBeGreaterThan(10_000);
  expect(reading.devices).toEqual([expect.objectContaining({ kind: "cpu", hashrate: readings.hashrate })]);
  expect(reading.identity).toMatchObject({ make: "XMRig", hostname: "xmrig-1", firmware: "XMRig 6.26.0" });
  expect(reading).toMatchObject({ software: "XmrigMiner", logInterval: 10 });
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
});

describe("the mining switch", () => {
  test("pauses and resumes, and is read back", async () => {
    const { rig } = await start();
    await expect(rig.set("mining", false, deadline())).resolves.toBe("OK");
    const paused = await rig.read(deadline());
    expect([values(paused), paused.readings.mining]).toEqual([{ mining: false }, false]);
    await expect(rig.set("mining", true, deadline())).resolves.toBe("OK");
    expect(values(await rig.read(deadline()))).toEqual({ mining: true });
  });

  test("refused by the program is an error in its words", async () => {
    const summary = { restricted: false, paused: false, hashrate: { total: [1] } };
    const rig = await answering({
      "/2/summary": [summary],
      "/2/config": [{ pools: [] }],
      "/json_rpc": [{ error: { code: -32601, message: "Method not found" }, id: 1 }],
    });
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Method not found"),
    });
  });
});

describe("pools", () => {
  test("are added, put first, switched off and on, and removed by the whole configuration", async () => {
    const { rig, simulated } = await start();
    await rig.pools.add?.({ url: "stratum+tcp://new.example.org:443", worker: "w", password: "p" }, deadline());
    expect(listed(await settled(rig))).toEqual([
      "*pool.example.com:3333",
      "backup.example.net:3333",
      "new.example.org:443",
    ]);
    await rig.pools.switch?.(await poolAt(rig, 2), deadline());
    expect(listed(await settled(rig))[0]).toBe("*new.example.org:443");
    await rig.pools.prioritize?.(await poolAt(rig, 1), deadline());
    await settled(rig);
    await rig.pools.disable?.(await poolAt(rig, 2), deadline());
    expect(listed(await settled(rig))).toEqual([
      "*pool.example.com:3333",
      "new.example.org:443",
      "-backup.example.net:3333",
    ]);
    await rig.pools.enable?.(await poolAt(rig, 2), deadline());
    await settled(rig);
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    expect(listed(await settled(rig))).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    expect(simulated.requests.writes.every((write) => write.startsWith("PUT /2/config"))).toBe(true);
    expect(simulated.requests.writes.at(-1)).toContain('"donate-level"');
  });

  test("that were read before XMRig took up a change are read again, however long ago that was", async () => {
    const { rig } = await start();
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    clock.pass(0.1);
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
    clock.pass(20);
    expect(listed(await rig.read(deadline()))).toEqual(["*pool.example.com:3333"]);
  });

  test("are asked for with each read for ten seconds after a change, then once a minute", async () => {
    const { rig, simulated } = await start();
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    const asked: number[] = [];
    for (const seconds of [1, 5, 5, 5, 5, 60]) {
      clock.pass(seconds);
      const before = simulated.requests.count;
      await rig.read(deadline());
      asked.push(simulated.requests.count - before);
    }
    // The summary each time; with the configuration, and after a minute with the backends too.
    expect(asked).toEqual([2, 2, 2, 1, 1, 3]);
  });

  test("over TLS are added as XMRig writes them, and read as others do", async () => {
    const { rig, simulated } = await start();
    await rig.pools.add?.({ url: "stratum+ssl://new.example.org:443", worker: "w", password: "p" }, deadline());
    expect(simulated.requests.writes.at(-1)).toContain('"url":"new.example.org:443"');
    expect(simulated.requests.writes.at(-1)).toContain('"tls":true');
    const other = await answering({
      "/2/summary": [{ restricted: false, hashrate: {}, connection: { pool: "a.example.com:443" } }],
      "/2/config": [{ pools: [{ url: "a.example.com:443", user: "w", tls: true }] }],
    });
    expect((await other.read(deadline())).pools).toMatchObject([
      { url: "stratum+ssl://a.example.com:443", active: true },
    ]);
  });

  test("never become a useless list", async () => {
    const { rig, simulated } = await start();
    await rig.pools.disable?.(await poolAt(rig, 1), deadline());
    await settled(rig);
    const writes = simulated.requests.writes.length;
    const first = await poolAt(rig, 0);
    await expect(rig.pools.disable?.(first, deadline())).rejects.toMatchObject({ code: "pool.last" });
    await expect(rig.pools.remove?.(first, deadline())).rejects.toMatchObject({ code: "pool.last" });
    expect(simulated.requests.writes).toHaveLength(writes);
  });

  test("with a pipe in the address, or gone from the list, send nothing", async () => {
    const { rig, simulated } = await start();
    const second = await poolAt(rig, 1);
    await rig.pools.remove?.(second, deadline());
    await settled(rig);
    await expect(rig.pools.add?.({ url: "a|b:1", worker: "w", password: "" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    await expect(rig.pools.switch?.(second, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toHaveLength(1);
  });

  test("are not written over a configuration that had to be repaired", async () => {
    const asked: string[] = [];
    const rig = await answering({ "/2/config": ['{"pools":[{"url":"a:1","user":"w"},]}'] }, asked);
    await expect(rig.pools.add?.({ url: "b:1", worker: "w", password: "" }, deadline())).rejects.toMatchObject({
      code: "rig.garbled",
    });
    expect(asked).toEqual(["GET /2/config"]);
  });
});

describe("a restricted XMRig", () => {
  test("offers nothing, notes how to allow more, and shows the pool in use", async () => {
    const { rig, simulated } = await start({ restricted: true });
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.readings.notes).toEqual([expect.stringContaining("--http-no-restricted")]);
    expect(listed(reading)).toEqual(["*pool.example.com:3333"]);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    await expect(rig.pools.switch?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect(simulated.requests.writes).toEqual([]);
  });
});

describe("the access token", () => {
  test.each([
    ["missing", {}, "none is configured"],
    ["wrong", { token: "falsch" }, "token is wrong"],
  ])("%s is reported, and never shown", async (_, credentials, words) => {
    const { rig } = await start({}, credentials);
    const failure = rig.read(deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.login", message: expect.stringContaining(words) });
    await expect(failure).rejects.toMatchObject({ message: expect.stringMatching(/^(?!.*falsch)/) });
  });

  test("that the program does not have is reported", async () => {
    const simulated = await startRig({ kind: "xmrig", restricted: false });
    const rig = rigAt(xmrig, simulated.address, { token });
    await expect(rig.read(deadline())).rejects.toMatchObject({ message: expect.stringContaining("no access token") });
  });
});

describe("odd answers", () => {
  test("half a document is requested once more", async () => {
    const asked: string[] = [];
    const rig = await answering(
      { "/2/summary": ['{"hashrate":', { hashrate: { total: [5] } }], "/2/backends": [[]] },
      asked,
    );
    expect((await rig.read(deadline())).readings.hashrate).toBe(5);
    expect(asked.filter((path) => path === "GET /2/summary")).toHaveLength(2);
  });

  test("rates that are not known yet, and wrong types, are unknown", async () => {
    const rig = await answering({
      "/2/summary": [
        { hashrate: { total: [null, null, null], highest: null }, algo: null, uptime: {}, results: [], cpu: 7 },
      ],
      "/2/backends": [{ type: "cpu" }],
    });
    const { readings, devices } = await rig.read(deadline());
    expect(readings).toMatchObject({
      hashrate: null,
      hashrateAverage: null,
      algorithm: null,
      uptime: null,
      mining: null,
    });
    expect(readings.notes.length).toBeGreaterThan(2);
    expect(devices).toEqual([]);
  });

  test("cards are devices with their health, asked for each time; a processor is asked for now and then", async () => {
    const cuda = {
      type: "cuda",
      enabled: true,
      threads: [
        {
          name: "RTX",
          bus_id: "01:00.0",
          hashrate: [1000, 900, 800],
          health: { temperature: 61, power: 120, clock: 1800, mem_clock: 7000, fan_speed: [40, 55] },
        },
      ],
    };
    const opencl = {
      type: "opencl",
      enabled: true,
      threads: [{ board: "RX", hashrate: [500], health: { temperature: 0, rpm: [1500] } }],
    };
    const asked: string[] = [];
    const rig = await answering(
      {
        "/2/summary": [{ hashrate: { total: [1500] } }],
        "/2/backends": [[{ type: "cpu", enabled: false }, cuda, opencl]],
      },
      asked,
    );
    const { devices, readings } = await rig.read(deadline());
    expect(devices).toMatchObject([
      {
        kind: "gpu",
        name: "RTX (01:00.0)",
        hashrate: 1000,
        hashrateAverage: 800,
        temperature: 61,
        fanPercent: 55,
        clock: 1800e6,
        memoryClock: 7000e6,
        power: 120,
        bus: 1,
      },
      { kind: "gpu", name: "RX", hashrate: 500, temperature: null, fanRpm: 1500, power: null, bus: null },
    ]);
    // Of one card it is unknown.
    expect([readings.temperature, readings.fans.length, readings.power]).toEqual([61, 2, null]);
    await rig.read(deadline());
    expect(asked.filter((path) => path === "GET /2/backends")).toHaveLength(2);
  });
});
