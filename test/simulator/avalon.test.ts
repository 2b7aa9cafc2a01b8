import { describe, expect, test } from "@jest/globals";
import { type AvalonSpec, farmOf, type SimulatedRig } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { ask, command, records, status } from "./ask.ts";

const start = (spec: Partial<AvalonSpec> = {}, clock = stoppedClock()): Promise<SimulatedRig> =>
  startRig({ kind: "avalon", warm: true, restartSeconds: 60, ...spec }, clock.now);

const line = async (rig: SimulatedRig): Promise<string> => {
  const [stats = {}] = records(await command(rig, "stats"), "STATS");
  return String(stats["MM ID0"] ?? stats["MM ID0:Summary"]);
};

describe("an Avalon", () => {
  test.each([
    ["a-series", "AvalonMiner 1246-83"],
    ["nano3", "Avalonnano"],
    ["nano3s", "Avalon Nano3s"],
    ["mini3", "Avalon Mini3"],
    ["q", "Avalon Q"],
  ] as const)("of the generation %s says that it is %s", async (generation, product) => {
    const rig = await start({ generation });
    const [version] = records(await command(rig, "version"), "VERSION");
    expect(version).toMatchObject({ PROD: product, CGMiner: "4.11.1" });
  });

  test("lists its options, and reports mistakes in the firmware's words", async () => {
    const rig = await start();
    expect(await status(rig, "ascset", "0,help")).toMatch(/^I118 ASC 0 set info: help\|voltage\|fan-spd\|.*softoff\|$/);
    expect(await status(rig, "ascset", "0,led,1-1")).toBe("E120 ASC 0 set failed: Unknown option: led");
    expect(await status(rig, "ascset", "0,workmode,1")).toBe("E120 ASC 0 set failed: workmode unknown argument");
    expect(await status(rig, "ascset", "0,workmode")).toBe("E120 ASC 0 set failed: missing workmode setting");
    expect(await status(rig, "ascset", "0,fan-spd,5")).toMatch(/^E120 .*valid range 15-100/);
    expect(await status(rig, "ascset", "0,softoff,1")).toMatch(/^E120 .*parameter invalid/);
    expect(await status(rig, "ascset", "1,help")).toMatch(/^E107 /);
    expect(await status(rig, "addpool", "a,b,c")).toBe("E14 Invalid command");
  });

  test("answers plain text too, except a Nano 3S", async () => {
    const q = await start();
    expect(await ask(q, "ascset|0,work_mode_lvl,get")).toMatch(
      /^STATUS=I,When=1800000000,Code=118,Msg=ASC 0 set info: workmode 2 worklevel 0,/,
    );
    expect(await ask(q, "version")).toContain("|VERSION,CGMiner=4.11.1,");
    const nano = await start({ generation: "nano3s" });
    expect(await ask(nano, "version")).toContain("Invalid JSON");
  });

  test("of the A-series does not have the time of day", async () => {
    const rig = await start({ generation: "a-series" });
    for (const name of ["summary", "version"]) {
      const [said] = records(await command(rig, name), "STATUS");
      expect(said?.When).toBe(3600);
    }
  });

  test("becomes idle at the set time, and works again after initialising", async () => {
    const clock = stoppedClock();
    const rig = await start({}, clock);
    await status(rig, "ascset", `0,softoff,1:${1_800_000_005}`);
    expect(await line(rig)).toContain("Work: In Work");
    clock.pass(5);
    expect(await line(rig)).toMatch(/STATE\[2\].*Work: In Idle.*FanR\[0%\].*SoftOFF\[4\]/);
    await status(rig, "ascset", `0,softon,1:${1_800_000_010}`);
    clock.pass(5);
    expect(await line(rig)).toContain("Work: In Init");
    clock.pass(30);
    expect(await line(rig)).toContain("Work: In Work");
  });

  test("applies its mode with the next restart, during which it does not answer", async () => {
    const clock = stoppedClock();
    const rig = await start({}, clock);
    await status(rig, "ascset", "0,workmode,set,0");
    expect(await line(rig)).toMatch(/WORKMODE\[2\].*MPO\[1674\]/);
    await status(rig, "ascset", "0,reboot,0");
    await expect(command(rig, "stats")).rejects.toThrow();
    clock.pass(61);
    expect(await line(rig)).toMatch(/WORKMODE\[0\].*MPO\[800\]/);
    clock.pass(600);
    await line(rig);
    expect(rig.model.power).toBeGreaterThan(780);
    expect(rig.model.power).toBeLessThan(820);
  });

  test("serves its pages with the cookie, and the login page without", async () => {
    const rig = await start({ password: "admin" });
    const page = async (path: string, headers = {}): Promise<string> =>
      (await fetch(`http://${rig.address}${path}`, { headers })).text();
    expect(await page("/")).toContain("loginform");
    expect(await page("/get_dashboard.cgi")).toContain("loginform");
    const salt = /"auth":"([0-9a-f]{8})"/.exec(await page("/get_auth.cgi"))?.[1];
    const cookie = `auth=${salt}8c6976e5b5410415bde908bd`;
    expect(await page("/get_dashboard.cgi", { cookie })).toMatch(/^dashboardCallback\(\{"hwtype":"Avalon Q",.*,\}\);$/);
    expect(await page("/nothing")).toBe("Not Found");
  });

  test("is part of farms made by farmOf", () => {
    const { rigs } = farmOf(2, { avalon: 2 });
    expect(rigs.map(({ kind, usualPorts }) => [kind, usualPorts])).toEqual([
      ["avalon", true],
      ["avalon", true],
    ]);
  });
});
