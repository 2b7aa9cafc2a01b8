import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { xmrigProxy } from "../../../src/link/drivers/xmrig-proxy/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { ProgramSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt } from "../rigs.ts";
import { http, serve } from "../servers.ts";

const token = "geheim";
const clock = stoppedClock();

async function start(
  spec: Partial<ProgramSpec> = {},
  credentials: object = { token },
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const open = { kind: "xmrig-proxy", warm: true, password: token } as const;
  const simulated = await startRig({ ...open, ...spec, kind: "xmrig-proxy" }, clock.now);
  return { rig: rigAt(xmrigProxy, simulated.address, credentials, clock.now), simulated };
}

test("a proxy is read with its workers' hash rate in H/s, their number and its connections, and has no devices", async () => {
  const { rig, simulated } = await start();
  const reading = await rig.read(deadline());
  const { readings } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({
    hashrateAverage: expect.any(Number),
    proxy: { workers: 3, connections: 2, upstreams: 1, upstreamsFailing: 0 },
    algorithm: null,
    mining: true,
    power: null,
    uptime: 3600,
    bestShare: expect.any(Number),
    shares: { accepted: simulated.model.shares.accepted, rejected: expect.any(Number), hardwareErrors: 0 },
    notes: [],
  });
  expect(readings.hashrate).toBeGreaterThan(0.9 * simulated.model.ratedHashrate);
  expect(readings.hashrate).toBeLessThan(1.1 * simulated.model.ratedHashrate);
  expect(reading).toMatchObject({ devices: [], controls: [], software: "XmrigProxy", logInterval: 60 });
  expect(reading.identity).toMatchObject({ make: "XMRig", model: "xmrig-proxy", firmware: "xmrig-proxy 6.26.0" });
});

test("is recognised with its token, and not taken for an XMRig", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), { token }, deadline());
  expect(found.driver.id).toBe("xmrig-proxy");
  found.rig.close();
});

test("without workers it is idle, and its pools are not to blame", async () => {
  const asked: string[] = [];
  const server = await serve((socket, request) => {
    asked.push(request.split(" ", 2).join(" "));
    const summary = {
      kind: "proxy",
      hashrate: { total: [0, 0] },
      miners: { now: 0 },
      upstreams: { active: 0, error: 0 },
    };
    socket.end(request.includes("/1/summary") ? http(200, JSON.stringify(summary)) : http(403, "{}"));
  });
  const reading = await rigAt(xmrigProxy, `127.0.0.1:${server.port}`, { token }).read(deadline());
  expect(reading.halt).toMatchObject({ text: "No worker is connected to it" });
  expect(reading).toMatchObject({ pools: [], poolActions: [], locked: { why: "read-only" } });
  expect(asked).toEqual(["GET /1/summary", "GET /1/config"]);
});

test("the passwords of its workers are never asked for", async () => {
  const { simulated } = await start();
  const asked: string[] = [];
  const server = await serve((socket, request) => {
    const path = request.split(" ")[1] ?? "";
    asked.push(path);
    fetch(`http://${simulated.address}${path}`, { headers: { authorization: `Bearer ${token}` } })
      .then(async (reply) => socket.end(http(reply.status, await reply.text())))
      .catch(() => socket.destroy());
  });
  const reading = await rigAt(xmrigProxy, `127.0.0.1:${server.port}`, { token }).read(deadline());
  expect(reading.pools).toHaveLength(2);
  expect(asked).toEqual(["/1/summary", "/1/config"]);
  expect(JSON.stringify(reading)).not.toMatch(/secret of|"x"/);
});

describe("pools", () => {
  test("are added, preferred, switched off and on, and removed by the whole configuration", async () => {
    const { rig, simulated } = await start();
    await rig.pools.add?.({ url: "stratum+tcp://new.example.org:443", worker: "w", password: "p" }, deadline());
    clock.pass(1);
    // None of several is known to be in use.
    expect(listed(await rig.read(deadline()))).toEqual([
      ...["pool.example.com:3333", "backup.example.net:3333", "new.example.org:443"],
    ]);
    await rig.pools.prioritize?.(await poolAt(rig, 2), deadline());
    clock.pass(1);
    expect(listed(await rig.read(deadline()))[0]).toBe("new.example.org:443");
    await rig.pools.disable?.(await poolAt(rig, 1), deadline());
    clock.pass(1);
    await rig.pools.remove?.(await poolAt(rig, 2), deadline());
    clock.pass(1);
    expect(listed(await rig.read(deadline()))).toEqual(["*new.example.org:443", "-pool.example.com:3333"]);
    await rig.pools.enable?.(await poolAt(rig, 1), deadline());
    expect(simulated.requests.writes.every((write) => write.startsWith("PUT /1/config"))).toBe(true);
    expect((await rig.read(deadline())).poolActions).not.toContain("switch");
  });

  test("of a restricted proxy stay hidden, with what to do", async () => {
    const { rig, simulated } = await start({ writable: false });
    const reading = await rig.read(deadline());
    expect([reading.pools, reading.poolActions]).toEqual([[], []]);
    expect(reading.locked?.text).toContain("--http-no-restricted");
    expect(reading.readings.notes).toEqual([reading.locked?.text]);
    expect(simulated.requests.writes).toEqual([]);
  });
});

test.each([
  ["missing", {}, "none is configured"],
  ["wrong", { token: "falsch" }, "token is wrong"],
])("an access token that is %s is reported, and never shown", async (_, credentials, words) => {
  const { rig } = await start({}, credentials);
  const failure = rig.read(deadline());
  await expect(failure).rejects.toMatchObject({ code: "rig.login", message: expect.stringContaining(words) });
  await expect(failure).rejects.toMatchObject({ message: expect.stringMatching(/^(?!.*(?:falsch|geheim))/) });
});

test("a virtual proxy answers its workers' passwords, and knows no method to pause, as the real one", async () => {
  const { simulated } = await start();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const miners = await fetch(`http://${simulated.address}/1/miners`, { headers });
  expect(await miners.text()).toContain("secret of xmrig-proxy-1-one");
  const body = '{"method":"pause","id":1}';
  const paused = await fetch(`http://${simulated.address}/json_rpc`, { method: "POST", headers, body });
  expect(await paused.json()).toMatchObject({ error: { code: -32601 } });
  expect((await fetch(`http://${simulated.address}/2/summary`, { headers })).status).toBe(404);
});

test("it controls nothing of its workers", async () => {
  const { rig } = await start();
  await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
});
