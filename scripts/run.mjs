import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The Node version that the project pins. */
/**
 * As in the systemd unit and the image: V8 lets its space for new objects grow to 32 MB. What a read has brought stays until the
 * next read, so that space is full when it is cleared; with 5,000 rigs everything waits 15 to 40 ms for it, with 4 MB 3 ms.
 */
export const memoryOptions = ["--max-semi-space-size=4"];

export const nodeFile = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

/** The script behind a command of an installed package. */
export function packageFile(name, command) {
  const folder = join(root, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : bin[command]);
}

/** Child processes find the pinned Node by name, too. */
export const childEnvironment = (more = {}) => ({
  ...process.env,
  PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  ...more,
});

/** Runs a program to its end and captures its output. */
export async function spawned(command, args, env = process.env) {
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const code = await ended(child);
  return { code, output };
}

/** The user's working directory; npm runs its scripts in the project's. */
const here = process.env.INIT_CWD ?? process.cwd();

/** Runs a program with this one's stdio; resolves with its exit code. */
export async function inPlace(command, args, { env = childEnvironment(), cwd = here } = {}) {
  return ended(spawn(command, args, { cwd, env, stdio: "inherit" }));
}

/** The exit code of a child, 128 plus the signal's number if a signal ended it. Forwards signals to it. */
async function ended(child) {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  const watch = endWithParent(() => child.kill("SIGTERM"));
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`${child.spawnfile}: ${error.message}\n`);
      resolve(127);
    });
    child.once("close", (exitCode, signal) => resolve(exitCode ?? 128 + (constants.signals[signal] ?? 0)));
  });
  clearInterval(watch);
  for (const signal of signals) process.off(signal, forward);
  return code;
}

/** npm sends SIGTERM to the shell between it and this process, which ends without forwarding it; so watch the parent. */
function endWithParent(end) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    end();
  }, 200);
  return watch;
}
