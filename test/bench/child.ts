import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";

/** What a child answers: the value, or what went wrong. */
const Answer = z.object({ id: z.int(), value: z.unknown().optional(), error: z.string().optional() });
const Call = z.object({ id: z.int(), name: z.string(), input: z.unknown() });

const running = new Set<ChildProcess>();
process.once("exit", killChildren);

/** All that still run. */
export function killChildren(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** A process of its own that does what it is asked, so that its CPU is its own. */
export class Child {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #lastId = 0;

  /** `file` beside this one. */
  constructor(file: string, nodeOptions: readonly string[] = []) {
    this.#process = fork(new URL(file, import.meta.url), {
      execArgv: ["--disable-warning=ExperimentalWarning", ...nodeOptions],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    running.add(this.#process);
    this.#process.on("message", (message) => {
      const { id, value, error } = Answer.parse(message);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(`${file}: ${error}`));
    });
    this.#process.once("exit", (code, signal) => {
      running.delete(this.#process);
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended (${code ?? signal})`));
    });
  }

  async ask<T>(schema: z.ZodType<T>, name: string, input: unknown = null): Promise<T> {
    this.#lastId += 1;
    const id = this.#lastId;
    const value = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ id, name, input });
    });
    return schema.parse(value);
  }

  async tell(name: string, input: unknown = null): Promise<void> {
    await this.ask(z.unknown(), name, input);
  }

  /** µs of user and system time since it started. */
  cpu(): Promise<number> {
    return this.ask(z.number(), "cpu");
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.disconnect();
    await ended;
  }
}

type Calls = Readonly<Record<string, (input: unknown) => unknown>>;

const everyChild: Calls = {
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

/** The child's side: answers calls until the parent goes. */
export function answering(calls: Calls): void {
  const all = { ...everyChild, ...calls };
  process.on("message", async (message) => {
    const { id, name, input } = Call.parse(message);
    try {
      process.send?.({ id, value: (await all[name]?.(input)) ?? null });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
}
