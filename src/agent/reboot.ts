import { spawn } from "node:child_process";
import type { Logger } from "pino";
import { RigbridgeError } from "../contract/problems.ts";
import { commandEnvironment } from "./environment.ts";

/** Time for the command to fail, or for the answer to reach the service. */
const failMs = 2_000;

/** Runs the command that reboots the host. Rejects if it fails at once. */
export async function reboot([file = "", ...args]: readonly string[], log: Logger): Promise<string> {
  log.warn(`The service has requested a reboot of this host (${file})`);
  const child = spawn(file, args, {
    stdio: ["ignore", "ignore", "pipe"],
    windowsHide: true,
    env: commandEnvironment(process.env),
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(0, 300);
  });
  const failure = await new Promise<string | null>((resolve) => {
    setTimeout(() => resolve(null), failMs).unref();
    child.once("error", (error) => resolve("code" in error ? String(error.code) : "internal error"));
    child.once("close", (code) => resolve(code === 0 ? null : said.trim() || `exit code ${code}`));
  });
  if (failure === null) return "The host is rebooted";
  throw new RigbridgeError("not.possible", `The host cannot be rebooted (${file}: ${failure}); see docs/agent.md`);
}
