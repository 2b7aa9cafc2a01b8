import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Config } from "jest";
import type { RunnerOptions } from "./test/runner/runner.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Files that run at the same time; more than there are cores where most of them wait for sockets, timers and processes. */
const processes = (perCore: number): number => Number(process.env.TEST_PROCESSES ?? perCore * availableParallelism());

const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled` };

const runner = (options: RunnerOptions): [string, RunnerOptions & Record<string, unknown>] => [
  "<rootDir>/test/runner/runner.ts",
  { ...options },
];

/** For all projects. */
const shared = {
  rootDir: root,
  // Node loads the modules; see test/runner.
  transform: {},
  // What tests depend on, for --changed.
  moduleFileExtensions: [
    ...["ts", "tsx", "mjs", "js", "css", "html", "json", "webmanifest", "yaml", "yml", "md", "txt", "svg", "sql"],
    ...["py", "service", "conf"],
  ],
  modulePathIgnorePatterns: ["<rootDir>/(nodes/|homebridge/)?dist/", "/node_modules/", "<rootDir>/\\.rigbridge/"],
  dependencyExtractor: "<rootDir>/test/runner/dependencies.ts",
} as const;

const config: Config = {
  testSequencer: "<rootDir>/test/runner/sequencer.ts",
  projects: [
    {
      ...shared,
      id: "unit",
      displayName: "unit",
      testMatch: ["<rootDir>/test/**/*.unit.test.ts"],
      setupFiles: ["<rootDir>/test/unit-guard.ts"],
      testTimeout: 10_000,
      runner: runner({ processes: processes(1), env }),
    },
    {
      ...shared,
      id: "runner",
      displayName: "runner",
      testMatch: ["<rootDir>/test/runner/*.test.ts"],
      testTimeout: 300_000,
      runner: runner({ processes: processes(1), env }),
    },
  ],
};

export default config;
