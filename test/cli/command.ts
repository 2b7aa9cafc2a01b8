import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Place {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** What Node has compiled once, so that every further start takes a third of the time. */
const compiled = join(tmpdir(), "rigbridge-test-compiled");

/** The command as a process of its own, in an environment that holds nothing of Rigbridge but what is given. */
function start(args: readonly string[], { cwd, env = {} }: Place): ChildProcess {
  const base = Object.entries(process.env).filter(([name]) => !/^(RIGBRIDGE_|LOG_LEVEL|NODE_OPTIONS)/.test(name));
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    cwd,
    env: { ...Object.fromEntries(base), NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs the command to its end. */
export const rigbridge = (args: readonly string[], place: Place = {}): Promise<Ended> => endOf(start(args, place));

export interface Running {
  /** What it has said on stdout so far. */
  said(): string;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** Starts the command; resolves once it has said something like this, rejects when it ends before. */
export function running(args: readonly string[], until: RegExp, place: Place = {}): Promise<Running> {
  const child = start(args, place);
  const ended = endOf(child);
  let stdout = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (text: string) => {
      stdout += text;
      if (until.test(stdout)) resolve({ said: () => stdout, signal: (name) => child.kill(name), ended });
    });
    void ended.then((end) => reject(new Error(`ended before it was ready: ${end.stdout}${end.stderr}`)));
  });
}

function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}
