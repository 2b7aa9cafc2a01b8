import { describe, expect, test } from "@jest/globals";
import { isProgram, type ProgramKind, rigKinds, type SimulatedRig } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { objectOf } from "./ask.ts";

const clock = stoppedClock();

const start = (kind: ProgramKind, more: object = {}): Promise<SimulatedRig> =>
  startRig({ kind, warm: true, name: "rig-one", ...more }, clock.now);

const get = async (rig: SimulatedRig, path: string): Promise<Response> => fetch(`http://${rig.address}${path}`);
const page = async (rig: SimulatedRig, path: string) => objectOf(await (await get(rig, path)).json());

const paths = {
  trex: "/summary",
  zenemy: "/summary",
  gminer: "/stat",
  nbminer: "/api/v1/status",
  rigel: "/stat",
  bzminer: "/status",
  srbminer: "/",
} as const;

describe.each(Object.entries(paths))("a virtual %s", (name, path) => {
  const kind = rigKinds.filter(isProgram).find((each) => each === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);

  test("answers its page with JSON, and any other with 404", async () => {
    const rig = await start(kind);
    const reply = await get(rig, path);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await reply.text()).toContain("pool.example.com");
    expect((await get(rig, "/nope")).status).toBe(404);
    expect((await fetch(`http://${rig.address}${path}`, { method: "POST" })).status).toBe(404);
  });

  test("says nothing of a second algorithm unless it mines one", async () => {
    const rig = await start(kind);
    expect(await (await get(rig, path)).text()).not.toContain("second.example.org");
    if (kind === "zenemy") return;
    const both = await start(kind, { dualAlgorithm: "kawpow" });
    const text = await (await get(both, path)).text();
    expect(text).toContain("second.example.org");
    expect(text).toContain("kawpow");
  });
});

test("the cards of a program share its rate, and one that is paused or lost has none", async () => {
  const rig = await start("bzminer");
  const rates = async () => {
    const { devices } = await page(rig, "/status");
    return Array.isArray(devices) ? devices.map((device) => Number(objectOf(device).hashrate)) : [];
  };
  const before = await rates();
  expect(before.reduce((sum, each) => sum + each, 0)).toBeCloseTo(rig.model.hashrate(), 0);
  expect(new Set(before).size).toBe(6);
  rig.model.change((model) => {
    model.boardsOff.add(1);
    model.boardsLost.add(4);
  });
  const after = await rates();
  expect(after.map((each) => each > 0)).toEqual([true, false, true, true, false, true]);
  expect(after.reduce((sum, each) => sum + each, 0)).toBeCloseTo(rig.model.hashrate(), 0);
  expect(rig.model.ratedHashrate).toBeCloseTo((366e6 * 4) / 6, 0);
});

describe("a virtual T-Rex", () => {
  test("takes commands only in a session, which its password opens", async () => {
    const rig = await start("trex", { password: "right" });
    expect(await page(rig, "/control?pause=true")).toMatchObject({ success: 0 });
    expect(await page(rig, "/login?password=wrong")).toMatchObject({ success: 0 });
    const { sid } = await page(rig, "/login?password=right");
    expect(await page(rig, `/control?pause=true&sid=${String(sid)}`)).toEqual({ success: 1 });
    expect(rig.model.mining).toBe(false);
    expect(await page(rig, `/control?pause=false:1&sid=${String(sid)}`)).toEqual({ success: 1 });
    await page(rig, `/logout?sid=${String(sid)}`);
    expect(await page(rig, `/control?pause=false&sid=${String(sid)}`)).toMatchObject({ success: 0 });
    expect(rig.model.mining).toBe(false);
  });

  test("without a password opens no session", async () => {
    const rig = await start("trex");
    expect(await page(rig, "/login?password=")).toMatchObject({ success: 0 });
  });

  test("shuts down", async () => {
    const rig = await start("trex", { password: "right" });
    const { sid } = await page(rig, "/login?password=right");
    await page(rig, `/control?command=shutdown&sid=${String(sid)}`);
    await expect(get(rig, "/summary")).rejects.toThrow();
  });
});

test("a virtual SRBMiner restarts at its secret path alone", async () => {
  const rig = await start("srbminer", { password: "wort", restartSeconds: 3 });
  expect((await get(rig, "/other")).status).toBe(404);
  expect(rig.model.starting).toBe(false);
  expect((await get(rig, "/wort")).status).toBe(200);
  expect(rig.model.starting).toBe(true);
});

test("a virtual Rigel shows the passwords of its pools, as the program does", async () => {
  const pools = [{ url: "stratum+tcp://one.example.com:3333", user: "w", password: "pool-password" }];
  const rig = await start("rigel", { pools });
  expect(await (await get(rig, "/stat")).text()).toContain("pool-password");
});
