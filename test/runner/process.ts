import "./hooks.ts";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { SerializableError } from "@jest/test-result";
import { getState } from "jest-circus";
import { killGroup } from "./kill-group.ts";
import type { Report, Request, RunRequest } from "./messages.ts";
import { runFile, withPaths } from "./run-file.ts";

/** The program of a test process. */
const { setImmediate } = globalThis;
const report = (message: Report): void => void process.send?.(message);

let isRunning = false;

async function run({ file, config, testNamePattern }: RunRequest): Promise<void> {
  isRunning = true;
  try {
    const onStep = (name: string, limitMs: number): void => report({ kind: "step", name, limitMs });
    const load = async (path: string): Promise<void> => void (await import(pathToFileURL(path).href));
    report({ kind: "done", result: await runFile({ file, config, testNamePattern, load, onStep }) });
  } catch (error) {
    report({ kind: "failed", error: serializable(error) });
  } finally {
    isRunning = false;
  }
}

/** An error that nothing caught fails the test that is running, or else its file. */
function onStrayError(error: unknown): void {
  if (!isRunning) report({ kind: "stray", error: serializable(error) });
  else {
    const { currentlyRunningTest, unhandledErrors } = getState();
    if (currentlyRunningTest === null || currentlyRunningTest === undefined) unhandledErrors.push(error);
    else currentlyRunningTest.errors.push(error);
  }
}

function serializable(error: unknown): SerializableError {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  return { message, stack: withPaths(stack, process.cwd()) };
}

process.on("uncaughtException", onStrayError).on("unhandledRejection", onStrayError);
process.on("message", (request: Request) => {
  if (request.kind === "run") void run(request);
  // A turn later: what is about to fail is still reported.
  else setImmediate(() => process.exit(0));
});
process.on("disconnect", () => {
  // After the exit handlers of what the tests use.
  process.on("exit", () => killGroup(process.pid));
  process.exit(1);
});
new Worker(new URL("watch-parent.ts", import.meta.url), { execArgv: [], workerData: { parent: process.ppid } }).unref();
