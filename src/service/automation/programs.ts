import { spawn } from "node:child_process";
import { Semaphore } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";

/** Time limit of a program in ms, and characters of its output that are kept. */
const programMs = 60_000;
const outputKept = 1_000;
/** Concurrent programs. */
const places = new Semaphore(4);

/** The environment variables that programs inherit: none that may hold a secret. */
const inherited = ["PATH", "HOME", "LANG", "TZ", "SystemRoot", "TEMP"];

/**
 * Runs a program without a shell; resolves with the beginning of its output. Throws `not.possible` if the program
 * fails: it may have had an effect.
 */
export const runProgram = (argv: readonly string[], closing: AbortSignal): Promise<string> =>
  places.run(() => started(argv, AbortSignal.any([closing, AbortSignal.timeout(programMs)])));

function started([file = "", ...args]: readonly string[], signal: AbortSignal): Promise<string> {
  const environment = inherited.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (why: string): void => reject(new RigbridgeError("not.possible", `${file} ${why}`));
  const child = spawn(file, args, {
    env: Object.fromEntries(environment),
    stdio: ["ignore", "pipe", "pipe"],
    killSignal: "SIGKILL",
    signal,
  });
  let output = "";
  const keep = (chunk: string): void => {
    if (output.length < outputKept) output += chunk.slice(0, outputKept - output.length);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", keep);
  child.on("error", (error) => {
    if (!signal.aborted) fail(`cannot be run: ${error.message}`);
  });
  child.on("close", (code, killedBy) => {
    const said = output.trim();
    if (code === 0) resolve(said);
    else if (signal.aborted) fail(`was ended: it ran for more than ${programMs / 1000} s, or the service stopped`);
    else fail(`ended with ${code === null ? killedBy : `code ${code}`}${said === "" ? "" : `: ${said}`}`);
  });
  return promise;
}
