import { spawn } from "node:child_process";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import {
  doubleProgram,
  isRunning,
  logOf,
  ownFolder,
  processesIn,
  startHost,
  type TestHost,
  threadsOf,
} from "./host.ts";

/** A host whose agent has gone while its program runs. */
async function leftHost(parameters = ""): Promise<{ readonly host: TestHost; readonly pid: number }> {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters })] });
  const { pid } = await host.untilStatus("running");
  await host.agent.close();
  expect(await isRunning(pid ?? 0)).toBe(true);
  return { host, pid: pid ?? 0 };
}

interface SavedState {
  readonly programs: { run: { process: { pid: number; startTime: string } | null; mark: string } }[];
}

/** Changes the process that the state file names. */
async function changeState(
  folder: string,
  change: (run: SavedState["programs"][number]["run"]) => void,
): Promise<void> {
  const file = join(folder, "state.json");
  const state: SavedState = JSON.parse(await readFile(file, "utf8"));
  for (const { run } of state.programs) change(run);
  await writeFile(file, JSON.stringify(state));
}

test("a program that runs on is adopted: it is watched, its API stays reachable, and it can be ended", async () => {
  const { host, pid } = await leftHost();
  const next = await startHost({ folder: host.folder });
  const state = next.state();
  expect(state).toMatchObject({ pid, status: "running", starts: 1, apiPort: host.state()?.apiPort });
  expect(state?.apiToken).toBe(host.state()?.apiToken);
  next.send({ t: "programs", programs: [doubleProgram(host.path)] });
  expect((await next.ask({ t: "start", id: 1 })).message).toBe("Double (XmrigMiner) is running");
  expect(await processesIn(host.folder)).toEqual([pid]);
  expect((await next.ask({ t: "stop", id: 1 })).message).toBe("Double (XmrigMiner) is stopped");
  expect(await processesIn(host.folder)).toEqual([]);
});

test("an adopted program is stopped once it has closed all that it had open", async () => {
  const { host, pid } = await leftHost("--double-memory 200000000");
  const next = await startHost({ folder: host.folder, limits: { adoptedMs: 1 } });
  await next.ask({ t: "stop", id: 1 });
  expect(await threadsOf(pid)).toBeLessThanOrEqual(1);
});

test("an adopted program that is killed is started again", async () => {
  const { host, pid } = await leftHost();
  const next = await startHost({ folder: host.folder });
  process.kill(pid, "SIGKILL");
  await until(() => next.state()?.starts === 2, "the second start");
  expect((await next.untilStatus("running")).exit).toMatchObject({ code: null, signal: null });
});

test("a program that ended while no agent ran is started again; one that was stopped is not", async () => {
  const { host, pid } = await leftHost();
  process.kill(pid, "SIGKILL");
  await until(async () => !(await isRunning(pid)), "the program to end");
  const next = await startHost({ folder: host.folder });
  expect((await next.untilStatus("running")).starts).toBe(2);
  await next.ask({ t: "stop", id: 1 });
  await next.agent.close();
  const last = await startHost({ folder: host.folder });
  expect(last.state()).toMatchObject({ status: "stopped", pid: null });
  expect(await processesIn(host.folder)).toEqual([]);
});

test("another process with the same pid is neither adopted nor touched", async () => {
  const { host, pid } = await leftHost();
  process.kill(pid, "SIGKILL");
  const stranger = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  onTestFinished(() => {
    stranger.kill("SIGKILL");
  });
  await until(() => stranger.pid !== undefined, "the other process");
  await changeState(host.folder, (run) => {
    if (run.process !== null) run.process.pid = stranger.pid ?? 0;
  });
  const next = await startHost({ folder: host.folder });
  const started = await next.untilStatus("running");
  expect(started.pid).not.toBe(stranger.pid);
  await next.ask({ t: "stop", id: 1 });
  expect(await isRunning(stranger.pid ?? 0)).toBe(true);
});

test("a program whose agent died before it had noted the process is found by its mark", async () => {
  const { host, pid } = await leftHost();
  await changeState(host.folder, (run) => {
    run.process = null;
  });
  const next = await startHost({ folder: host.folder });
  expect(next.state()).toMatchObject({ status: "running", pid });
  expect(await processesIn(host.folder)).toEqual([pid]);
});

test("what a program left running while no agent ran is ended before it is started again", async () => {
  const { host, pid } = await leftHost("--double-child");
  const before = await processesIn(host.folder);
  process.kill(pid, "SIGKILL");
  await until(async () => (await processesIn(host.folder)).length === 1, "the program to end");
  const next = await startHost({ folder: host.folder });
  await until(() => next.state()?.starts === 2, "the second start");
  expect((await processesIn(host.folder)).filter((each) => before.includes(each))).toEqual([]);
});

test("what the service changed while the agent was away takes effect when it is back", async () => {
  const { host, pid } = await leftHost();
  const next = await startHost({ folder: host.folder });
  next.send({ t: "programs", programs: [doubleProgram(host.path, { parameters: "--threads 2" })] });
  await until(() => ![null, pid].includes(next.state()?.pid ?? null), "the second start");
  expect(await isRunning(pid)).toBe(false);
});

test("its output goes on into the log while no agent runs", async () => {
  const { host } = await leftHost("--double-chatter 100");
  const before = (await logOf(host.folder)).length;
  await until(async () => (await logOf(host.folder)).length > before + 1_000, "more output");
});

test("a second agent with the same folder is refused, and changes nothing", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { pid } = await host.untilStatus("running");
  await expect(startHost({ folder: host.folder })).rejects.toMatchObject({
    code: "store.refused",
    message: expect.stringContaining(`${host.folder} is in use by another Rigbridge (process ${process.pid})`),
  });
  expect(await processesIn(host.folder)).toEqual([pid]);
});

test("a damaged state is refused and left as it is: what runs is not known then", async () => {
  const folder = await ownFolder();
  await writeFile(join(folder, "state.json"), '{"version":1,"programs":[{');
  await expect(startHost({ folder })).rejects.toMatchObject({ code: "store.refused" });
  expect(await readFile(join(folder, "state.json"), "utf8")).toBe('{"version":1,"programs":[{');
  await rename(join(folder, "state.json"), join(folder, "old.json"));
  expect((await startHost({ folder })).messages[0]).toMatchObject({ t: "hello", programs: [] });
});

/** As the first release writes it. Never change it: an agent that is updated has to read it. */
const firstState = {
  version: 1,
  programs: [
    {
      program: {
        id: 1,
        name: "Double",
        software: "XmrigMiner",
        files: { from: "path", path: "/nonexistent/xmrig" },
        algorithm: "randomx",
        dualAlgorithm: null,
        pools: [{ url: "stratum+tcp://pool.example:3333", worker: "w", wallet: "a", password: "p" }],
        dualPools: [],
        parameters: "--threads 2",
        running: false,
        gpuSettings: [{ bus: null, powerLimit: 100, coreClock: null, memoryClock: null, fan: null }],
        idle: { processes: ["game"], load: 50 },
      },
      run: {
        launch: { apiPort: 20_001, apiToken: "t", quit: null, badConfiguration: [2], secrets: ["p"], fingerprint: "f" },
        mark: "RIGBRIDGE_RUN=0",
        startedAt: 1_800_000_000_000,
        process: { pid: 4_000_000, startTime: "boot 1", command: "/nonexistent/xmrig" },
      },
      starts: 3,
      exit: { code: 1, signal: null, at: 1_800_000_000_000 },
      failed: { message: "It ended", lastLines: ["line"] },
    },
  ],
};

test("the state that the first release has written is read", async () => {
  const folder = await ownFolder();
  await writeFile(join(folder, "state.json"), JSON.stringify(firstState));
  const host = await startHost({ folder });
  expect(host.state()).toMatchObject({ id: 1, status: "stopped", starts: 3, pid: null });
});

test("programs that were left running can be ended for good", async () => {
  const { host } = await leftHost();
  const next = await startHost({ folder: host.folder, mode: "end programs" });
  expect(await processesIn(host.folder)).toEqual([]);
  await next.agent.close();
  const last = await startHost({ folder: host.folder });
  expect((await last.untilStatus("running")).starts).toBe(2);
});
