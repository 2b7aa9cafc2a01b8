import { afterEach, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { demoFarm, type Farm, farmOf, farmToken, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { freePort } from "../free-port.ts";
import { within } from "../until.ts";
import { ask, command, records, send } from "./ask.ts";

const farms: Farm[] = [];

async function start(...options: Parameters<typeof startFarm>): Promise<Farm> {
  const farm = await startFarm(...options);
  farms.push(farm);
  return farm;
}

afterEach(async () => {
  for (const farm of farms.splice(0)) await farm.close();
});

const all = '{"command":"summary+pools+devs+stats"}';

describe("a virtual farm", () => {
  test("gives the same readings with the same clock and seed, and others with another seed", async () => {
    const clock = stoppedClock();
    const rigs: RigSpec[] = [{ kind: "cgminer", warm: true, name: "same" }];
    const replies = [];
    for (const seed of [7, 7, 8]) {
      const farm = await start({ rigs, clock: clock.now, seed });
      for (const rig of farm.rigs) replies.push(await ask(rig, all));
    }
    expect(replies[1]).toBe(replies[0]);
    expect(replies[2]).not.toBe(replies[0]);
  });

  test("one listener serves a rig at every loopback address", async () => {
    const port = await freePort();
    const farm = await start(farmOf(600, { cgminer: 1 }, { ports: { cgminer: port } }));
    expect(farm.rigs.map((rig) => rig.address).slice(249, 251)).toEqual([`127.1.0.250:${port}`, `127.1.1.1:${port}`]);
    expect(new Set(farm.rigs.map((rig) => rig.address)).size).toBe(600);
    const users = [];
    for (const rig of [farm.rigs[0], farm.rigs[599]]) {
      if (rig !== undefined) users.push(records(await command(rig, "pools"), "POOLS")[0]?.User);
    }
    expect(users).toEqual(["acct.cgminer-1", "acct.cgminer-600"]);
    await expect(ask({ host: "127.9.9.9", port }, all)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  test("a rig of a shared listener can be powered off and on alone", async () => {
    const farm = await start(farmOf(2, { cgminer: 1 }, { ports: { cgminer: await freePort() } }));
    const [first, second] = farm.rigs;
    if (first === undefined || second === undefined) throw new Error("no rigs");
    first.powerOff();
    await expect(ask(first, all)).rejects.toThrow();
    expect(await ask(second, all)).toMatch(/\0$/);
    await first.powerOn();
    expect(await ask(first, all)).toMatch(/\0$/);
  });

  test("a mix is repeated in turn, at standard ports or at one port each", () => {
    const mixed = farmOf(4, { cgminer: 2, axeos: 1, xmrig: 1 });
    expect(mixed.oneListener).toBe(true);
    expect(mixed.rigs.map((rig) => [rig.kind, rig.host, rig.port])).toEqual([
      ["cgminer", "127.1.0.1", 4028],
      ["cgminer", "127.1.0.2", 4028],
      ["axeos", "127.1.0.3", 80],
      ["xmrig", "127.1.0.4", 8080],
    ]);
    expect(mixed.rigs[3]).toMatchObject({ token: farmToken });
    const kinds = farmOf(4, { xmrig: 1, antminer: 2, axeos: 1 }).rigs.map(({ kind }) => kind);
    expect(kinds).toEqual(["xmrig", "antminer", "antminer", "axeos"]);
    const own = farmOf(2, { axeos: 1 }, { basePort: 20_000 });
    expect(own.oneListener).toBe(false);
    expect(own.rigs.map((rig) => [rig.host, rig.port])).toEqual([
      [undefined, 20_000],
      [undefined, 20_001],
    ]);
  });

  test("a port that is taken is reported with what to do", async () => {
    const farm = await start({ rigs: [{ kind: "cgminer" }] });
    const port = farm.rigs[0]?.port ?? 0;
    const error = await startFarm({ rigs: [{ kind: "axeos" }, { kind: "cgminer", port }] }).catch((caught) => caught);
    expect(error).toBeInstanceOf(RigbridgeError);
    expect(error).toMatchObject({ code: "not.possible" });
    expect(error.message).toContain(`127.0.0.1:${port}: something listens there already`);
  });

  test("keeps the last hundred writes", async () => {
    const farm = await start({ rigs: [{ kind: "cgminer" }] });
    const [rig] = farm.rigs;
    if (rig === undefined) throw new Error("no rig");
    for (let quota = 1; quota <= 105; quota++) await command(rig, "poolquota", `0,${quota}`);
    expect(rig.requests.count).toBe(105);
    expect([rig.requests.writes.length, rig.requests.writes[0]]).toEqual([100, "poolquota|0,6"]);
  });

  test("closing cuts open connections", async () => {
    const farm = await start({ rigs: [{ kind: "cgminer", fault: "silent" }] });
    const [rig] = farm.rigs;
    if (rig === undefined) throw new Error("no rig");
    const socket = await send(rig, all);
    const closed = new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
    await farm.close();
    await within(closed, "the farm to cut the connection");
    await expect(ask(rig, all)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("the demo farm starts, with its own invented addresses", async () => {
    const farm = await start({ rigs: demoFarm() });
    expect(farm.rigs.map((rig) => rig.kind)).toEqual([
      "axeos",
      "axeos",
      "cgminer",
      "whatsminer",
      "avalon",
      "cgminer",
      "xmrig",
    ]);
    expect(new Set(farm.rigs.map((rig) => rig.mac)).size).toBe(7);
    for (const rig of farm.rigs) {
      expect(rig.mac).toMatch(/^02(:[0-9A-F]{2}){5}$/);
      for (const pool of rig.model.pools) expect(pool.url).toMatch(/example\.(com|net):3333$/);
    }
  });
});
