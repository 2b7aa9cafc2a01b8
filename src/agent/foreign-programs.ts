import { spawn } from "node:child_process";
import type { Logger } from "pino";
import { type ForeignAction, type ForeignProgram, foreignActions } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { commandEnvironment } from "./environment.ts";

/** A program that the agent does not run itself, with the commands of the agent's configuration. */
export interface ForeignCommands extends Readonly<Partial<Record<ForeignAction, readonly string[] | undefined>>> {
  /** The port of its API. */
  readonly port: number;
}

const commandMs = 60_000;

/** Mining programs that something else starts, such as systemd: the agent runs the commands of its configuration. */
export class ForeignPrograms {
  readonly #programs: readonly ForeignCommands[];
  readonly #log: Logger;
  /** Ports of the programs with a running command. */
  readonly #busy = new Set<number>();

  constructor(programs: readonly ForeignCommands[], log: Logger) {
    this.#programs = programs;
    this.#log = log;
  }

  /** The actions that the service may request. */
  get list(): ForeignProgram[] {
    return this.#programs.map((program) => ({
      port: program.port,
      actions: foreignActions.filter((action) => program[action] !== undefined),
    }));
  }

  /** Throws `agent.forbidden` if the action is not configured, and `not.possible` if the command fails. */
  async run(port: number, action: ForeignAction): Promise<string> {
    const command = this.#programs.find((program) => program.port === port)?.[action];
    if (command === undefined)
      throw new RigbridgeError(
        "agent.forbidden",
        `This host has no command to ${action} a program at port ${port}; only \`foreignPrograms\` in the agent's own ` +
          "configuration on the host can name one",
      );
    if (this.#busy.has(port)) throw new RigbridgeError("not.possible", `A command for port ${port} runs already`);
    this.#busy.add(port);
    try {
      await runCommand(command, this.#log);
    } finally {
      this.#busy.delete(port);
    }
    return `The host has run its command to ${action} the program at port ${port}`;
  }
}

async function runCommand([file = "", ...args]: readonly string[], log: Logger): Promise<void> {
  log.info(`The command ${file} runs, as the service asks`);
  const child = spawn(file, args, {
    stdio: ["ignore", "ignore", "pipe"],
    windowsHide: true,
    env: commandEnvironment(process.env),
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(0, 300);
  });
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, commandMs);
  const failure = await new Promise<string | null>((resolve) => {
    child.once("error", (error) => resolve("code" in error ? String(error.code) : "internal error"));
    // Not "close": a program started by the command may keep its output open.
    child.once("exit", (code) => setImmediate(() => resolve(code === 0 ? null : said.trim() || `exit code ${code}`)));
  });
  clearTimeout(limit);
  child.stderr.destroy();
  const why = isLate ? `it has not ended within ${commandMs / 1000} s` : failure;
  if (why !== null) throw new RigbridgeError("not.possible", `The command on the host has failed (${file}: ${why})`);
}
