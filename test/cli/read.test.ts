import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { Control, Identity, Reason, RigReadings } from "../../src/contract/readings.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { http, serve } from "../link/servers.ts";
import { command, rigbridge } from "./command.ts";

const driverIds = drivers.map(({ id }) => id).join(", ");

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", warm: true },
      { kind: "axeos", warm: true, mac: "02:51:00:00:00:0A" },
      { kind: "xmrig", warm: true, token: "right", restricted: false },
      { kind: "axeos", fault: "silent" },
      { kind: "gminer", warm: true, dualAlgorithm: "kHeavyHash" },
    ],
  });
});
afterAll(() => farm.close());

const address = (index: number): string => farm.rigs[index]?.address ?? "";
const token = { env: { RIGBRIDGE_TOKEN: "right" } };

/** Exactly as documented for `read --json`. */
const Report = z.strictObject({
  driver: z.string(),
  identity: Identity,
  readings: RigReadings,
  reason: Reason.omit({ since: true }).nullable(),
  pools: z.array(
    z.strictObject({
      url: z.string(),
      worker: z.string(),
      status: z.enum(["enabled", "disabled", "dead"]),
      active: z.boolean(),
      priority: z.int(),
      quota: z.number().nullable(),
      accepted: z.number().nullable(),
      rejected: z.number().nullable(),
      stale: z.number().nullable(),
    }),
  ),
  controls: z.array(Control),
});

describe("rigbridge read", () => {
  test.each<[string, number, { env: Record<string, string> } | undefined]>([
    ["cgminer", 0, undefined],
    ["axeos", 1, undefined],
    ["xmrig", 2, token],
  ])("--json gives the report of a rig that speaks %s", async (driver, index, place) => {
    const { code, stdout, stderr } = await command(["read", address(index), "--json"], place);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const report = Report.parse(JSON.parse(stdout));
    expect(report.driver).toBe(driver);
    expect(report.readings.hashrate).toBeGreaterThan(0);
    expect(report.pools.find(({ active }) => active)?.url).toContain("pool.example.com:3333");
    expect(report.controls.length).toBeGreaterThan(0);
  });

  test("shows each card of a computer, and the second algorithm", async () => {
    const { code, stdout } = await command(["read", address(4)]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Second algorithm +kHeavyHash, [\d.]+ GH\/s/);
    const rows = stdout.split("\n").filter((line) => /^ +\d+ +NVIDIA GeForce RTX 3070 +enabled .* W$/.test(line));
    expect(rows.map((line) => Number.parseInt(line, 10))).toEqual([1, 2, 5, 6, 10, 11]);
    const json: unknown = JSON.parse((await rigbridge(["read", address(4), "--json"])).stdout);
    expect(json).toMatchObject({ cards: [{ bus: 1 }, { bus: 2 }, {}, {}, {}, {}], readings: { dual: {} } });
  });

  test("without --json is plain text", async () => {
    const { code, stdout } = await command(["read", address(1)]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Bitaxe Gamma 601 at ${address(1)}`);
    expect(stdout).toMatch(/^ {2}MAC +02:51:00:00:00:0A$/m);
    expect(stdout).toMatch(/^ {2}Hash rate +[\d.]+ TH\/s/m);
    expect(stdout).toMatch(/^ {2}frequency +525 MHz +400 to 625 MHz$/m);
  });

  test("with --driver only that one is tried", async () => {
    const { code, stdout } = await command(["read", address(0), "--driver", "cgminer", "--json"]);
    expect(code).toBe(0);
    expect(Report.parse(JSON.parse(stdout)).identity.firmware).toContain("cgminer");
  });

  test("a wrong token is refused, and printed nowhere", async () => {
    const { code, stdout, stderr } = await command(["read", address(2), "--token", "hunter2"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("rejects this access token");
    expect(stderr).not.toContain("hunter2");
  });

  test("a port where nothing listens is reported", async () => {
    const { code, stderr } = await command(["read", "127.0.0.1:1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("No rig can be reached at 127.0.0.1");
    expect(stderr).not.toContain("    at ");
  });

  test("a device that is not a rig is reported with its answer", async () => {
    const server = createServer((socket) => socket.end("SSH-2.0-Invented\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bound = server.address();
    const port = typeof bound === "object" ? bound?.port : 0;
    const { code, stderr } = await command(["read", `127.0.0.1:${port}`]);
    server.close();
    expect(code).toBe(1);
    expect(stderr).toContain("Nothing at 127.0.0.1 speaks a known protocol");
  });

  test("a device that this version cannot read is named, without hints for other devices", async () => {
    const device = await serve((socket) => socket.end(http(200, "<title>DragonMint</title>")));
    const { code, stderr } = await command(["read", `127.0.0.1:${device.port}`]);
    await device.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${device.port} is an Innosilicon, which this version cannot read`);
    expect(stderr).not.toContain("XMRig");
  });

  test.each([
    [["a b"], 'address: "a b" contains whitespace'],
    [["10.0.0.1", "--driver", "axos"], `--driver: must be one of ${driverIds}; did you mean "axeos"?`],
    [[], "missing required argument 'address'"],
  ])("%j is refused before anything is sent", async (args, words) => {
    const { code, stderr } = await command(["read", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });
});
