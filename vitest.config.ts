import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { dependsOn } from "./test/depends-on.ts";
import { LongestFirst } from "./test/longest-first.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Modules are loaded once per process, not once per file: loading took longer than most tests. */
const shared = { pool: "forks", isolate: false } as const;

const integration = {
  // Only against hanging: what a test waits for has a limit of its own (test/until.ts).
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Most of them wait for sockets, timers and processes.
  maxWorkers: 4 * availableParallelism(),
} as const;

/**
 * Run a second time with the rigs read in a worker thread (test/pollers.ts): what reads rigs and writes to them. Each of
 * these tests starts a thread, so by default they are those about the readings, commands and ends of threads themselves;
 * with TEST_WORKERS=all, also those whose parts only use them.
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
        "test/fleet/**/*.test.ts",
        "test/service/{agreement,commands,discovery,dual,events,login,moved-miner,reading,reason,restarts,slow-commands,worker-ends}.test.ts",
        "test/end-to-end/{api,failing-rig,kill}.test.ts",
        "test/contract/**/*.test.ts",
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

export default defineConfig({
  // The front ends import the package by its name; tests run on its source.
  resolve: {
    alias: [
      // In helpers that unit tests use, too.
      { find: /^@jest\/globals$/, replacement: "vitest" },
      { find: /^rigbridge$/, replacement: `${root}src/index.ts` },
      { find: /^rigbridge\/([a-z]+)$/, replacement: `${root}src/$1/index.ts` },
    ],
  },
  plugins: [dependsOn(root)],
  test: {
    provide: { workers: 0 },
    sequence: { sequencer: LongestFirst },
    // What --changed cannot trace: settings of everything.
    forceRerunTriggers: ["**/package.json", "**/package-lock.json", "**/tsconfig.json", "**/vitest.config.ts"],
    env: { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled` },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          ...integration,
          name: "integration",
          include: ["test/**/*.test.ts"],
          // These run on Jest.
          exclude: ["test/**/*.unit.test.ts", "test/runner/**"],
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          ...integration,
          name: "workers",
          include: readInWorkers,
          exclude: withoutRigs,
          provide: { workers: 1 },
        },
      },
    ],
  },
});
