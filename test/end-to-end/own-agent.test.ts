import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Host, ManagedMiner, Miner } from "../../src/contract/resources.ts";
import { installDouble, isRunning, processesIn } from "../agent/host.ts";
import { type Running, running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { until } from "../until.ts";

// depends on: src/**, test/agent/mining-double.ts

/** A service with `agent: {enabled: true}` as a process, with a program that mines nothing. */
const key = "key-of-the-service-1";

async function startOwnHost(settings: object = { agent: { enabled: true, data: "agent" } }) {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-own-"));
  const data = join(folder, "agent");
  onTestFinished(async () => {
    for (const pid of await processesIn(data)) process.kill(pid, "SIGKILL");
    await rm(folder, { recursive: true, maxRetries: 5 });
  });
  const softwarePath = await installDouble(join(data, "programs"));
  const port = await freePort();
  const pools = [{ name: "monero", url: "stratum+tcp://xmr.example.com:3333", coin: "XMR", wallet: "4Invented" }];
  const config = {
    http: { key, port, announce: false },
    poll: { interval: 1 },
    pools,
    ...settings,
  };
  await writeFile(join(folder, "rigbridge.yaml"), JSON.stringify(config), { mode: 0o600 });
  const serve = async (): Promise<Running> => {
    const service = await running(["serve", "--config", "rigbridge.yaml"], /is ready at|"msg":"[^"]*ready/, {
      cwd: folder,
    });
    onTestFinished(() => void service.signal("SIGKILL"));
    return service;
  };
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const shows = (status: string) =>
    until(
      async () => (await ask<Miner>("GET", "/api/miners/1")).statusInfo.statusDisplay === status,
      `the miner to be ${status}`,
    );
  return { serve, ask, shows, softwarePath, processes: () => processesIn(data) };
}

test("the service's own machine runs a program, restarts it, adopts it after kill -9 of the service, and stops it", async () => {
  const { serve, ask, shows, softwarePath, processes } = await startOwnHost();
  const first = await serve();
  const [host] = await ask<Host[]>("GET", "/api/hosts");
  expect(host?.agent).toMatchObject({ connected: true, permissions: { downloads: false, reboot: false } });
  await ask("POST", "/api/managedminers", {
    hostId: host?.id,
    softwareType: "XmrigMiner",
    poolId: 1,
    algorithm: "randomx",
    softwareAutoDownload: false,
    softwarePath,
    commandLineParams: "--double-warm",
  });
  await shows("Stopped");
  expect(await processes()).toEqual([]);

  await ask("POST", "/api/miners/1?action=start");
  await shows("Mining");
  const [killed = 0] = await processes();
  process.kill(killed, "SIGKILL");
  await until(async () => !(await isRunning(killed)), "the program to end");
  await until(async () => (await processes()).length === 1, "the second start");

  const adopted = await processes();
  first.signal("SIGKILL");
  await first.ended;
  expect(await processes()).toEqual(adopted);
  const second = await serve();
  await shows("Mining");
  expect(await processes()).toEqual(adopted);
  expect(second.said()).toContain("is still running");
  expect(await ask<ManagedMiner>("GET", "/api/managedminers/1")).toMatchObject({ running: true, status: "running" });
  await ask("POST", "/api/miners/1?action=stop");
  await shows("Stopped");
  expect(await processes()).toEqual([]);
});

test("the settings switch the agent on without a restart of the service, and off again", async () => {
  const { serve, ask } = await startOwnHost({});
  await serve();
  expect(await ask("GET", "/api/hosts")).toEqual([]);
  const agent = { enabled: true, data: "agent" };
  expect(await ask("PUT", "/api/settings/agent", { value: agent })).toMatchObject({ section: { restart: false } });
  const connected = async () => (await ask<Host[]>("GET", "/api/hosts")).map((host) => host.agent?.connected);
  await until(async () => (await connected())[0] === true, "the agent to be connected");
  await ask("PUT", "/api/settings/agent", { value: { ...agent, allow: { downloads: true } } });
  await until(
    async () => (await ask<Host[]>("GET", "/api/hosts"))[0]?.agent?.permissions?.downloads === true,
    "the agent with other settings",
  );
  await ask("DELETE", "/api/settings/agent");
  await until(async () => (await connected()).length === 0, "the machine to be no host again");
});
