import { describe, expect, test } from "@jest/globals";
import { Control, RigReadings } from "../../../src/contract/readings.ts";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading } from "../../../src/link/driver.ts";
import { innosilicon } from "../../../src/link/drivers/innosilicon/index.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { haltOf } from "../../../src/link/reason.ts";
import type { InnosiliconSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { deadline, listed, renewed, rigAt } from "../rigs.ts";
import { http, serve } from "../servers.ts";
import { closing, starterOf } from "./family.ts";

const login = { username: "admin", password: "admin" };

const clock = stoppedClock(Date.UTC(2026, 0, 1));

const usual = { kind: "innosilicon", warm: true, restartSeconds: 0 } as const;
const start = starterOf<InnosiliconSpec>(innosilicon, usual, login, clock.now);

const keys = ({ controls }: Reading): string[] => controls.map(({ key }) => key);

test("an Innosilicon is recognised by its RPC, and identified by its API", async () => {
  const { simulated } = await start();
  const found = await identify(parseAddress(simulated.address), login, deadline());
  closing(found.rig);
  expect(found).toMatchObject({ driver: { id: "innosilicon" }, identity: { make: "Innosilicon", model: "A9" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({ identity: { model: "A9", mac: simulated.mac } });
  expect(innosilicon.makersLogin).toEqual(login);
});

describe("it is read", () => {
  test("with its login: an A9's rates in Sol/s over RPC, its power over its API", async () => {
    const { rig, simulated } = await start();
    const reading = await rig.read(deadline());
    const { readings } = reading;
    const { model } = simulated;
    expect(RigReadings.parse(readings)).toEqual(readings);
    expect(Control.array().parse(reading.controls)).toEqual(reading.controls);
    expect(readings).toMatchObject({
      hashrate: expect.closeTo(model.hashrate(5), -2),
      hashrateAverage: expect.closeTo(model.averageHashrate, -2),
      algorithm: "equihash",
      power: Math.round(model.power),
      powerSource: "reported",
      fans: [{ rpm: null, percent: Math.round(model.fan * 100) }],
      uptime: Math.floor(model.elapsed),
      mining: true,
      errors: [],
      notes: [],
    });
    expect(readings.boards).toHaveLength(3);
    expect(listed(reading)).toEqual(["*pool.example.com:3333", "backup.example.net:3333"]);
  });

  test.each<[string, Credentials, string]>([
    ["without one by its RPC alone", {}, "login missing"],
    ["with a wrong one by its RPC alone", { ...login, password: "geheim99" }, "login wrong"],
  ])("%s", async (_, credentials, why) => {
    const { rig, simulated } = await start({}, credentials);
    const reading = await rig.read(deadline());
    expect(reading).toMatchObject({ controls: [], identity: { mac: null }, locked: { why } });
    expect(reading.readings).toMatchObject({ hashrate: expect.closeTo(simulated.model.hashrate(5), -2), power: null });
    expect(JSON.stringify(reading)).not.toContain("geheim99");
    await expect(rig.set("reboot", true, deadline())).rejects.toMatchObject({ code: "control.absent" });
  });

  test("after its token has expired, with a new one", async () => {
    const { rig } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    const reading = await rig.read(deadline());
    expect(reading.readings).toMatchObject({ power: expect.any(Number), notes: [] });
  });

  test("and why it does not hash: its error, or its pools", async () => {
    const { rig, simulated } = await start({ error: 21 });
    for (const index of [0, 1]) simulated.model.setPoolAlive(index, false);
    clock.pass(600);
    const reading = await rig.read(deadline());
    expect(reading.readings.errors).toEqual([{ code: "21", text: "It reports the error 21" }]);
    expect(haltOf(reading)).toMatchObject({ code: "pools" });
  });
});

describe("its controls", () => {
  test("restart it, which turns its counters back", async () => {
    const { rig, simulated } = await start();
    expect(keys(await rig.read(deadline()))).toEqual(["restart", "reboot"]);
    await expect(rig.set("restart", true, deadline())).resolves.toBe("restartCgMiner done");
    await expect(rig.set("reboot", true, deadline())).resolves.toBe("reboot done");
    expect(simulated.requests.writes).toEqual(["restartCgMiner", "reboot"]);
    expect((await rig.read(deadline())).readings.uptime).toBe(0);
  });

  test("that it refuses fail in its words, and others do not exist", async () => {
    const { rig, simulated } = await start();
    const reading = await rig.read(deadline());
    expect(reading.poolActions).toEqual([]);
    for (const key of ["mining", "fan", "locate"] as const)
      await expect(rig.set(key, 1, deadline())).rejects.toMatchObject({ code: "control.absent" });
    simulated.fault = "denied";
    await expect(rig.set("restart", true, deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("Not permitted"),
    });
  });

  test("are not sent with an expired token, but after the rig was asked again which one it is", async () => {
    const { rig } = await start({ tokenSeconds: 60 });
    await rig.read(deadline());
    clock.pass(61);
    await expect(renewed(rig, () => rig.set("restart", true, deadline()))).resolves.toBe("restartCgMiner done");
  });
});

describe("a broken reply", () => {
  const ok = { STATUS: [{ STATUS: "S", Msg: "fine", Description: "innominer a9-1.1.0" }] };
  const answers: Readonly<Record<string, object>> = {
    version: { ...ok, VERSION: [{ CGMiner: "a9-1.1.0", API: "3.7" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 1000, "MHS 5s": 51_000, "MHS av": 50_000 }] },
  };
  const all = { success: true, all: { mac: "02:00:00:00:00:09", power: 620 } };

  async function read(pages: Readonly<Record<string, unknown>>, rpc: typeof answers = answers): Promise<Reading> {
    const server = await serve((socket, request) => {
      if (request.startsWith("{")) {
        const refused = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command", Description: "innominer" }] };
        return socket.end(`${JSON.stringify(rpc[JSON.parse(request).command] ?? refused)}\0`);
      }
      const name = request.split(" ")[1]?.replace("/api/", "") ?? "";
      const page = name === "auth" ? { success: true, jwt: "t" } : pages[name];
      return socket.end(page === undefined ? http(404, "{}") : http(200, JSON.stringify(page)));
    });
    return closing(rigAt(innosilicon, `127.0.0.1:${server.port}`, login)).read(deadline());
  }

  test("of its API costs a note and the controls, not the read", async () => {
    expect(await read({ getAll: all })).toMatchObject({
      identity: { mac: "02:00:00:00:00:09" },
      readings: { power: 620, notes: [expect.stringContaining("its errors cannot be read")] },
    });
    const refused = await read({ getAll: { success: false, message: "Busy now" } });
    expect(refused).toMatchObject({ controls: [], identity: { mac: null }, readings: { power: null, mining: true } });
    expect(refused.readings.notes).toEqual([expect.stringContaining("its web interface cannot be used now")]);
  });

  test("of one device leaves its error beside that of the API, and the fans of the RPC where it has some", async () => {
    const failing = { ...all, all: { ...all.all, fansSpeed: 70 } };
    const pages = { getAll: failing, getErrorDetail: { success: true, code: 21 } };
    const rpc = {
      ...answers,
      stats: { ...ok, STATS: [{ chain_acn1: 12, fan_num: 1, fan1: 4_200, psu_status: "fault" }] },
    };
    const both = (await read(pages, rpc)).readings;
    expect(both.errors.map(({ code }) => code)).toEqual([expect.not.stringMatching(/^21$/), "21"]);
    expect(both.fans).toEqual([{ rpm: 4_200, percent: null }]);
    const alone = (await read(pages)).readings;
    expect([alone.errors.map(({ code }) => code), alone.fans]).toEqual([["21"], [{ rpm: null, percent: 70 }]]);
  });

  test("of its RPC fails the read", async () => {
    await expect(read({ getAll: all }, {})).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
  });
});
