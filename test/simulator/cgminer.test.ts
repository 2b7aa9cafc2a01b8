import { once } from "node:events";
import { describe, expect, test } from "@jest/globals";
import type { CgminerSpec, SimulatedRig } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { within } from "../until.ts";
import { ask, command, records, send, status } from "./ask.ts";

const clock = stoppedClock();

const pools = [0, 1].map((id) => ({ url: `stratum+tcp://pool${id}.example.com:3333`, user: `acct.worker${id}` }));

const start = (spec: Omit<CgminerSpec, "kind"> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "cgminer", warm: true, pools, ...spec }, clock.now);

const urls = async (rig: SimulatedRig) => records(await command(rig, "pools"), "POOLS").map((pool) => pool.URL);

describe("a virtual cgminer", () => {
  test("answers byte for byte like the program, ends with a NUL and closes", async () => {
    const rig = await start();
    const when = Math.floor(clock.now() / 1000);
    expect(await ask(rig, '{"command":"version"}')).toBe(
      `{"STATUS":[{"STATUS":"S","When":${when},"Code":22,"Msg":"CGMiner versions","Description":"cgminer 4.11.1"}],"VERSION":[{"CGMiner":"4.11.1","API":"3.7"}],"id":1}\0`,
    );
  });

  test("answers plain text in plain text", async () => {
    const rig = await start();
    const when = Math.floor(clock.now() / 1000);
    const head = `STATUS=S,When=${when},Code=22,Msg=CGMiner versions,Description=cgminer 4.11.1|`;
    expect(await ask(rig, "version")).toBe(`${head}VERSION,CGMiner=4.11.1,API=3.7|\0`);
    expect(await ask(rig, "version|x\n")).toBe(`${head}VERSION,CGMiner=4.11.1,API=3.7|\0`);
    expect(await ask(rig, "[]")).toBe(`STATUS=E,When=${when},Code=14,Msg=Invalid command|\0`);
    const joined = await ask(rig, "summary+pools");
    expect(joined).toMatch(/^CMD=summary\|STATUS=S,.*\|SUMMARY,Elapsed=3600,.*\|CMD=pools\|STATUS=S,.*\|POOL=0,URL=/);
    expect(joined).toMatch(/\|POOL=1,.*\|\0$/);
  });

  test("joins reports, over six kilobytes for a three-board rig, and refuses to join a write", async () => {
    const rig = await start();
    const reply = await command(rig, "summary+pools+devs+stats+addpool");
    const [summary = {}] = records(reply, "summary");
    const [devs = {}] = records(reply, "devs");
    const [addpool = {}] = records(reply, "addpool");
    expect(records(summary, "SUMMARY")[0]).toMatchObject({ Elapsed: 3600, "Found Blocks": 0 });
    expect(summary.id).toBe(1);
    expect(records(devs, "DEVS")).toHaveLength(3);
    expect(records(addpool, "STATUS")[0]).toMatchObject({ Code: 45, Msg: "Access denied to 'addpool' command" });
    expect((await ask(rig, '{"command":"summary+pools+devs+stats"}')).length).toBeGreaterThan(6000);
  });

  test("the rates of its boards add up to its own", async () => {
    const rig = await start();
    const [summary = {}] = records(await command(rig, "summary"), "SUMMARY");
    const boards = records(await command(rig, "devs"), "DEVS").map((board) => Number(board["MHS av"]));
    expect(boards.reduce((sum, rate) => sum + rate)).toBeCloseTo(Number(summary["MHS av"]), 1);
  });

  test.each([
    ["switchpool", "1", "S27 Switching to pool 1:'stratum+tcp://pool1.example.com:3333'"],
    ["switchpool", "abc", "S27 Switching to pool 0:'stratum+tcp://pool0.example.com:3333'"],
    ["switchpool", "9", "E26 Invalid pool id 9 - range is 0 - 1"],
    ["switchpool", undefined, "E25 Missing pool id parameter"],
    ["addpool", undefined, "E52 Missing addpool details"],
    ["addpool", "stratum+tcp://x.example:1", "E53 Invalid addpool details 'stratum+tcp://x.example:1'"],
    ["addpool", "stratum+tcp://x.example:1,u,a\\,b", "S55 Added pool 2: 'stratum+tcp://x.example:1'"],
    ["enablepool", "0", "I49 Pool 0:'stratum+tcp://pool0.example.com:3333' already enabled"],
    ["disablepool", "1", "S48 Disabling pool 1:'stratum+tcp://pool1.example.com:3333'"],
    ["poolpriority", "1,1", "E74 Duplicate pool specified 1"],
    ["poolpriority", "1,0", "S73 Changed pool priorities"],
    ["poolquota", "1,3", "S122 Set pool 'stratum+tcp://pool1.example.com:3333' to quota 3'"],
    ["removepool", "0", "S68 Removed pool 0:'stratum+tcp://pool0.example.com:3333'"],
    ["failover-only", "true", "E127 Deprecated config option 'true'"],
    ["setconfig", "queue,5", "E83 Unknown config 'queue,5'"],
    ["zero", "all,false", "S97 Zeroed All stats without summary"],
    ["save", "saved.conf", "S44 Configuration saved to file 'saved.conf'"],
    ["privileged", undefined, "S46 Privileged access OK"],
    ["asccount", undefined, "S104 ASC count"],
    ["nosuch", undefined, "E14 Invalid command"],
  ])("%s|%s is answered %s", async (name, parameter, answer) => {
    expect(await status(await start(), name, parameter)).toBe(answer);
  });

  test.each([
    ["{not json", 23, "Invalid JSON"],
    ['{"nocommand":"x"}', 24, "Missing JSON 'command'"],
    ['{"command":5}', 14, "Invalid command"],
  ])("%s is answered with code %d", async (request, code, message) => {
    const reply = await ask(await start(), request);
    expect(reply).toContain(`"Code":${code},"Msg":"${message}"`);
    expect(reply.includes("Description")).toBe(code !== 14);
  });

  test("pools are renumbered when one is removed, and the last one stays", async () => {
    const rig = await start();
    await command(rig, "addpool", "stratum+tcp://pool2.example.com:3333,acct.worker2,x");
    await command(rig, "removepool", "0");
    expect(await urls(rig)).toEqual(["stratum+tcp://pool1.example.com:3333", "stratum+tcp://pool2.example.com:3333"]);
    await command(rig, "removepool", "0");
    expect(await status(rig, "removepool", "0")).toMatch(/^E66 Cannot remove last pool 0/);
    expect(await status(rig, "disablepool", "0")).toMatch(/^E51 Cannot disable last active pool 0/);
  });

  test("a switch of pools shows in the list, with the others in their order", async () => {
    const rig = await start();
    await command(rig, "disablepool", "1");
    await command(rig, "switchpool", "1");
    const list = records(await command(rig, "pools"), "POOLS");
    expect(list.map((pool) => [pool.Status, pool.Priority, pool["Stratum Active"]])).toEqual([
      ["Alive", 1, false],
      ["Alive", 0, true],
    ]);
    rig.model.setPoolAlive(1, false);
    expect(records(await command(rig, "pools"), "POOLS")[1]).toMatchObject({ Status: "Dead", "Stratum Active": false });
  });

  test("without privilege it refuses, and still counts the attempt", async () => {
    const rig = await start({ privileged: false });
    expect(await status(rig, "privileged")).toBe("E45 Access denied to 'privileged' command");
    expect(await status(rig, "switchpool", "1")).toBe("E45 Access denied to 'switchpool' command");
    expect(records(await command(rig, "check", "switchpool"), "CHECK")).toEqual([{ Exists: "Y", Access: "N" }]);
    expect(records(await command(rig, "check", "summary"), "CHECK")).toEqual([{ Exists: "Y", Access: "Y" }]);
    expect(records(await command(rig, "check", "nosuch"), "CHECK")).toEqual([{ Exists: "N", Access: "N" }]);
    expect(rig.requests).toEqual({ count: 5, writes: ["switchpool|1"] });
  });

  test("restart answers with a bare word, takes its time, and loses unsaved pools", async () => {
    const rig = await start({ restartSeconds: 3 });
    await command(rig, "addpool", "stratum+tcp://kept.example.com:3333,u,p");
    await command(rig, "save");
    await command(rig, "addpool", "stratum+tcp://lost.example.com:3333,u,p");
    expect(await ask(rig, '{"command":"restart"}')).toBe('{"STATUS":"RESTART","id":1}\0');
    await expect(ask(rig, '{"command":"version"}')).rejects.toThrow();
    clock.pass(4);
    expect(await urls(rig)).toEqual([...pools.map((pool) => pool.url), "stratum+tcp://kept.example.com:3333"]);
    expect(records(await command(rig, "summary"), "SUMMARY")[0]).toMatchObject({ Elapsed: 1, Accepted: 0 });
  });

  test("quit answers BYE, and the port is closed until it is powered on", async () => {
    const rig = await start();
    expect(await ask(rig, '{"command":"quit"}')).toBe('{"STATUS":"BYE","id":1}\0');
    await expect(ask(rig, '{"command":"version"}')).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await rig.powerOn();
    expect(await status(rig, "version")).toBe("S22 CGMiner versions");
  });

  test("an empty request is never answered", async () => {
    const rig = await start();
    const socket = await send(rig, "\n");
    let heard = false;
    socket.on("data", () => {
      heard = true;
    });
    expect(await status(rig, "version")).toBe("S22 CGMiner versions");
    expect(heard).toBe(false);
    expect(rig.requests.count).toBe(2);
    socket.end();
    await within(once(socket, "close"), "the connection to close");
  });

  test("a disabled board stops, and the rig's rate falls", async () => {
    const rig = await start();
    expect(await status(rig, "ascdisable", "2")).toBe("S111 ASC 2 set disable flag");
    const boards = records(await command(rig, "devs"), "DEVS");
    expect(boards.map((board) => board.Enabled)).toEqual(["Y", "Y", "N"]);
    expect(rig.model.ratedHashrate / rig.model.hardware.hashrate).toBeCloseTo(2 / 3, 6);
  });
});

describe("a virtual bfgminer", () => {
  test("has PGAs, a 20 s average, mining goals and its own refusals", async () => {
    const rig = await start({ dialect: "bfgminer" });
    expect(records(await command(rig, "devs"), "DEVS")[0]).toMatchObject({ PGA: 0, "MHS 20s": expect.any(Number) });
    expect(records(await command(rig, "pools"), "POOLS")[0]).toMatchObject({ "Mining Goal": "default" });
    expect(await status(rig, "asccount")).toBe("E14 Invalid command");
    expect(await status(rig, "removepool", "0")).toMatch(/^E67 Cannot remove active pool 0/);
    expect(await status(rig, "addpool", "stratum+tcp://x.example:1,u,p")).not.toMatch(/pool 2/);
    expect(await status(rig, "quit")).toBe("S257 BYE");
  });
});

describe("a virtual Antminer", () => {
  test("identifies itself, reports its boards in stats, and refuses joined commands", async () => {
    const rig = await start({ dialect: "bmminer" });
    expect(records(await command(rig, "version"), "VERSION")[0]).toMatchObject({ Type: "Antminer S19" });
    expect(await status(rig, "summary+pools")).toBe("E14 Invalid command");
    const [head, stats = {}] = records(await command(rig, "stats"), "STATS");
    expect(head).toMatchObject({ Type: "Antminer S19" });
    expect(stats).toMatchObject({ fan_num: 4, chain_acn1: 76, chain_acn4: 0, chain_rate4: "", rate_unit: "GH" });
    expect(stats.temp_pcb1).toMatch(/^\d+-\d+-\d+-\d+$/);
    const rates = [1, 2, 3].map((slot) => Number(stats[`chain_rate${slot}`]));
    expect(rates.reduce((sum, rate) => sum + rate)).toBeCloseTo(Number(stats["GHS 5s"]), 0);
    expect(records(await command(rig, "pools"), "POOLS")[0]).toHaveProperty("Pool Stale%%");
  });
});
