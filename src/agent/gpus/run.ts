import { type ChildProcess, spawn } from "node:child_process";

export interface Output {
  readonly code: number | null;
  /** From both of its outputs, at most 1 MB. */
  readonly text: string;
}

export interface RunOptions {
  /** Its PATH is searched for the command. */
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

const longestOutput = 1_000_000;

/**
 * Runs a tool without a shell. "missing": the command does not exist. "hanging": it did not end in time. It is sent SIGKILL,
 * but not waited for, since a process that waits for a dead card cannot be killed.
 */
export function run(
  command: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Output | "missing" | "hanging"> {
  const { promise, resolve } = Promise.withResolvers<Output | "missing" | "hanging">();
  const ownGroup = process.platform !== "win32";
  const child = spawn(command, args, {
    env: { ...options.env, LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: ownGroup,
    windowsHide: true,
  });
  let text = "";
  const take = (chunk: Buffer) => {
    if (text.length < longestOutput) text += chunk.toString("utf8");
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const timer = setTimeout(() => {
    kill(child, ownGroup);
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
    resolve("hanging");
  }, options.timeoutMs);
  child.once("error", () => {
    clearTimeout(timer);
    resolve("missing");
  });
  child.once("close", (code) => {
    clearTimeout(timer);
    resolve({ code, text: text.slice(0, longestOutput) });
  });
  return promise;
}

function kill(child: ChildProcess, group: boolean): void {
  try {
    if (group && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It has just exited.
  }
}
