import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Command } from "commander";
import { program } from "../../src/cli/program.ts";
import { rigKinds } from "../../src/simulator/index.ts";
import { freePort } from "../free-port.ts";
import { command, rigbridge, running } from "./command.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-cli-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("rigbridge", () => {
  test("--version prints the version", async () => {
    expect(await rigbridge(["--version"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  test("an unknown command is refused with the nearest one", async () => {
    const { code, stderr } = await command(["simulat"]);
    expect(code).toBe(1);
    expect(stderr).toContain("(Did you mean simulate?)");
  });

  test("an action of act that is mistyped names the nearest one", async () => {
    expect((await command(["act", "Garage", "restrat"])).stderr).toContain('did you mean "restart"?');
  });

  test("the help of every command has an example", async () => {
    const all = (parent: Command): Command[] => parent.commands.flatMap((each) => [each, ...all(each)]);
    const commands = all(await program([]));
    expect(commands.length).toBeGreaterThan(12);
    for (const each of commands) {
      let help = "";
      each.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(help).toMatch(new RegExp(`\\nExamples?:\\n(.*\\n)*?  (\\w+=\\w+ )?rigbridge .*\\b${each.name()}\\b`));
    }
  });
});

describe("rigbridge config", () => {
  test("check knows an agent's file by its keys or its name, and its mistakes", async () => {
    const agent =
      "service: https://rigs.example\nallow: { reboot: true }\nsoftware: [{ id: LolMiner, path: /opt/lol }]\n";
    await writeFile(join(folder, "gpu.yaml"), agent);
    expect(await command(["config", "check", "gpu.yaml"], { cwd: folder })).toEqual({
      code: 0,
      stdout: "gpu.yaml: ok (an agent's file, 1 declared program)\n",
      stderr: "",
    });
    await writeFile(join(folder, "gpu.yaml"), `${agent}token: 0123456789abcdef\n`);
    expect((await command(["config", "check", "gpu.yaml"], { cwd: folder })).stderr).toBe(
      "Warning: gpu.yaml contains a token that every user of this machine can read; run chmod 600 on it\n",
    );
    await writeFile(join(folder, "rigbridge-agent.yaml"), "software: 7\nmirrow: x\n");
    expect(await rigbridge(["config", "check", "rigbridge-agent.yaml"], { cwd: folder })).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "rigbridge-agent.yaml has 2 mistakes\n" +
        "  rigbridge-agent.yaml:1: software: must be a list, is a number\n" +
        '  rigbridge-agent.yaml:2: mirrow: is not a known key; did you mean "mirror"?\n',
    });
  });

  test("check prints ok and what the file contains", async () => {
    const text =
      "groups: [{ name: g, groups: [{ name: in, groups: [{ name: deep }] }] }]\nminers:\n  - { address: a1, group: g }\n  - address: a2\n";
    await writeFile(join(folder, "rigbridge.yaml"), text);
    expect(await command(["config", "check"], { cwd: folder })).toEqual({
      code: 0,
      stdout: "rigbridge.yaml: ok (2 miners, 3 groups)\n",
      stderr: "",
    });
  });

  test("check prints every mistake with its line", async () => {
    await writeFile(join(folder, "bad.yaml"), "http:\n  prt: 1\nminers:\n  - name: a\n");
    expect(await command(["config", "check", "bad.yaml"], { cwd: folder })).toEqual({
      code: 1,
      stdout: "",
      stderr: [
        "bad.yaml has 2 mistakes",
        '  bad.yaml:2: http.prt: is not a known key; did you mean "port"?',
        "  bad.yaml:4: miners[0].address: is missing",
        "",
      ].join("\n"),
    });
  });

  test("check reports a file that does not exist", async () => {
    const { code, stderr } = await command(["config", "check", "none.yaml"], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "none.yaml does not exist\n" });
  });

  test("schema prints a JSON Schema", async () => {
    const { code, stdout } = await command(["config", "schema"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ $schema: expect.stringContaining("draft-07"), type: "object" });
  });
});

describe("rigbridge simulate", () => {
  test("runs rigs that read identifies, and stops on SIGINT", async () => {
    const [axeos, xmrig] = [await freePort(), await freePort()];
    const ports = ["--addresses", `axeos=${axeos},xmrig=${xmrig}`];
    const farm = await running(["simulate", "--count", "22", "--mix", "axeos=1,xmrig=1", ...ports], /Ctrl-C/);
    const read = await command(["read", `127.1.0.2:${xmrig}`, "--token", "simulated", "--json"]);
    farm.signal("SIGINT");
    expect(await farm.ended).toMatchObject({ code: 0, stderr: "" });
    expect(farm.said()).toContain("22 virtual rigs");
    expect(farm.said()).toMatch(new RegExp(`^ {2}127\\.1\\.0\\.1:${axeos} +axeos`, "m"));
    expect(farm.said()).toContain("… and 2 more");
    expect(farm.said()).toContain(`- { address: "127.1.0.2:${xmrig}", name: xmrig-2, token: simulated }`);
    expect(JSON.parse(read.stdout)).toMatchObject({ driver: "xmrig" });
  });

  test("reports every wrong option", async () => {
    const options = [
      "--count",
      "0",
      "--mix",
      "toaster=1,xmrig=x,axeos=1,axeos=2",
      "--base-port",
      "0",
      "--fault",
      "slwo",
      "--seed",
      "-1",
    ];
    const { code, stderr } = await command(["simulate", ...options]);
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      "No rigs were started:",
      `  --mix: "toaster" is not a kind of rig; known kinds: ${rigKinds.join(", ")}`,
      "  --mix xmrig: must be a whole number from 1 to 40000",
      "  --mix axeos: is given twice",
      "  --count: must be a whole number from 1 to 40000",
      "  --base-port: must be a whole number from 1 to 65535",
      "  --seed: must be a whole number from 0 to 4294967295",
      '  --fault: there is no fault "slwo"; did you mean "slow"?',
    ]);
  });
});
