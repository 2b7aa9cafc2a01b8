import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { SerializableError, TestResult } from "@jest/test-result";
import { killGroup } from "./kill-group.ts";
import type { Report, Request, RunRequest } from "./messages.ts";

export interface TestProcessOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly graceMs: number;
}

type Exit = readonly [code: number | null, signal: string | null];

const program = fileURLToPath(new URL("process.ts", import.meta.url));
/** `import ... from "rigbridge"` finds the sources instead of the build. */
const nodeOptions = ["--conditions=rigbridge-source", "--disable-warning=ExperimentalWarning"];
const endTimeoutMs = 10_000;

/** A process that runs test files, one at a time. It has a process group of its own, so that what tests start ends with it. */
export class TestProcess {
  /** Called with an error that nothing caught after the last file had ended. */
  onStray: (error: Error) => void = () => undefined;
  readonly #child: ChildProcess;
  readonly #graceMs: number;
  /** Its exit, after which no report of it is still to come. */
  readonly #ended: Promise<Exit>;
  #isRunning = false;
  #isOver = false;

  constructor({ folder, env, graceMs }: TestProcessOptions) {
    this.#graceMs = graceMs;
    this.#child = fork(program, {
      cwd: folder,
      env: { ...process.env, ...env },
      execArgv: nodeOptions,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text) => process.stdout.write(text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text) => process.stderr.write(text));
    this.#child.on("message", (report: Report) => {
      if (report.kind === "stray") this.onStray(errorOf(report.error));
    });
    const disconnected = new Promise((resolve) => void this.#child.once("disconnect", resolve));
    const exited = new Promise<Exit>((resolve) => void this.#child.once("exit", (...exit) => resolve(exit)));
    this.#ended = disconnected.then(() => exited);
    void this.#ended.then((exit) => {
      if (!this.#isRunning && !this.#isOver) this.onStray(died(exit, "after the file had ended"));
      this.#killGroup();
    });
    // Such as a message to a process that has just ended; its exit is handled.
    this.#child.on("error", () => undefined);
  }

  get isAlive(): boolean {
    return !this.#isOver && this.#child.connected;
  }

  /** Rejects if the file cannot be loaded, or if the process dies or no longer answers. */
  async run(request: RunRequest): Promise<TestResult> {
    const { promise, resolve, reject } = Promise.withResolvers<TestResult>();
    let step = "starting";
    let silence: NodeJS.Timeout | undefined;
    const expectReportWithin = (limitMs: number): void => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        reject(
          new Error(
            `Its process no longer answered and was ended, ${(limitMs + this.#graceMs) / 1000} s into ${step}.`,
          ),
        );
        this.#killGroup();
      }, limitMs + this.#graceMs);
    };
    const onReport = (report: Report): void => {
      if (report.kind === "done") resolve(report.result);
      if (report.kind === "failed") reject(errorOf(report.error));
      if (report.kind !== "step") return;
      step = report.name;
      expectReportWithin(report.limitMs);
    };
    void this.#ended.then((exit) => reject(died(exit, `during ${step}`)));
    this.#isRunning = true;
    this.#child.on("message", onReport);
    expectReportWithin(request.config.testTimeout);
    this.#child.send(request);
    try {
      return await promise;
    } finally {
      clearTimeout(silence);
      this.#child.off("message", onReport);
      this.#isRunning = false;
    }
  }

  /** Resolves when nothing of it is left. */
  async end(): Promise<void> {
    const request: Request = { kind: "end" };
    if (this.isAlive) this.#child.send(request);
    this.#isOver = true;
    const late = setTimeout(() => this.#killGroup(), endTimeoutMs);
    await this.#ended;
    clearTimeout(late);
  }

  #killGroup(): void {
    this.#isOver = true;
    if (this.#child.pid !== undefined) killGroup(this.#child.pid);
  }
}

const died = ([code, signal]: Exit, when: string): Error =>
  new Error(`Its process ended ${when} (${signal ?? `exit code ${code}`}).`);

const errorOf = ({ message, stack }: SerializableError): Error => Object.assign(new Error(message), { stack });
