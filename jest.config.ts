import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Config } from "jest";
import type { RunnerOptions } from "./test/runner/runner.ts";
import { limits } from "./test/until.ts";

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
  modulePathIgnorePatterns: [
    "<rootDir>/(client/|nodes/|homebridge/)?dist/",
    "/node_modules/",
    "<rootDir>/\\.rigbridge/",
  ],
  dependencyExtractor: "<rootDir>/test/runner/dependencies.ts",
  testTimeout: limits.testMs,
} as const;

const integration = {
  runner: runner({ processes: processes(4), env }),
};

const unitTests = "**/*.unit.test.ts";
/** Run by test/runner/runner.test.ts. */
const cases = "**/test/runner/cases/**";

/**
 * Run a second time with the rigs read in a worker thread (test/pollers.ts). Each of these tests starts a thread, so by
 * default they are those that together reach what tests reach of src/fleet/workers, by functions and branches, and those about
 * commands, which cross the thread; with TEST_WORKERS=all, also those whose parts only use threads.
 */
const readInWorkers =
  process.env.TEST_WORKERS === "all"
    ? [
        "test/fleet/**/*.test.ts",
        "test/service/**/*.test.ts",
        "test/end-to-end/{api,bulk-kill,failing-rig,kill,matrix}.test.ts",
        "test/contract/**/*.test.ts",
      ]
    : [
        "test/fleet/{fleet,slow-rigs}.test.ts",
        "test/service/{agreement,commands,discovery,dual,moved-miner,slow-commands,worker-ends}.test.ts",
        "test/end-to-end/{api,failing-rig,kill}.test.ts",
        "test/contract/access.test.ts",
      ];
const withoutRigs = [
  "test/**/*.unit.test.ts",
  "test/service/{automation,notifications}/**",
  // Rigs behind an agent are read in the main thread.
  "test/service/hosts/**",
  // Has worker threads of its own.
  "test/fleet/workers.test.ts",
  "test/service/{best-setting,economics,farm-history,group-energy,history,market,money,pool-views,price-sources,resources,source,users}.test.ts",
];

/** Run a second time over PostgreSQL (test/any-store.ts): what is stored, and what acts on it. */
const overPostgres = [
  "test/store/{collection,logs,memories,newest-commands,runs,samples}.test.ts",
  "test/service/{commands,farm-history,group-energy,history,idempotent-calls,money,users}.test.ts",
  "test/service/{automation/rules-api,notifications/notices}.test.ts",
  "test/end-to-end/api.test.ts",
];

const config: Config = {
  testSequencer: "<rootDir>/test/runner/sequencer.ts",
  projects: [
    {
      ...shared,
      id: "unit",
      displayName: "unit",
      testMatch: [`<rootDir>/test/${unitTests}`],
      setupFiles: ["<rootDir>/test/unit-guard.ts"],
      testTimeout: 10_000,
      runner: runner({ processes: processes(1), env }),
    },
    {
      ...shared,
      ...integration,
      id: "integration",
      displayName: "integration",
      testMatch: ["<rootDir>/test/**/*.test.ts", `!${unitTests}`, `!${cases}`],
    },
    {
      ...shared,
      ...integration,
      id: "workers",
      displayName: "workers",
      testMatch: [
        ...readInWorkers.map((pattern) => `<rootDir>/${pattern}`),
        ...withoutRigs.map((pattern) => `!**/${pattern}`),
      ],
      globals: { pollingWorkers: 1 },
    },
    {
      ...shared,
      runner: runner({ processes: processes(2), env: { ...env, TEST_STORE: "postgres" } }),
      id: "postgres",
      displayName: "postgres",
      testMatch: overPostgres.map((pattern) => `<rootDir>/${pattern}`),
    },
  ],
};

export default config;
