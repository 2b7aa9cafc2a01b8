import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { WebSocketServer } from "ws";
import {
  type FromAgent,
  FromAgent as FromAgentSchema,
  type ProgramState,
  type ToAgent,
} from "../../src/contract/agent.ts";
import { type Running, rigbridge, running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { doubleProgram, installDouble, isRunning, ownFolder, processesIn } from "./host.ts";

const token = "token-of-this-host-123";

/** What a service is to an agent: one WebSocket. */
async function startService() {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, path: "/api/agents/connect" });
  const messages: FromAgent[] = [];
  sockets.on("connection", (socket) => {
    messages.length = 0;
    socket.on("message", (bytes) => messages.push(FromAgentSchema.parse(JSON.parse(String(bytes)))));
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  const address = http.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const state = (): ProgramState | undefined =>
    messages
      .flatMap((each) => (each.t === "hello" ? each.programs : each.t === "program" ? [each.program] : []))
      .at(-1);
  return {
    url: `http://127.0.0.1:${port}`,
    messages,
    state,
    send: (message: ToAgent) => {
      for (const socket of sockets.clients) socket.send(JSON.stringify(message));
    },
    connected: () => until(() => messages[0]?.t === "hello", "the agent to introduce itself"),
    untilRunning: async (starts: number): Promise<number> => {
      await until(() => state()?.status === "running" && state()?.starts === starts, `start ${starts}`, {
        details: () => JSON.stringify(messages),
      });
      return state()?.pid ?? 0;
    },
  };
}

interface Place {
  readonly folder: string;
  readonly path: string;
}

async function place(): Promise<Place> {
  const folder = await ownFolder();
  onTestFinished(async () => {
    for (const pid of await processesIn(folder)) process.kill(pid, "SIGKILL");
  });
  await mkdir(join(folder, "programs"), { recursive: true });
  return { folder, path: await installDouble(join(folder, "programs")) };
}

async function startAgent({ folder }: Place, url: string): Promise<Running> {
  const args = ["agent", "--service", url, "--data", folder];
  const place = { cwd: folder, env: { RIGBRIDGE_AGENT_TOKEN: token } };
  const agent = await running(args, /The agent of this host is ready/, place);
  onTestFinished(() => {
    agent.signal("SIGKILL");
  });
  return agent;
}

/** An agent that runs the mining double. */
async function startMining() {
  const [service, host] = [await startService(), await place()];
  const agent = await startAgent(host, service.url);
  await service.connected();
  service.send({ t: "programs", programs: [doubleProgram(host.path)] });
  return { service, host, agent, pid: await service.untilRunning(1) };
}

test("an agent is killed: its program mines on, and the next agent adopts it", async () => {
  const { service, host, agent: first, pid } = await startMining();
  first.signal("SIGKILL");
  await first.ended;
  expect(await isRunning(pid)).toBe(true);
  service.messages.length = 0;
  const second = await startAgent(host, service.url);
  await service.connected();
  expect(service.state()).toMatchObject({ pid, status: "running", starts: 1 });
  expect(await processesIn(host.folder)).toEqual([pid]);
  expect(second.said()).toContain("is still running");
  expect(second.said()).not.toContain(token);
  // What it does now is still its own to end.
  service.send({ t: "stop", n: 1, id: 1 });
  await until(() => service.messages.some((each) => each.t === "done"), "the answer");
  expect(await processesIn(host.folder)).toEqual([]);
  second.signal("SIGTERM");
  expect((await second.ended).code).toBe(0);
});

test("an agent is stopped: its program mines on, until it is ended by --end-programs", async () => {
  const { service, host, agent, pid } = await startMining();
  const args = ["agent", "--service", service.url, "--token", token, "--data", host.folder];
  const refused = await rigbridge([...args, "--end-programs"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("is in use by another Rigbridge") });
  agent.signal("SIGTERM");
  expect((await agent.ended).code).toBe(0);
  expect(await isRunning(pid)).toBe(true);
  expect((await rigbridge([...args, "--end-programs"])).code).toBe(0);
  expect(await isRunning(pid)).toBe(false);
});

test("a program that is killed while the service is away is started again", async () => {
  const { host, agent: first, pid } = await startMining();
  first.signal("SIGKILL");
  await first.ended;
  process.kill(pid, "SIGKILL");
  await until(async () => !(await isRunning(pid)), "the program to end");
  await startAgent(host, "http://127.0.0.1:9");
  await until(async () => (await processesIn(host.folder)).length === 1, "the second start");
});

test("an agent loads no part of the service, of the client, or of the drivers: its memory is for mining", async () => {
  const list = `import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    process.on("exit", () => console.log(urls.join("\\n")));`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(list)}` };
  const { stdout } = await rigbridge(["agent"], { cwd: await ownFolder(), env });
  expect(stdout).toContain("/src/agent/agent.ts");
  const others = /\/src\/(client|discovery|fleet|http|link|mqtt|service|simulator)\/|node_modules\/axios\//;
  expect(stdout.split("\n").filter((url) => others.test(url))).toEqual([]);
});

test("mistakes of the command line are named, and the exit code is 1", async () => {
  const folder = await ownFolder();
  const none = await rigbridge(["agent"], { cwd: folder });
  expect(none.code).toBe(1);
  expect(none.stderr).toContain("service: is missing; give it with --service");
  expect(none.stderr).toContain("token: is missing; give it with --token");
});
