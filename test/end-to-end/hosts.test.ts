import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Host, ManagedMiner, Miner } from "../../src/contract/resources.ts";
import { installDouble, isRunning, processesIn } from "../agent/host.ts";
import { freePort, type Running, rigbridge, running } from "../cli/command.ts";
import { until } from "../until.ts";

// depends on: src/**, test/agent/mining-double.ts

/**
 * The service and a host's agent as two processes, with a program that mines nothing, and each of the three killed in
 * turn.
 */
const key = "key-of-the-service-1";
const isReady = { service: /is ready at|"msg":"[^"]*ready/, agent: /The agent of this host is ready/ };
const xmrig = { softwareType: "XmrigMiner", poolId: 1, algorithm: "randomx", softwareAutoDownload: false };

let folder: string;
let url: string;
let port: number;
let service: Running;
let agent: Running;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-hosts-"));
  onTestFinished(async () => {
    for (const pid of await processesIn(folder)) process.kill(pid, "SIGKILL");
    await rm(folder, { recursive: true, maxRetries: 5 });
  });
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const config = {
    http: { key, port, announce: false },
    poll: { interval: 1 },
    pools: [
      {
        name: "monero",
        url: "stratum+tcp://xmr.example.com:3333",
        coin: "XMR",
        wallet: "4Invented",
        password: "hidden-word",
      },
    ],
  };
  await writeFile(join(folder, "rigbridge.yaml"), JSON.stringify(config), { mode: 0o600 });
  await startService();
  const made = await rigbridge(["agent", "token", "rig-3", "--add", "--service", url], { env: { RIGBRIDGE_KEY: key } });
  expect(made.stderr).toBe("");
  const [token = ""] = /^ {2}([\w-]{43})$/m.exec(made.stdout)?.slice(1) ?? [];
  env = { RIGBRIDGE_AGENT_TOKEN: token };
  await startAgent();
  const softwarePath = await installDouble(join(folder, "programs"));
  await ask("POST", "/api/managedminers", { hostId: 1, ...xmrig, softwarePath });
  await ask("POST", "/api/miners/1?action=start");
  await shows("Mining");
});

async function startService(): Promise<void> {
  service = await running(["serve", "--config", "rigbridge.yaml"], isReady.service, { cwd: folder });
  const { signal } = service;
  onTestFinished(() => void signal("SIGKILL"));
}

async function startAgent(): Promise<void> {
  const args = ["agent", "--service", url, "--data", folder];
  agent = await running(args, isReady.agent, { cwd: folder, env });
  const { signal } = agent;
  onTestFinished(() => void signal("SIGKILL"));
  const isConnected = async () => (await ask<Host>("GET", "/api/hosts/1")).agent?.connected === true;
  await until(isConnected, "the agent to be connected", { details });
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

const miner = () => ask<Miner>("GET", "/api/miners/1");
const managed = () => ask<ManagedMiner>("GET", "/api/managedminers/1");
const details = () => `${service.said()}\n${agent.said()}`;
const shows = (status: string) =>
  until(async () => (await miner()).statusInfo.statusDisplay === status, `the miner to be ${status}`, { details });

/** The process of the program. */
async function program(): Promise<number> {
  await until(async () => (await processesIn(folder)).length > 0, "the program to run", { details });
  return (await processesIn(folder))[0] ?? 0;
}

test("a program that is killed is started again", async () => {
  const pid = await program();
  process.kill(pid, "SIGKILL");
  await until(async () => !(await processesIn(folder)).includes(pid), "the program to end");
  await until(async () => (await program()) !== pid, "another process", { details });
  await shows("Mining");
});

test("a program mines on while its agent is killed, and is adopted by the next one", async () => {
  const pid = await program();
  agent.signal("SIGKILL");
  await agent.ended;
  await until(async () => (await miner()).readings.stale, "the readings to be stale");
  expect(await isRunning(pid)).toBe(true);
  await startAgent();
  await shows("Mining");
  expect(await processesIn(folder)).toEqual([pid]);
});

test("a program mines on while the service is killed, and its state is right when it is back", async () => {
  const pid = await program();
  service.signal("SIGKILL");
  await service.ended;
  await startService();
  await shows("Mining");
  expect([await processesIn(folder), (await managed()).running]).toEqual([[pid], true]);
  await ask("POST", "/api/miners/1?action=stop");
  await shows("Stopped");
  expect(await processesIn(folder)).toEqual([]);
});

test("a stop holds when the agent starts anew", async () => {
  await ask("POST", "/api/miners/1?action=stop");
  agent.signal("SIGKILL");
  await agent.ended;
  await startAgent();
  await shows("Stopped");
  expect(await processesIn(folder)).toEqual([]);
});

test("a revoked token ends the connection, and the program mines on", async () => {
  const pid = await program();
  const revoked = await rigbridge(["agent", "token", "rig-3", "--revoke", "--service", url], {
    env: { RIGBRIDGE_KEY: key },
  });
  expect(revoked.stdout).toContain("The token of the host rig-3 is revoked");
  await shows("Disconnected");
  expect(await isRunning(pid)).toBe(true);
  expect(agent.said()).not.toContain(env.RIGBRIDGE_AGENT_TOKEN);
});

test("the command line shows neither password nor token, and what the agent does not allow is refused", async () => {
  const { command } = await ask<{ command: string[] }>("GET", "/api/managedminers/1/command");
  expect(command.join(" ")).toContain("stratum+tcp://xmr.example.com:3333");
  expect(command.join(" ")).not.toContain("hidden-word");
  const before = await managed();
  for (const wrong of [{ softwarePath: "/bin/sh" }, { commandLineParams: "--http-host 0.0.0.0" }])
    await expect(ask("POST", "/api/managedminers", { id: 1, ...wrong })).rejects.toThrow(/: 40[09] /);
  expect(await managed()).toEqual(before);
  expect(service.said() + agent.said()).not.toContain("hidden-word");
});
