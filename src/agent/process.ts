import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type GroupSignal, isSameProcess, type Platform, type ProcessIdentity } from "./platform/index.ts";

export interface Exit {
  /** Both null: it ended while no agent watched it. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** A mining program that runs, with its group: a program may start others. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** Resolves when the program itself has ended; others of its group may still run. */
  readonly ended: Promise<Exit>;
  /** No longer watches it; it runs on. */
  release(): void;
}

export interface StartOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor of the file for its output. */
  readonly output: number;
}

/** Starts a program without a shell, as the leader of a session and group of its own. Rejects if it cannot be started. */
export async function startProcess(options: StartOptions, platform: Platform): Promise<RunningProcess> {
  const [file, ...args] = options.argv;
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ["ignore", options.output, options.output],
    detached: platform.programsOutliveAgent,
    windowsHide: true,
  });
  // Before anything is awaited, as it may end at once.
  const ended = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  child.on("error", () => undefined);
  child.unref();
  const pid = child.pid ?? 0;
  // One that has ended already is only recorded as such.
  const identity = (await platform.identify(pid)) ?? { pid, startTime: "", command: null };
  return { identity, ended, release: () => undefined };
}

/**
 * Watches a process that an earlier agent has started. Only the system can tell that such a process has ended, and not
 * how, so it is asked again and again.
 */
export function adoptProcess(identity: ProcessIdentity, platform: Platform, intervalMs: number): RunningProcess {
  const released = new AbortController();
  const { signal } = released;
  const watch = async (): Promise<Exit> => {
    while (!signal.aborted && (await isAlive(identity, platform)))
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    return signal.aborted ? new Promise<never>(() => undefined) : { code: null, signal: null };
  };
  return { identity, ended: watch(), release: () => released.abort() };
}

export async function isAlive(identity: ProcessIdentity, platform: Platform): Promise<boolean> {
  const now = await platform.identify(identity.pid);
  return now !== null && isSameProcess(now, identity);
}

export interface StopLimits {
  /** After the request to the program's API, and after each signal but the last. */
  readonly patienceMs: number;
  /** After the last signal. */
  readonly killMs: number;
}

export const stopLimits: StopLimits = { patienceMs: 10_000, killMs: 10_000 };

/**
 * A program with everything that it has started. Its mark is a variable of its environment, which they inherit: so none
 * of them is missed after the program itself has ended, and no process that got its pid later is touched.
 */
export interface ProcessTree {
  readonly process: RunningProcess;
  readonly mark: string;
}

/**
 * Ends a program with its group: by its API if `quit` is given, then by one signal after the other. False if it does not
 * end even then: a GPU driver that hangs holds its processes.
 */
export async function endTree(
  tree: ProcessTree,
  quit: (() => Promise<void>) | null,
  limits: StopLimits,
  platform: Platform,
): Promise<boolean> {
  const requests = [
    ...(quit === null ? [] : [quit]),
    ...platform.stopSignals.map((name) => () => signalTree(tree, name, platform)),
  ];
  for (const [index, request] of requests.entries()) {
    await request().catch(() => undefined);
    const patienceMs = index === requests.length - 1 ? limits.killMs : limits.patienceMs;
    if (await endsWithin(tree, patienceMs, platform)) return true;
  }
  return false;
}

async function signalTree({ process: { identity }, mark }: ProcessTree, name: GroupSignal, platform: Platform) {
  if (await isAlive(identity, platform)) return platform.signalGroup(identity.pid, name);
  for (const { pid } of await platform.marked(mark))
    try {
      process.kill(pid, name);
    } catch {
      // It has just ended.
    }
}

/** Whether anything of it still runs. */
export async function remains({ process: { identity }, mark }: ProcessTree, platform: Platform): Promise<boolean> {
  if (await isAlive(identity, platform)) return true;
  return (await platform.marked(mark)).length > 0;
}

async function endsWithin(tree: ProcessTree, ms: number, platform: Platform): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolve(false);
  }, ms);
  const gone = async (): Promise<boolean> => {
    await tree.process.ended;
    while (!isLate && (await remains(tree, platform))) await sleep(100);
    return !isLate;
  };
  return Promise.race([gone(), late]).finally(() => clearTimeout(timer));
}
