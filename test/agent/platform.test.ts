import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { isSameProcess, platformOf } from "../../src/agent/platform/index.ts";
import { isAlive, remains } from "../../src/agent/process.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { ownFolder, threadsOf } from "./host.ts";

const linux = platformOf("linux");

function started(file: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const child = spawn(file, [...args], { stdio: "ignore", detached: true, env });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

test("a process is recognised by its start, whatever it calls itself", async () => {
  const odd = join(await ownFolder(), ") R 1 1 (x");
  await copyFile("/bin/sleep", odd);
  const [one, other] = [started(odd, ["600"]), started(odd, ["600"])];
  const identity = await linux.identify(one.pid ?? 0);
  expect(identity).toMatchObject({ pid: one.pid, command: odd });
  expect(identity?.startTime).toMatch(/^[0-9a-f-]{36} \d+$/);
  const again = await linux.identify(one.pid ?? 0);
  if (identity === null || again === null) throw new Error("it does not run");
  expect(isSameProcess(identity, again)).toBe(true);
  expect(isSameProcess(identity, { ...again, startTime: `${again.startTime}1` })).toBe(false);
  expect(isSameProcess(identity, { ...again, command: "/bin/other" })).toBe(false);
  expect(isSameProcess(identity, { ...again, pid: other.pid ?? 0 })).toBe(false);
});

test("a process that has ended is none, also while nobody has collected it", async () => {
  const gone = join(await ownFolder(), "double-gone");
  await copyFile("/bin/sleep", gone);
  const parent = started("/bin/sh", ["-c", '"$0" 0 & exec sleep 600', gone]);
  const childrenOf = async (): Promise<string> => {
    return (await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, "utf8")).trim();
  };
  await until(async () => /^\d+$/.test(await childrenOf()), "the child");
  const child = Number(await childrenOf());
  await until(async () => (await linux.identify(child)) === null, "the child to end");
  expect(await childrenOf()).toBe(String(child));
  expect(await readFile(`/proc/${child}/comm`, "utf8")).toBe("double-gone\n");
  expect(await linux.processNames()).not.toContain("double-gone");
  expect(await linux.identify(4_194_305)).toBeNull();
});

/** A program whose memory the system takes some time to collect. It prints its pid. */
const large = `const memory = Buffer.alloc(200e6, 1);
process.stdout.write(String(process.pid));
setInterval(() => memory, 60_000);`;

test("a process that is exiting has not ended: it may still hold a port or a GPU", async () => {
  const child = spawn(process.execPath, ["-e", large], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const identity = await linux.identify(pid);
  if (identity === null) throw new Error("it does not run");
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  while (await isAlive(identity, linux));
  expect(await threadsOf(pid)).toBeLessThanOrEqual(1);
  await ended;
  expect(await linux.exiting(pid)).toBe(false);
});

test("what a program has started remains until it has ended, also while it is exiting", async () => {
  const env = { ...process.env, RIGBRIDGE_RUN: "test-2" };
  const parent = spawn("/bin/sh", ["-c", '"$0" -e "$1" & wait', process.execPath, large], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
    env,
  });
  const pid = parent.pid ?? 0;
  onTestFinished(() => linux.signalGroup(pid, "SIGKILL"));
  const child = Number((await once(parent.stdout, "data"))[0]);
  const identity = { pid, startTime: "", command: null };
  const ended = once(parent, "exit").then(() => ({ code: null, signal: null }));
  const tree = { process: { identity, ended, release: () => undefined }, mark: "RIGBRIDGE_RUN=test-2" };
  expect(await remains(tree, linux)).toBe(true);
  await linux.signalGroup(pid, "SIGKILL");
  await ended;
  while (await remains(tree, linux));
  expect(await threadsOf(child)).toBeLessThanOrEqual(1);
});

test("processes are found by a variable of the environment in which they were started", async () => {
  const env = { ...process.env, RIGBRIDGE_RUN: "test-1" };
  const parent = started("/bin/sh", ["-c", "sleep 600 & wait"], env);
  started("/bin/sleep", ["600"], { ...process.env, RIGBRIDGE_RUN: "test-11" });
  await until(async () => (await linux.marked("RIGBRIDGE_RUN=test-1")).length === 2, "both processes");
  const found = await linux.marked("RIGBRIDGE_RUN=test-1");
  expect(found.filter(({ leads }) => leads).map(({ pid }) => pid)).toEqual([parent.pid]);
  await linux.signalGroup(parent.pid ?? 0, "SIGKILL");
  await until(async () => (await linux.marked("RIGBRIDGE_RUN=test-1")).length === 0, "both to end");
});

test("a group is signalled only by a number that is one", async () => {
  for (const pid of [0, 1, -1, 1.5, Number.NaN]) await linux.signalGroup(pid, "SIGKILL");
  expect(await linux.identify(process.pid)).not.toBeNull();
});

test("who listens at a port is known", async () => {
  // At all addresses: another process may listen at the same port of another one.
  const server = createServer().listen(0);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  expect(await linux.listeningGroups(port)).toHaveLength(1);
  server.close();
  await once(server, "close");
  expect(await linux.listeningGroups(port)).toEqual([]);
});

test("processes have the names that people know them by", async () => {
  // Not the name in idle.test.ts, which may run at the same time and sees all processes.
  const game = join(await ownFolder(), "Double-Name.exe");
  await copyFile("/bin/sleep", game);
  started(game, ["600"]);
  await until(async () => (await linux.processNames()).has("double-name"), "the process");
});

test("ps, as macOS has it, tells the same of a process", async () => {
  const macos = platformOf("darwin");
  const child = started("/bin/sleep", ["600"]);
  const identity = await macos.identify(child.pid ?? 0);
  expect(identity).toMatchObject({ pid: child.pid, command: "sleep" });
  expect(Date.parse(identity?.startTime ?? "")).toBeGreaterThan(Date.now() - 3_600_000);
  expect(await macos.identify(4_194_305)).toBeNull();
  expect(await macos.processNames()).toContain("sleep");
});
