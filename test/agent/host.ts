import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Agent, type AgentLimits, type AgentOptions, type ServiceReceiver } from "../../src/agent/agent.ts";
import { Downloads } from "../../src/agent/downloads/index.ts";
import { ProgramDownloads } from "../../src/agent/downloads/program-downloads.ts";
import { platformOf } from "../../src/agent/platform/index.ts";
import type { ForeignAction, FromAgent, Program, ProgramState, ToAgent } from "../../src/contract/agent.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";

// depends on: test/agent/mining-double.ts

const double = new URL("mining-double.ts", import.meta.url).pathname;

/** A folder that is removed after the test. */
export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-agent-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Puts the mining double into a folder, as an executable of its own. */
export async function installDouble(folder: string, name = "xmrig"): Promise<string> {
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(
    path,
    `#!${process.execPath} --disable-warning=ExperimentalWarning\nimport(${JSON.stringify(double)});\n`,
  );
  await chmod(path, 0o755);
  return path;
}

export const pool = {
  url: "stratum+tcp://pool.example:3333",
  worker: "rig1",
  wallet: "wallet1",
  password: "pool-pass-1",
};

export const doubleProgram = (path: string, changes: Partial<Program> = {}): Program => ({
  id: 1,
  name: "Double",
  software: "XmrigMiner",
  files: { from: "path", path },
  algorithm: "randomx",
  dualAlgorithm: null,
  pools: [pool],
  dualPools: [],
  parameters: "",
  running: true,
  gpuSettings: [],
  idle: null,
  ...changes,
});

/** Everything that takes long in an agent, shortened. */
export const quick: AgentLimits = {
  restart: { backOff: { firstMs: 50, longestMs: 200 }, quickMs: 120_000, mostQuickEnds: 5, healthyMs: 600_000 },
  stop: { patienceMs: 300, killMs: 10_000 },
  log: { size: 10_000_000, files: 3 },
  startMs: 30_000,
  settleMs: 500,
  adoptedMs: 50,
  intervalMs: 100,
};

export interface HostOptions {
  readonly folder?: string;
  readonly limits?: Partial<AgentLimits>;
  readonly options?: Partial<AgentOptions>;
  /** Instead of starting to supervise. */
  readonly mode?: "end programs";
}

/** An agent with the service's end of its connection. */
export interface TestHost {
  readonly agent: Agent;
  readonly folder: string;
  /** The installed double. */
  readonly path: string;
  readonly messages: readonly FromAgent[];
  readonly frames: readonly { readonly channel: number; readonly bytes: Buffer }[];
  readonly service: ServiceReceiver;
  send(message: ToAgent): void;
  /** Sends a request and waits for its answer. */
  ask(
    request:
      | { readonly t: "start" | "stop" | "restart"; readonly id: number }
      | { readonly t: "reboot" }
      | { readonly t: "foreign"; readonly port: number; readonly action: ForeignAction },
  ): Promise<Done>;
  command(program: Program): Promise<Done>;
  /** As it was last sent. */
  state(id?: number): ProgramState | undefined;
  untilStatus(status: ProgramState["status"], id?: number): Promise<ProgramState>;
}

type Done = Extract<FromAgent, { t: "done" }>;

let lastNumber = 0;

/** What a test started is ended with it, however it ends. */
export async function startHost({ folder: given, limits, options, mode }: HostOptions = {}): Promise<TestHost> {
  const folder = given ?? (await ownFolder());
  const path = await installDouble(join(folder, "programs"));
  const agent = new Agent({
    folder,
    version: "1.2.3",
    permissions: { folders: [join(folder, "programs")], downloads: false, reboot: false, gpuSettings: false },
    rebootCommand: ["/nonexistent"],
    own: [],
    downloads: new ProgramDownloads(new Downloads({ folder, mirror: null }), null),
    gpuReader: { read: async () => [] },
    gpuTuner: { apply: async () => [], restore: async () => undefined, recover: async () => undefined },
    log: pino({ level: "silent" }),
    ...options,
    limits: { ...quick, ...limits },
  });
  onTestFinished(async () => {
    await agent.close();
    await endAllIn(folder);
  });
  if (mode === undefined) await agent.start();
  else await agent.endPrograms();
  const messages: FromAgent[] = [];
  const frames: { channel: number; bytes: Buffer }[] = [];
  const service = agent.connected({
    send: (message) => messages.push(message),
    sendFrame: (channel, bytes) => frames.push({ channel, bytes }),
    waiting: 0,
  });
  await until(() => messages.length > 0, "the agent to introduce itself");
  const state = (id = 1): ProgramState | undefined => lastState(messages, id);
  const answer = async (request: ToAgent & { n: number }): Promise<Done> => {
    service.message(request);
    const found = () => messages.find((each): each is Done => each.t === "done" && each.n === request.n);
    await until(() => found() !== undefined, `the answer to ${request.t}`, { details: () => JSON.stringify(state()) });
    return found() ?? { t: "done", n: 0 };
  };
  const next = (): number => {
    lastNumber += 1;
    return lastNumber;
  };
  return {
    agent,
    folder,
    path,
    messages,
    frames,
    service,
    state,
    send: (message) => service.message(message),
    ask: (request) => answer({ ...request, n: next() }),
    command: (program) => answer({ t: "command", n: next(), program }),
    untilStatus: async (status, id = 1) => {
      await until(() => state(id)?.status === status, `program ${id} to be ${status}`, {
        details: () => JSON.stringify(state(id)),
      });
      return state(id) ?? Promise.reject(new Error("no state"));
    },
  };
}

function lastState(messages: readonly FromAgent[], id: number): ProgramState | undefined {
  const states = messages.flatMap((each) => {
    if (each.t === "hello") return each.programs;
    return each.t === "program" ? [each.program] : [];
  });
  return states.findLast((each) => each.id === id);
}

/** Processes whose working folder is below a folder: those of programs, and what they started. */
export async function processesIn(folder: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
      const isZombie = stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
      return cwd.startsWith(join(folder, "runs")) && !isZombie ? Number(pid) : null;
    }),
  );
  return found.flatMap((pid) => pid ?? []);
}

/** At most 1 if it has ended: its first thread stays until somebody collects it. */
export const threadsOf = (pid: number): Promise<number> =>
  readdir(`/proc/${pid}/task`).then(
    (threads) => threads.length,
    () => 0,
  );

async function endAllIn(folder: string): Promise<void> {
  for (const pid of await processesIn(folder))
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just exited.
    }
}

export const isRunning = async (pid: number): Promise<boolean> => (await platformOf().identify(pid)) !== null;

export const logOf = (folder: string, id = 1): Promise<string> =>
  readFile(join(folder, "logs", `${id}.log`), "utf8").catch(() => "");
