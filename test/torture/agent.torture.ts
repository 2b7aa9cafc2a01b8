import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { agentPath, FromAgent, type Program, type ToAgent } from "../../src/contract/agent.ts";
import { until } from "../until.ts";
import { megabytes, residentOf } from "./measure.ts";
import { say } from "./say.ts";

/**
 * What an agent costs a host with 12 GPUs (a program in place of nvidia-smi, which is not counted) that runs one program,
 * and how soon a command becomes a signal.
 */
const bound = { bytes: 80_000_000, share: 0.01, signalMs: 200 };
const gpus = 12;
const warmUpMs = 30_000;
const watchedMs = 60_000;
const commands = 10;

const main = new URL(
  process.env.RIGBRIDGE_BUILT === "true" ? "../../dist/cli/main.js" : "../../src/cli/main.ts",
  import.meta.url,
).pathname;
const double = new URL("../agent/mining-double.ts", import.meta.url).pathname;
const node = `${process.execPath} --disable-warning=ExperimentalWarning`;

async function measure(folder: string): Promise<void> {
  const path = join(folder, "programs", "xmrig");
  install(path, `#!${node}\nimport(${JSON.stringify(double)});\n`);
  install(join(folder, "bin", "nvidia-smi"), `#!${process.execPath}\n${nvidiaSmi}`);
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, path: agentPath });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const address = http.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const args = ["--disable-warning=ExperimentalWarning", main, "agent", "--data", folder];
  const agent = spawn(process.execPath, [...args, "--service", `http://127.0.0.1:${port}`], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      PATH: [join(folder, "bin"), process.env.PATH].join(delimiter),
      RIGBRIDGE_AGENT_TOKEN: "token-of-this-host-123",
    },
  });
  try {
    const [socket] = (await once(sockets, "connection")) as [WebSocket];
    await watch(socket, agent.pid ?? 0, programFor(path), join(folder, "logs", "1.log"));
  } finally {
    agent.kill("SIGTERM");
    await once(agent, "exit");
    for (const each of sockets.clients) each.terminate();
    http.close();
  }
}

async function watch(socket: WebSocket, pid: number, program: Program, log: string): Promise<void> {
  const messages: FromAgent[] = [];
  socket.on("message", (bytes) => messages.push(FromAgent.parse(JSON.parse(String(bytes)))));
  const send = (message: ToAgent): void => socket.send(JSON.stringify(message));
  const ask = async (t: "start" | "stop", n: number): Promise<void> => {
    send({ t, n, id: 1 });
    await until(() => messages.some((each) => each.t === "done" && each.n === n), `the answer to ${t}`);
  };
  send({ t: "programs", programs: [program] });
  await until(() => messages.some((each) => each.t === "program" && each.program.status === "running"), "the program");
  await pause(warmUpMs);
  const [busy, begun] = [busyOf(pid), performance.now()];
  await pause(watchedMs);
  const share = (busyOf(pid) - busy) / ((performance.now() - begun) / 1000);
  const [own, resident] = [ownMemoryOf(pid), residentOf(pid) ?? 0];
  const seen = messages.findLast((each) => each.t === "host")?.host.gpus.length;
  const memory = `${megabytes(own)} of its own, ${megabytes(resident)} with the pages of Node that all its processes share`;
  say(`with ${seen} GPUs: ${memory}; ${(share * 100).toFixed(2)} % of a core`);
  const delays: number[] = [];
  for (let turn = 0; turn < commands; turn += 1) {
    const told = Date.now();
    await ask("stop", 2 * turn);
    const got = /.*got SIGINT at (\d+)/s.exec(readFileSync(log, "utf8"))?.[1];
    delays.push(Number(got) - told);
    if (turn < commands - 1) await ask("start", 2 * turn + 1);
  }
  say(`from a command to the signal: ${delays.join(", ")} ms`);
  if (seen !== gpus) broken(`it should see ${gpus} GPUs`);
  if (own > bound.bytes) broken(`the agent takes more than ${megabytes(bound.bytes)}`);
  if (share > bound.share) broken(`the agent takes more than ${bound.share * 100} % of a core`);
  if (Math.max(...delays) > bound.signalMs) broken(`a signal came later than ${bound.signalMs} ms`);
}

function install(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

const programFor = (path: string): Program => ({
  id: 1,
  name: "Double",
  software: "XmrigMiner",
  files: { from: "path", path },
  algorithm: "randomx",
  pools: [{ url: "stratum+tcp://pool.example:3333", worker: "rig", wallet: "wallet", password: "x" }],
  dualAlgorithm: null,
  dualPools: [],
  parameters: "",
  running: true,
  gpuSettings: [],
  idle: { processes: ["no-such-process"], load: 100 },
});

/** Bytes that would be free without this process. */
function ownMemoryOf(pid: number): number {
  const parts = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").matchAll(/^Private_\w+: +(\d+) kB$/gm);
  return [...parts].reduce((sum, [, kilobytes]) => sum + 1024 * Number(kilobytes), 0);
}

/** Seconds of processor time. */
function busyOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const nvidiaSmi = `
const fields = (process.argv.find((each) => each.startsWith("--query-gpu=")) ?? "").slice(12).split(",");
const values = { name: "NVIDIA GeForce RTX 3080", driver_version: "550.120", "memory.total": "10240" };
for (let at = 1; at <= ${gpus}; at += 1) {
  const bus = "00000000:" + at.toString(16).toUpperCase().padStart(2, "0") + ":00.0";
  console.log(fields.map((each) => (each === "pci.bus_id" ? bus : (values[each] ?? "60"))).join(", "));
}
`;

function broken(what: string): void {
  say(`FAILED: ${what}`);
  process.exitCode = 1;
}

const folder = mkdtempSync(join(tmpdir(), "rigbridge-agent-"));
try {
  await measure(folder);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
