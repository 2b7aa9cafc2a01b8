import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
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
  /** A program in place of the command. */
  readonly program?: string;
}

/** What Node has compiled once, so that every further start takes a third of the time. */
const compiled = join(tmpdir(), "rigbridge-test-compiled");

/** The command as a process of its own, in an environment that holds nothing of Rigbridge but what is given. */
function start(args: readonly string[], { cwd, env = {}, program = main }: Place): ChildProcess {
  const base = Object.entries(process.env).filter(([name]) => !/^(RIGBRIDGE_|LOG_LEVEL|NODE_OPTIONS)/.test(name));
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...args], {
    cwd,
    env: { ...Object.fromEntries(base), NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Runs the command to its end. */
export function rigbridge(args: readonly string[], place: Place = {}): Promise<Ended> {
  const child = start(args, place);
  child.stdin?.end();
  return endOf(child);
}

export interface Running {
  /** What it has said on stdout so far. */
  said(): string;
  /** Types a line; resolves with what it has said since, once that is something like this. */
  type(line: string, until: RegExp): Promise<string>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** Starts the command; resolves once it has said something like this, rejects when it ends before. */
export async function running(args: readonly string[], until: RegExp, place: Place = {}): Promise<Running> {
  const child = start(args, place);
  const ended = endOf(child);
  let stdout = "";
  let heard = (): void => {};
  child.stdout?.on("data", (text: string) => {
    stdout += text;
    heard();
  });
  const saying = (what: RegExp, from: number): Promise<string> =>
    new Promise((resolve, reject) => {
      heard = () => {
        if (what.test(stdout.slice(from))) resolve(stdout.slice(from));
      };
      void ended.then((end) => reject(new Error(`ended before it said ${what}: ${end.stdout}${end.stderr}`)));
    });
  await saying(until, 0);
  return {
    said: () => stdout,
    type: (line, what) => {
      const answer = saying(what, stdout.length);
      child.stdin?.write(`${line}\n`);
      return answer;
    },
    signal: (name) => child.kill(name),
    ended,
  };
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

/** A port that nobody has just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "0.0.0.0");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
