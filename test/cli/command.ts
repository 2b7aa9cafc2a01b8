import { type ChildProcess, spawn } from "node:child_process";
import { program } from "../../src/cli/program.ts";
import { within } from "../until.ts";

// depends on: src/**

const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Place {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** Another program instead of the command. */
  readonly program?: string;
}

interface Started {
  readonly child: ChildProcess;
  /** Its output so far. */
  readonly printed: Readonly<Record<"stdout" | "stderr", string>>;
  readonly ended: Promise<Ended>;
  /** Waits for the promise and kills the process if that takes too long; `what` is for the error, such as "end". */
  soon<T>(promise: Promise<T>, what: string): Promise<T>;
}

/** Starts the command as a process, without variables of Rigbridge except the given ones. */
function start(args: readonly string[], { cwd, env = {}, program: file = main }: Place): Started {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file, ...args], {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      printed[stream] += text;
    });
  const name = file === main ? ["rigbridge", ...args.slice(0, 1)].join(" ") : "the program";
  const details = () => `It has printed:\n${printed.stdout}${printed.stderr}`;
  return {
    child,
    printed,
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, ...printed }))),
    soon: (promise, what) =>
      within(promise, `${name} to ${what}`, { details }).catch((error: unknown) => {
        child.kill("SIGKILL");
        throw error;
      }),
  };
}

/** Instead of the end of the process. */
class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`process.exit(${code})`);
    this.code = code;
  }
}

/**
 * Runs the command to its end in this process, which has loaded most of its modules already: a process of its own takes a
 * second. Only one at a time, and none that logs, handles signals or reads stdin: those are for `rigbridge`, as is one real
 * start of each command.
 */
export async function command(args: readonly string[], { cwd, env = {} }: Omit<Place, "program"> = {}): Promise<Ended> {
  const before = { env: process.env, cwd: process.cwd(), exit: process.exit, exitCode: process.exitCode };
  const printed = { stdout: "", stderr: "" };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const stream of ["stdout", "stderr"] as const)
    process[stream].write = (text: string | Uint8Array, ...rest: unknown[]) => {
      printed[stream] += String(text);
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    };
  process.env = { ...cleanEnv(), ...env };
  process.exitCode = undefined;
  process.exit = (code) => {
    throw new Exit(Number(code ?? process.exitCode ?? 0));
  };
  try {
    if (cwd !== undefined) process.chdir(cwd);
    await (await program(args)).parseAsync(args, { from: "user" });
    return { code: Number(process.exitCode ?? 0), ...printed };
  } catch (error) {
    if (error instanceof Exit) return { code: error.code, ...printed };
    throw error;
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    process.exit = before.exit;
    process.exitCode = before.exitCode;
    process.stdout.write = writes.stdout;
    process.stderr.write = writes.stderr;
  }
}

/** Without variables of Rigbridge and of Node. */
const cleanEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(RIGBRIDGE_|LOG_|NODE_OPTIONS)/.test(name)));

/** Runs the command to its end, as a process. */
export function rigbridge(args: readonly string[], place: Place = {}): Promise<Ended> {
  const { child, ended, soon } = start(args, place);
  child.stdin?.end();
  return soon(ended, "end");
}

export interface Running {
  readonly pid: number;
  /** Its stdout so far. */
  said(): string;
  /** Types a line; resolves with the output since, once that matches. */
  type(line: string, until: RegExp): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Read it only when the process is about to end, since the wait starts with it. */
  readonly ended: Promise<Ended>;
}

/** Starts the command; resolves once its stdout matches, rejects if it ends before. */
export async function running(args: readonly string[], until: RegExp, place: Place = {}): Promise<Running> {
  const { child, printed, ended, soon } = start(args, place);
  let heard = (): void => {};
  child.stdout?.on("data", () => heard());
  const saying = (what: RegExp, from: number): Promise<string> => {
    const said = new Promise<string>((resolve, reject) => {
      heard = () => {
        const since = printed.stdout.slice(from);
        if (what.test(since)) resolve(since);
      };
      void ended.then((end) => reject(new Error(`ended before it said ${what}: ${end.stdout}${end.stderr}`)));
    });
    return soon(said, `say ${what}`);
  };
  await saying(until, 0);
  return {
    pid: child.pid ?? 0,
    said: () => printed.stdout,
    type: (line, what) => {
      const answer = saying(what, printed.stdout.length);
      child.stdin?.write(`${line}\n`);
      return answer;
    },
    signal: (name) => child.kill(name),
    get ended() {
      return soon(ended, "end");
    },
  };
}
