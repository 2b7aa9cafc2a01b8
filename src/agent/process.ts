import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type GroupSignal, isSameProcess, type Platform, type ProcessIdentity } from "./platform/index.ts";

export interface Exit {
  /** Both null: it ended while no agent watched it. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running mining program with its group: a program may start others. */
export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** Resolves when the program itself has ended; others of its group may still run. */
  readonly ended: Promise<Exit>;
  /** Stops watching it; it keeps running. */
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
  // Before anything is awaited, since it may exit at once.
  const ended = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  child.on("error", () => undefined);
  child.unref();
  const pid = child.pid ?? 0;
  // It may have exited already.
  const identity = (await platform.identify(pid)) ?? { pid, startTime: "", command: null };
  return { identity, ended, release: () => undefined };
}

/**
 * Watches a process that an earlier agent started, by polling the system: it is not a child of this process, so its exit
 * code stays unknown.
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
 * A program with all processes that it has started. They inherit an environment variable as their mark: it finds them
 * after the program itself has ended, and keeps a later process with the same pid from being touched.
 */
export interface ProcessTree {
  readonly process: RunningProcess;
  readonly mark: string;
}

/**
 * Ends a program with its group: by its API if `quit` is given, then by one signal after another. False if it survives
 * all of them, as processes do while a GPU driver hangs.
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
      // It has just exited.
    }
}

/** Whether any of its processes still runs. */
export async function remains({ process: { identity }, mark }: ProcessTree, platform: Platform): Promise<boolean> {
  if (await isAlive(identity, platform)) return true;
  return (await platform.marked(mark)).length > 0 || platform.exiting(identity.pid);
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
