import { describe, expect, test } from "@jest/globals";
import { RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { ethminer } from "../../../src/link/drivers/ethminer/index.ts";
import type { Credentials } from "../../../src/link/link.ts";
import type { ProgramSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt, values } from "../rigs.ts";
import { serve } from "../servers.ts";

async function start(
  spec: Partial<ProgramSpec> = {},
  credentials: Credentials = {},
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "ethminer", warm: true, ...spec }, () => 1.8e12);
  return { rig: rigAt(ethminer, simulated.address, credentials), simulated };
}

test("ethminer is read with its cards and pools", async () => {
  const { rig } = await start();
  const reading = await rig.read(deadline());
  const { readings, devices } = reading;
  expect(RigReadings.parse(readings)).toEqual(readings);
  expect(readings).toMatchObject({
    algorithm: "ethash",
    power: expect.any(Number),
    powerSource: "reported",
    temperature: 61,
    uptime: 3600,
    mining: true,
    shares: { accepted: expect.any(Number), rejected: expect.any(Number), hardwareErrors: 0 },
    errors: [],
    notes: [],
  });
  expect(readings.hashrate).toBeGreaterThan(300e6);
  expect(devices[4]).toMatchObject({
    kind: "gpu",
    name: "NVIDIA GeForce RTX 3070",
    status: "enabled",
    bus: 10,
    power: expect.any(Number),
    fanPercent: expect.any(Number),
    accepted: expect.any(Number),
  });
  expect(reading.identity).toMatchObject({
    make: "ethminer",
    model: "6 x NVIDIA GeForce RTX 3070",
    hostname: "ethminer-1",
    firmware: "ethminer 0.19.0-beta.0+commit.8f8bc3eb",
  });
  expect(reading.software).toBe("EthMiner");
  expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  expect(reading.pools.map(({ worker }) => worker)).toEqual(["acct.ethminer-1", "acct.ethminer-1"]);
});

test("a read is one connection, and what it may do is asked for seldom", async () => {
  const { rig, simulated } = await start();
  const asked = async (): Promise<number> => {
    const before = simulated.requests.count;
    await rig.read(deadline());
    return simulated.requests.count - before;
  };
  expect([await asked(), await asked()]).toEqual([3, 2]);
  expect(simulated.requests.writes).toEqual([]);
});

describe("its password", () => {
  test.each([{ password: "geheim" }, { token: "geheim" }])("opens it: %j", async (credentials) => {
    const { rig, simulated } = await start({ password: "geheim" }, credentials);
    await expect(rig.read(deadline())).resolves.toMatchObject({ software: "EthMiner" });
    await rig.set("board_1", false, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ board_1: false });
    expect(simulated.requests.writes).toEqual(['{"method":"miner_pausegpu","params":{"index":1,"pause":true}}']);
  });

  test.each<[Credentials, string]>([
    [{}, "none is configured"],
    [{ password: "falsch" }, "rejects this password"],
  ])("%j is a login error that does not show it", async (credentials, words) => {
    const { rig } = await start({ password: "geheim" }, credentials);
    const failure = rig.read(deadline());
    await expect(failure).rejects.toMatchObject({ code: "rig.login", message: expect.stringContaining(words) });
    await expect(failure).rejects.toMatchObject({ message: expect.stringMatching(/^(?!.*falsch)/) });
  });

  test("is not sent to a program that has none", async () => {
    const seen: string[] = [];
    const server = await serve((socket, request) => {
      const take = (text: string): void => {
        seen.push(text);
        socket.write('{"id":1,"jsonrpc":"2.0","result":{"host":{"version":"ethminer-0.19.0"}}}\n');
      };
      take(request);
      socket.on("data", (chunk) => take(chunk.toString()));
    });
    await rigAt(ethminer, `127.0.0.1:${server.port}`, { password: "geheim" }).read(deadline());
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.join()).not.toMatch(/geheim|authorize/);
  });
});

describe("controls", () => {
  test("pause one card and all of them, and are read back", async () => {
    const { rig } = await start();
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, restart: null, board_5: true });
    await rig.set("board_2", false, deadline());
    const one = await rig.read(deadline());
    expect(values(one)).toMatchObject({ mining: true, board_2: false, board_3: true });
    expect(one.devices[2]).toMatchObject({ status: "disabled" });
    expect(one.readings.errors).toEqual([]);
    await rig.set("mining", false, deadline());
    expect((await rig.read(deadline())).readings).toMatchObject({ mining: false, hashrate: 0 });
    await rig.set("mining", true, deadline());
    expect(values(await rig.read(deadline()))).toMatchObject({ mining: true, board_2: true });
  });

  test("restart its cards, which its answer alone confirms", async () => {
    const { rig, simulated } = await start();
    const { controls } = await rig.read(deadline());
    expect(controls.find(({ key }) => key === "restart")).toMatchObject({ kind: "trigger", restartsMining: false });
    await expect(rig.set("restart", true, deadline())).resolves.toBe("The program accepted");
    expect(simulated.requests.writes).toEqual(['{"method":"miner_restart"}']);
  });

  test("are not offered by a program that can only be read, and no question changes anything", async () => {
    const { rig, simulated } = await start({ writable: false });
    const reading = await rig.read(deadline());
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(reading.locked).toMatchObject({ why: "read-only", text: expect.stringContaining("--api-bind") });
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(simulated.requests.writes).toEqual([]);
  });

  test("that it refuses once it is read-only are an error, and then are withdrawn", async () => {
    const { rig, simulated } = await start();
    await rig.read(deadline());
    simulated.fault = "denied";
    await expect(rig.set("board_1", false, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Method not available"),
    });
    expect((await rig.read(deadline())).controls).toEqual([]);
  });
});

describe("pools", () => {
  test("are added, switched to and removed, by the list just read", async () => {
    const { rig, simulated } = await start();
    const login = { url: "stratum+tcp://new.example.org:4444", worker: "0xabc.rig 1", password: "ge:heim" };
    await rig.pools.add?.(login, deadline());
    expect(listed(await rig.read(deadline()))).toEqual([
      "*pool.example.com:3333",
      "backup.example.net:3333",
      "new.example.org:4444",
    ]);
    expect((await poolAt(rig, 2)).worker).toBe("0xabc.rig 1");
    const last = await poolAt(rig, 2);
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    await rig.pools.switch?.(last, deadline());
    expect(listed(await rig.read(deadline()))).toEqual(["pool.example.com:3333", "*new.example.org:4444"]);
    expect(simulated.requests.writes.at(-1)).toBe('{"method":"miner_setactiveconnection","params":{"index":1}}');
    expect(simulated.model.pools[1]?.password).toBe("ge:heim");
  });

  test("never show the password that stands in their addresses", async () => {
    const pools = [{ url: "stratum+tcp://pool.example.com:3333", user: "w", password: "geheim" }];
    const { rig } = await start({ pools });
    expect(JSON.stringify(await rig.read(deadline()))).not.toContain("geheim");
  });

  test("a password that the program repeats in a refusal is hidden", async () => {
    const server = await serve((socket, request) =>
      socket.end(`${JSON.stringify({ id: 1, jsonrpc: "2.0", error: { code: -422, message: `Bad ${request}` } })}\n`),
    );
    const rig = rigAt(ethminer, `127.0.0.1:${server.port}`);
    const added = rig.pools.add?.({ url: "a.example.com:1", worker: "w", password: "ge/heim" }, deadline());
    await expect(added).rejects.toMatchObject({ code: "rig.refused", message: expect.stringContaining("***") });
    await expect(added).rejects.toMatchObject({ message: expect.not.stringMatching(/heim/) });
  });

  test("the one in use is refused in the program's words, and the last one is not sent", async () => {
    const { rig, simulated } = await start();
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Can't delete active connection"),
    });
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    const writes = simulated.requests.writes.length;
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    expect(simulated.requests.writes).toHaveLength(writes);
  });
});

test("a card that paused itself is an error, and forks are named", async () => {
  const card = {
    _index: 0,
    hardware: { name: "RX 580 8.00 GB", pci: "0a:00.0", sensors: [0, 0, 0], type: "GPU" },
    mining: { hashrate: "0x0", paused: true, pause_reason: "Overheating", shares: [1, 0, 2, 9] },
  };
  const hungry = {
    _index: 1,
    hardware: { name: "RTX 3090 24.0 GB", pci: "0b:00.0", sensors: [66, 90, 341.2], type: "GPU" },
    mining: { hashrate: "0x0", paused: true, pause_reason: "Api request", shares: [1, 0, 0, 9] },
  };
  const result = { devices: [card, hungry], host: { version: "kawpowminer-1.2.4" }, mining: { hashrate: "0x0" } };
  const server = await serve((socket) => {
    const answer = (): void => void socket.write(`${JSON.stringify({ id: 1, jsonrpc: "2.0", result })}\n`);
    answer();
    socket.on("data", answer);
  });
  const reading = await rigAt(ethminer, `127.0.0.1:${server.port}`).read(deadline());
  expect(reading).toMatchObject({ software: "KawpowMiner", readings: { algorithm: "kawpow", hashrate: 0 } });
  expect(reading.readings.errors).toEqual([{ code: "device.paused", text: "RX 580 is paused: Overheating" }]);
  expect(reading.devices).toMatchObject([
    { name: "RX 580", bus: 10, temperature: null, power: null, hardwareErrors: 2 },
    { name: "RTX 3090", bus: 11, temperature: 66, fanPercent: 90, power: 341.2 },
  ]);
  expect(reading.readings.notes.join()).not.toContain("sensors");
});
