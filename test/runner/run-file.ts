import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type AssertionResult, createEmptyTestResult, type TestResult } from "@jest/test-result";
import type { Circus, Config } from "@jest/types";
import { addEventHandler, afterEach, getState, resetState, run } from "jest-circus";
import { formatExecError, formatResultsErrors } from "jest-message-util";
import { finish } from "../finished.ts";
import { useConfig } from "./globals.ts";

export interface FileRun {
  readonly file: string;
  readonly config: Config.ProjectConfig;
  readonly testNamePattern: string | null;
  load(path: string): Promise<void>;
  /** Called when a test, a hook or the loading of the file begins, with its time limit. */
  onStep(name: string, limitMs: number): void;
}

/** Tests may replace these. */
const { setImmediate } = globalThis;
const { Date: RealDate } = globalThis;

const options = { noStackTrace: false };

/** Runs the tests of one file in this process. Rejects if it cannot be loaded. */
export async function runFile({ file, config, testNamePattern, load, onStep }: FileRun): Promise<TestResult> {
  const start = RealDate.now();
  Object.assign(globalThis, config.globals);
  useConfig(config);
  resetState();
  const state = getState();
  state.testTimeout = config.testTimeout;
  if (testNamePattern !== null) state.testNamePattern = new RegExp(testNamePattern, "i");
  reportStep = onStep;
  onStep("loading", config.testTimeout);
  for (const path of config.setupFiles) await load(path);
  await load(file);
  // Defined last and outermost, so it runs after the hooks of the file.
  afterEach(finish);
  skipIdle(state.rootDescribeBlock);
  const { testResults, unhandledErrors, unhandledErrorsDetailed } = await run();
  const results = testResults.map((test) => assertionResult(test, config.rootDir));
  const count = (status: AssertionResult["status"]): number => results.filter((each) => each.status === status).length;
  const messages = [formatResultsErrors(results, config, options, file) ?? ""];
  for (const { message, stack = message } of unhandledErrorsDetailed)
    messages.push(formatExecError({ message, stack: withPaths(stack, config.rootDir) }, config, options, file));
  const end = RealDate.now();
  const empty = createEmptyTestResult();
  return {
    ...empty,
    ...(config.displayName === undefined ? {} : { displayName: config.displayName }),
    failureMessage: messages.join("\n\n").trim() === "" ? null : messages.join("\n\n"),
    numFailingTests: count("failed"),
    numPassingTests: count("passed"),
    numPendingTests: count("pending"),
    numTodoTests: count("todo"),
    perfStats: { ...empty.perfStats, start, end, runtime: end - start, slow: false },
    ...(unhandledErrors.length === 0 ? {} : { testExecError: { message: "", stack: unhandledErrors.join("\n") } }),
    testFilePath: file,
    // Errors are formatted above; they may not survive being sent.
    testResults: results.map((each) => ({ ...each, failureDetails: [] })),
  };
}

/** A block of which no test runs has no hooks to run either: with `-t`, those are nearly all. Returns whether one runs. */
function skipIdle(block: Circus.DescribeBlock, names: readonly string[] = []): boolean {
  const { hasFocusedTests, testNamePattern } = getState();
  const isSelected = ({ mode, name }: Circus.TestEntry): boolean =>
    mode === "only" || (mode === undefined && !hasFocusedTests)
      ? (testNamePattern?.test([...names, name].join(" ")) ?? true)
      : false;
  const runs = block.children.map((child) =>
    child.type === "describeBlock" ? skipIdle(child, [...names, child.name]) : isSelected(child),
  );
  if (runs.includes(true)) return true;
  block.mode = "skip";
  return false;
}

let reportStep: FileRun["onStep"] = () => undefined;

addEventHandler((event: Circus.Event, { testTimeout }: Circus.State): void | Promise<void> => {
  switch (event.name) {
    case "hook_start":
      return reportStep(event.hook.type, event.hook.timeout ?? testTimeout);
    case "test_fn_start":
      return reportStep(`"${event.test.name}"`, event.test.timeout ?? testTimeout);
    case "test_fn_success":
    case "test_fn_failure":
    case "hook_success":
    case "hook_failure":
      // A promise that was rejected without a handler is reported before the next turn, so while its test is running.
      return new Promise((resolve) => void setImmediate(resolve));
  }
});

function assertionResult(test: Circus.TestResult, rootDir: string): AssertionResult {
  const [, ...titles] = test.testPath;
  for (const error of test.errorsDetailed) showPaths(error, rootDir);
  const ancestorTitles = titles.slice(0, -1);
  return {
    ancestorTitles,
    duration: test.duration ?? null,
    failureDetails: test.errorsDetailed,
    failureMessages: test.errors.map((text) => withPaths(text, rootDir)),
    fullName: titles.join(" "),
    invocations: test.invocations,
    location: test.location ?? null,
    numPassingAsserts: test.numPassingAsserts,
    retryReasons: [],
    startAt: test.startedAt ?? null,
    status: statusOf(test),
    title: titles.at(-1) ?? "",
  };
}

/** Of a file in a stack, Jest shows the path below the root folder, but does not know URLs. */
export const withPaths = (stack: string, rootDir: string): string =>
  stack.replaceAll(`${pathToFileURL(rootDir).href}/`, `${rootDir}${sep}`);

function showPaths(error: unknown, rootDir: string): void {
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    Reflect.set(at, "stack", withPaths(at.stack ?? "", rootDir));
  }
}

function statusOf({ status, errors }: Circus.TestResult): AssertionResult["status"] {
  if (errors.length > 0) return "failed";
  if (status === "skip") return "pending";
  return status === "todo" ? "todo" : "passed";
}
