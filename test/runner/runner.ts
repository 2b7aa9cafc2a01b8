import type { SerializableError, Test, TestEvents, TestResult } from "@jest/test-result";
import type { Config } from "@jest/types";
import type { EmittingTestRunnerInterface, TestRunnerContext, UnsubscribeFn } from "jest-runner";
import type { TestWatcher } from "jest-watcher";
import { TestProcess } from "./test-process.ts";

/** In jest.config.ts, beside the path of this file. */
export interface RunnerOptions {
  /** Files that run at the same time. */
  readonly processes: number;
  /** Added to the environment of the processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long a process may be silent after the time limit of what it runs. */
  readonly graceMs?: number;
}

type Listener<Name extends keyof TestEvents> = (event: TestEvents[Name]) => void | Promise<void>;
type Listeners = { readonly [Name in keyof TestEvents]: Set<Listener<Name>> };

/** On a busy machine a timer fires seconds late. */
const defaultGraceMs = 60_000;

/**
 * Runs test files in plain Node processes. A process runs one file after another of the same project and loads each module
 * once for all of them: loading takes longer than most tests.
 */
export default class Runner implements EmittingTestRunnerInterface {
  readonly supportsEventEmitters = true;
  readonly #testNamePattern: string | null;
  /** Asked for by `-i`. Jest's own guess takes the tests for fast and for busy; they mostly wait. */
  readonly #isSerial: boolean;
  readonly #options: RunnerOptions;
  readonly #listeners: Listeners = {
    "test-file-start": new Set(),
    "test-file-success": new Set(),
    "test-file-failure": new Set(),
    "test-case-start": new Set(),
    "test-case-result": new Set(),
  };

  constructor(globalConfig: Config.GlobalConfig, _context: TestRunnerContext, options: RunnerOptions) {
    this.#testNamePattern = globalConfig.testNamePattern ?? null;
    this.#isSerial = globalConfig.runInBand;
    this.#options = options;
  }

  on<Name extends keyof TestEvents>(event: Name, listener: Listener<Name>): UnsubscribeFn {
    this.#listeners[event].add(listener);
    return () => this.#listeners[event].delete(listener);
  }

  async runTests(tests: Test[], watcher: TestWatcher): Promise<void> {
    const waiting = [...tests];
    const next = (): Test | undefined => (watcher.isInterrupted() ? undefined : waiting.shift());
    const atOnce = this.#isSerial ? 1 : Math.min(this.#options.processes, tests.length);
    await Promise.all(Array.from({ length: atOnce }, () => this.#runOneAfterAnother(next)));
  }

  async #runOneAfterAnother(next: () => Test | undefined): Promise<void> {
    let used: { readonly project: string; readonly process: TestProcess } | null = null;
    try {
      for (let test = next(); test !== undefined; test = next()) {
        const { config } = test.context;
        if (used !== null && (used.project !== config.id || !used.process.isAlive)) {
          await used.process.end();
          used = null;
        }
        used ??= { project: config.id, process: this.#start(config) };
        await this.#run(test, used.process);
      }
    } finally {
      await used?.process.end();
    }
  }

  #start({ rootDir }: Config.ProjectConfig): TestProcess {
    const { env = {}, graceMs = defaultGraceMs } = this.#options;
    return new TestProcess({ folder: rootDir, env, graceMs });
  }

  async #run(test: Test, process: TestProcess): Promise<void> {
    await this.#emit("test-file-start", [test]);
    let result: TestResult;
    try {
      process.onStray = (error) => void this.#emit("test-file-failure", [test, serializable(error)]);
      result = await process.run({
        kind: "run",
        file: test.path,
        config: test.context.config,
        testNamePattern: this.#testNamePattern,
      });
    } catch (error) {
      await this.#emit("test-file-failure", [test, serializable(error)]);
      return;
    }
    await this.#emit("test-file-success", [test, result]);
  }

  async #emit<Name extends keyof TestEvents>(name: Name, event: TestEvents[Name]): Promise<void> {
    for (const listener of this.#listeners[name]) await listener(event);
  }
}

function serializable(error: unknown): SerializableError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack: stack ?? message };
}
