import { type ChildProcess, spawn } from "node:child_process";
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
function start(args: readonly string[], { cwd, env = {}, program = main }: Place): Started {
  const base = Object.entries(process.env).filter(([name]) => !/^(RIGBRIDGE_|LOG_LEVEL|NODE_OPTIONS)/.test(name));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...args], {
    cwd,
    env: { ...Object.fromEntries(base), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      printed[stream] += text;
    });
  const name = program === main ? ["rigbridge", ...args.slice(0, 1)].join(" ") : "the program";
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

/** Runs the command to its end. */
export function rigbridge(args: readonly string[], place: Place = {}): Promise<Ended> {
  const { child, ended, soon } = start(args, place);
  child.stdin?.end();
  return soon(ended, "end");
}

export interface Running {
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
