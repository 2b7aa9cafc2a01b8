import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Host, ManagedMiner, Miner } from "../../src/contract/resources.ts";
import { installDouble, isRunning, processesIn } from "../agent/host.ts";
import { type Running, rigbridge, running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { until } from "../until.ts";

// depends on: src/**, test/agent/mining-double.ts

/**
 * The service and a host's agent as two processes, with a program that mines nothing, and each of the three killed in
 * turn; and with a program that is not the agent's own. The tests share them, in this order.
 */
const key = "key-of-the-service-1";
const isReady = { service: /is ready at|"msg":"[^"]*ready/, agent: /The agent of this host is ready/ };
const xmrig = {
  softwareType: "XmrigMiner",
  poolId: 1,
  algorithm: "randomx",
  softwareAutoDownload: false,
  commandLineParams: "--double-warm",
};
const pool = "stratum+tcp://xmr.example.com:3333";
/** Also in the address of the declared program: that is how the service knows where it runs. */
const hostname = "127.0.0.1";

let folder: string;
let url: string;
let port: number;
let service: Running;
let agent: Running;
let env: Record<string, string>;
let declared: Declared;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-hosts-"));
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const config = {
    http: { key, port, announce: false },
    poll: { interval: 1 },
    pools: [
      {
        name: "monero",
        url: pool,
        coin: "XMR",
        wallet: "4Invented",
        password: "hidden-word",
      },
    ],
  };
  await writeFile(join(folder, "rigbridge.yaml"), JSON.stringify(config), { mode: 0o600 });
  const softwarePath = await installDouble(join(folder, "programs"));
  declared = await declareProgram(softwarePath);
  const foreignPrograms = [{ port: declared.port, ...declared.commands }];
  await writeFile(join(folder, "rigbridge-agent.yaml"), JSON.stringify({ foreignPrograms }), { mode: 0o600 });
  await startService();
  const made = await rigbridge(["agent", "token", hostname, "--add", "--service", url], {
    env: { RIGBRIDGE_KEY: key },
  });
  expect(made.stderr).toBe("");
  const [token = ""] = /^ {2}([\w-]{43})$/m.exec(made.stdout)?.slice(1) ?? [];
  env = { RIGBRIDGE_AGENT_TOKEN: token };
  await startAgent();
  await ask("POST", "/api/managedminers", { hostId: 1, ...xmrig, softwarePath });
});

afterAll(async () => {
  service?.signal("SIGKILL");
  agent?.signal("SIGKILL");
  for (const pid of [...(await processes()), (await declared?.pid()) ?? []].flat()) process.kill(pid, "SIGKILL");
  await rm(folder, { recursive: true, maxRetries: 5 });
});

beforeEach(async () => {
  if (!(await managed()).running) await ask("POST", "/api/miners/1?action=start");
  await shows("Mining");
});

async function startService(): Promise<void> {
  service = await running(["serve", "--config", "rigbridge.yaml"], isReady.service, { cwd: folder });
}

async function startAgent(): Promise<void> {
  agent = await running(["agent", "--service", url, "--data", folder], isReady.agent, { cwd: folder, env });
  const isConnected = async () => (await ask<Host>("GET", "/api/hosts/1")).agent?.connected === true;
  await until(isConnected, "the agent to be connected", { details });
}

async function killAgent(): Promise<void> {
  agent.signal("SIGKILL");
  await agent.ended;
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

const miner = (id = 1) => ask<Miner>("GET", `/api/miners/${id}`);
const managed = () => ask<ManagedMiner>("GET", "/api/managedminers/1");
const details = () => `${service.said()}\n${agent.said()}`;
const shows = (status: string, id = 1) =>
  until(async () => (await miner(id)).statusInfo.statusDisplay === status, `miner ${id} to be ${status}`, { details });

/** Processes of the managed miner. */
const processes = () => processesIn(folder);

/** The process of the program. */
async function program(): Promise<number> {
  await until(async () => (await processes()).length > 0, "the program to run", { details });
  return (await processes())[0] ?? 0;
}

interface Declared {
  /** Of its API. */
  readonly port: number;
  readonly commands: Readonly<Record<"start" | "stop" | "restart", readonly string[]>>;
  /** Its process; null while it does not run. */
  pid(): Promise<number | null>;
  answers(): Promise<boolean>;
}

/** What systemd does elsewhere: a script that starts and ends a program, whose API only reads. */
async function declareProgram(path: string): Promise<Declared> {
  const own = join(folder, "declared");
  await mkdir(own, { recursive: true });
  const api = await freePort();
  const script = join(own, "unit.sh");
  await writeFile(
    script,
    `cd "${own}" || exit 1
start() { "${path}" --double-warm --http-port=${api} -o ${pool} -u x < /dev/null > /dev/null 2>&1 & echo $! > pid; }
stop() { kill "$(cat pid)" || return; while [ -e "/proc/$(cat pid)/cwd" ]; do sleep 0.1; done; rm pid; }
case "$1" in
  restart) stop && start ;;
  *) "$1" ;;
esac
`,
  );
  const command = (action: string) => ["/bin/sh", script, action];
  return {
    port: api,
    commands: { start: command("start"), stop: command("stop"), restart: command("restart") },
    pid: async () => {
      const pid = Number(await readFile(join(own, "pid"), "utf8").catch(() => "0"));
      return pid !== 0 && (await isRunning(pid)) ? pid : null;
    },
    answers: () =>
      fetch(`http://127.0.0.1:${api}/2/summary`).then(
        ({ ok }) => ok,
        () => false,
      ),
  };
}

test("a program that is killed is started again", async () => {
  const pid = await program();
  process.kill(pid, "SIGKILL");
  await until(async () => !(await processes()).includes(pid), "the program to end");
  await until(async () => (await program()) !== pid, "another process", { details });
  await shows("Mining");
});

test("a program mines on while its agent is killed, and is adopted by the next one", async () => {
  const pid = await program();
  await killAgent();
  await until(async () => (await miner()).readings.stale, "the readings to be stale");
  expect(await isRunning(pid)).toBe(true);
  await startAgent();
  await shows("Mining");
  expect(await processes()).toEqual([pid]);
});

test("a program mines on while the service is killed, and its state is right when it is back", async () => {
  const pid = await program();
  service.signal("SIGKILL");
  await service.ended;
  await startService();
  await shows("Mining");
  expect([await processes(), (await managed()).running]).toEqual([[pid], true]);
});

test("a stop holds when the agent starts anew", async () => {
  await ask("POST", "/api/miners/1?action=stop");
  await shows("Stopped");
  expect(await processes()).toEqual([]);
  await killAgent();
  await startAgent();
  await shows("Stopped");
  expect(await processes()).toEqual([]);
});

test("a program that its agent does not run is stopped, started and restarted by the commands of the agent's file", async () => {
  const [file = "", ...start] = declared.commands.start;
  await promisify(execFile)(file, start);
  const first = await declared.pid();
  const { id } = await ask<Miner>("POST", "/api/miners", { address: `${hostname}:${declared.port}` });
  await shows("Mining", id);
  const act = (action: string) => ask("POST", `/api/miners/${id}?action=${action}`);
  await act("restart");
  const second = await declared.pid();
  // The reading may be from before.
  await until(() => declared.answers(), "the program to answer again");
  await shows("Mining", id);
  expect([first, second]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(second).not.toBe(first);

  await killAgent();
  await until(async () => !(await ask<Host>("GET", "/api/hosts/1")).agent?.connected, "the agent to be away");
  await expect(act("stop")).rejects.toThrow(/host\.away/);
  expect([await declared.pid(), (await miner(id)).canStop]).toEqual([second, true]);
  await startAgent();
  await act("stop");
  await shows("Stopped", id);
  expect([await declared.pid(), (await miner(id)).canStart]).toEqual([null, true]);
  await act("start");
  await shows("Mining", id);
  expect(await declared.pid()).toEqual(expect.any(Number));
});

test("the command line shows neither password nor token, and what the agent does not allow is refused", async () => {
  const { command } = await ask<{ command: string[] }>("GET", "/api/managedminers/1/command");
  expect(command.join(" ")).toContain(pool);
  expect(command.join(" ")).not.toContain("hidden-word");
  const before = await managed();
  for (const wrong of [{ softwarePath: "/bin/sh" }, { commandLineParams: "--http-host 0.0.0.0" }])
    await expect(ask("POST", "/api/managedminers", { id: 1, ...wrong })).rejects.toThrow(/: 40[09] /);
  expect(await managed()).toEqual(before);
  expect(service.said() + agent.said()).not.toContain("hidden-word");
});

test("a revoked token ends the connection, and the program mines on", async () => {
  const pid = await program();
  const revoked = await rigbridge(["agent", "token", hostname, "--revoke", "--service", url], {
    env: { RIGBRIDGE_KEY: key },
  });
  expect(revoked.stdout).toContain(`The token of the host ${hostname} is revoked`);
  await shows("Disconnected");
  expect(await isRunning(pid)).toBe(true);
  expect(agent.said()).not.toContain(env.RIGBRIDGE_AGENT_TOKEN);
});
