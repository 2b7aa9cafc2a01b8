import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { readConfig } from "../../src/config/index.ts";
import { Identity } from "../../src/contract/readings.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { until, within } from "../until.ts";
import { command, rigbridge } from "./command.ts";

// depends on: src/**

let farm: Farm;
beforeAll(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", host: "127.81.0.9", port: 4028, dialect: "bmminer" },
      { kind: "axeos", host: "127.81.0.10", port: 8082, name: "shelf", mac: "02:51:00:00:00:0A" },
      { kind: "xmrig", host: "127.81.0.11", port: 8081, token: "geheim" },
      { kind: "axeos", host: "127.81.0.12", port: 8082, name: `\${HOME}" }`, mac: "02:51:00:00:00:0B" },
      { kind: "cgminer", host: "127.79.0.1", port: 4028 },
      { kind: "cgminer", host: "127.80.8.1", port: 4028 },
    ],
  });
});
afterAll(() => farm.close());

const networks = ["127.81.0.0/28:8082", "127.81.0.11:8081"];

/** As documented for `scan --json`. */
const Found = z.array(
  z.strictObject({
    address: z.string(),
    driver: z.string().nullable(),
    identity: Identity,
    note: z.string().nullable(),
  }),
);

describe("rigbridge scan", () => {
  test("--json prints only the rigs found, in the order of their addresses", async () => {
    const { code, stdout } = await rigbridge(["scan", ...networks, "--json"]);
    expect(code).toBe(0);
    expect(Found.parse(JSON.parse(stdout)).map(({ address, driver }) => [address, driver])).toEqual([
      ["127.81.0.9", "antminer"],
      ["127.81.0.10:8082", "axeos"],
      ["127.81.0.11:8081", "xmrig"],
      ["127.81.0.12:8082", "axeos"],
    ]);
  });

  test("without --json prints a table and the configuration for the rigs", async () => {
    const { code, stdout } = await command(["scan", ...networks]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^4 rigs found in 14 addresses:\n/);
    expect(stdout).toMatch(/^ {2}127\.81\.0\.10:8082 +Bitaxe Gamma 601 +axeos +02:51:00:00:00:0A +shelf$/m);
    expect(stdout).toMatch(/with its username and password it can be rebooted/);
    expect(stdout).toMatch(/^ {2}127\.81\.0\.11:8081 +XMRig +xmrig +requires its access token/m);

    const folder = await mkdtemp(join(tmpdir(), "rigbridge-"));
    try {
      const file = join(folder, "rigbridge.yaml");
      await writeFile(file, stdout.split("To add to rigbridge.yaml:\n")[1] ?? "", { mode: 0o600 });
      const { config } = await readConfig(file, {});
      expect(config.miners).toEqual([
        { address: "127.81.0.9", username: "its user name", password: "its password" },
        { address: "127.81.0.10:8082", name: "shelf" },
        { address: "127.81.0.11:8081", token: "its access token" },
        { address: "127.81.0.12:8082" },
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("--ports are tried on every address", async () => {
    const { stdout } = await command(["scan", "127.81.0.11", "--ports", "8080,8081", "--json"]);
    expect(Found.parse(JSON.parse(stdout))).toMatchObject([{ address: "127.81.0.11:8081" }]);
  });

  test("that finds nothing suggests what to try", async () => {
    const { code, stdout } = await command(["scan", "127.82.0.0/24"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^No rigs found in 254 addresses\.\n/);
    expect(stdout).toContain("rigbridge scan 192.168.1.0/24:8080");
    expect((await command(["scan", "127.82.0.1", "--json"])).stdout).toBe("[]\n");
  });

  test("prints on Ctrl-C what it has found so far", async () => {
    const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
    const { NODE_OPTIONS: _, ...env } = process.env;
    const child = spawn(process.execPath, [main, "scan", "127.79.0.1", "127.80.0.0-127.80.255.250"], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    const closed = once(child, "close");
    // Thousands of addresses after the first rig and long before the last address.
    await until(() => (farm.rigs[5]?.requests.count ?? 0) > 0, "the rig far behind to be asked");
    child.kill("SIGINT");
    const [code] = await within(closed, "the search to end", { details: () => stdout });
    expect(code).toBe(130);
    expect(stdout).toMatch(/^\d rigs? found in [\d,]+ of 65,532 addresses \(stopped\):\n/);
    expect(stdout).toContain("127.79.0.1");
  });

  test.each([
    [["10.0.0.0/15"], "have 131,070 addresses, more than the 65,536 of a /16; confirm the search with --yes"],
    [["10.0.0.0/8", "--yes"], "at most 4,194,304"],
    [["203.0.113.7"], "203.0.113.7 is not private"],
    [["fe80::1"], "is IPv6"],
    [["10.0.0.1", "10.0.0/24"], '"10.0.0/24" is not written as'],
    [["10.0.0.1", "--ports", "80,http"], "--ports: must be numbers from 1 to 65535"],
  ])("%j is refused before anything is sent", async (args, words) => {
    const { code, stdout, stderr } = await command(["scan", ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(words);
  });
});
