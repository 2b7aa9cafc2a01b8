import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { z } from "zod";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";

// depends on: test/runner/cases/*.ts

const folder = fileURLToPath(new URL("cases", import.meta.url));
const jest = join(dirname(fileURLToPath(import.meta.resolve("jest/package.json"))), "bin", "jest.js");

const Results = z.object({
  success: z.boolean(),
  numTotalTests: z.number(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ title: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

interface Run {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly output: () => string;
  readonly results: Promise<z.infer<typeof Results> & { readonly code: number | null }>;
}

/** A Jest of its own, over the cases with these names. */
async function start(
  names: readonly string[],
  env: Readonly<Record<string, string>> = {},
  ...args: string[]
): Promise<Run> {
  const place = await mkdtemp(join(tmpdir(), "rigbridge-runner-"));
  const file = join(place, "results.json");
  const patterns = names.map((name) => `/${name}\\.test`);
  const words = [
    jest,
    "--config",
    join(folder, "jest.config.ts"),
    "--json",
    "--outputFile",
    file,
    ...args,
    ...patterns,
  ];
  const child = spawn(process.execPath, words, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(place, { recursive: true, force: true });
  });
  const results = new Promise<number | null>((resolve) => child.once("close", resolve)).then((code) => {
    if (child.signalCode !== null) throw new Error(`Jest was ended by ${child.signalCode}`);
    return { ...Results.parse(JSON.parse(readFileSync(file, "utf8"))), code };
  });
  results.catch(() => undefined);
  return { child, output: () => output, results };
}

const statesOf = ({ testResults }: z.infer<typeof Results>): string[] =>
  testResults.flatMap(({ assertionResults }) => assertionResults.map(({ title, status }) => `${title}: ${status}`));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie, which nobody waits for in a container without an init, has ended.
  return process.platform !== "linux" || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
};

test("passing tests are green, and counted", async () => {
  const { results } = await start(["passes"]);
  expect(await results).toMatchObject({
    code: 0,
    success: true,
    numTotalTests: 6,
    numPassedTests: 5,
    numPendingTests: 1,
  });
});

test("a name selects its tests, and the others are counted as skipped", async () => {
  const { results } = await start(["passes"], {}, "-t", "a row");
  expect(await results).toMatchObject({ code: 0, numPassedTests: 2, numPendingTests: 4 });
});

test("only the hooks of selected tests run", async () => {
  const { results } = await start(["needs-much"], {}, "-t", "with little other");
  expect(await results).toMatchObject({ code: 0, numPassedTests: 1, numPendingTests: 1 });
});

test("a test that waits for ever fails at its time limit, and the next one runs", async () => {
  const found = await (await start(["never-ends"])).results;
  expect([found.code, statesOf(found)]).toEqual([1, ["waits for ever: failed", "comes after it: passed"]]);
  expect(found.testResults[0]?.message).toMatch(/Exceeded timeout of 300 ms[\s\S]*never-ends\.test\.ts:3/);
});

test("a test that never yields ends with its process, and fails its file", async () => {
  const run = await start(["spins"], { CASES_GRACE_MS: "5000" });
  const found = await run.results;
  expect([found.code, found.success]).toEqual([1, false]);
  expect(found.testResults[0]?.message).toContain('no longer answered and was ended, 5.3 s into "never yields"');
  expect(isAlive(Number(/spins in (\d+)/.exec(run.output())?.[1]))).toBe(false);
});

test("an error in beforeAll fails every test, one in afterAll the file", async () => {
  const found = await (await start(["throws-before", "throws-after"])).results;
  expect([found.code, statesOf(found).sort()]).toEqual([1, ["one: failed", "one: passed", "other: failed"]]);
  expect(found.testResults.map(({ status }) => status)).toEqual(["failed", "failed"]);
  const messages = found.testResults.map(({ message }) => message).join("\n");
  expect(messages).toMatch(/the set-up fails[\s\S]*throws-before\.test\.ts:4/);
  expect(messages).toMatch(/the clean-up fails[\s\S]*throws-after\.test\.ts:4/);
});

test("stray errors fail the test that was running", async () => {
  const found = await (await start(["stray"])).results;
  const states = ["is charged with its stray rejection: failed", "is charged with its stray exception: failed"];
  expect([found.code, statesOf(found)]).toEqual([1, ["before: passed", ...states, "after: passed"]]);
  expect(found.testResults[0]?.message).toMatch(/stray rejection[\s\S]*stray\.test\.ts:6[\s\S]*stray exception/);
});

test("a stray error after the end of a file fails the file", async () => {
  const found = await (await start(["stray-later"])).results;
  expect([found.code, found.success]).toEqual([1, false]);
  expect(found.testResults.map(({ message }) => message).join("\n")).toContain("stray after the end");
});

test("a process that dies fails its file, and the other files run", async () => {
  const found = await (await start(["dies", "passes", "does-not-load"])).results;
  expect(found).toMatchObject({ code: 1, success: false, numPassedTests: 5 });
  const messages = found.testResults.filter(({ status }) => status === "failed").map(({ message }) => message);
  expect(messages).toHaveLength(2);
  expect(messages.join("\n")).toContain('Its process ended during "ends its process" (exit code 0)');
  expect(messages.join("\n")).toMatch(/does not load[\s\S]*does-not-load\.test\.ts:3/);
});

test("nothing stays alive when Jest is killed", async () => {
  const run = await start(["starts-child", "spins"]);
  const [waiting, spinning] = [/child (\d+) of (\d+)/, /spins in (\d+)/];
  await until(() => waiting.test(run.output()) && spinning.test(run.output()), "both tests to run", {
    details: run.output,
  });
  const pids = [waiting, spinning].flatMap((pattern) => pattern.exec(run.output())?.slice(1) ?? []).map(Number);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  run.child.kill("SIGKILL");
  await until(() => !pids.some(isAlive), "every process to end");
});
