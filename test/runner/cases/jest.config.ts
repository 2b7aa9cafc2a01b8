import { fileURLToPath } from "node:url";
import type { Config } from "jest";
import type { RunnerOptions } from "../runner.ts";

const options: RunnerOptions = { processes: 2, graceMs: Number(process.env.CASES_GRACE_MS ?? 60_000) };

const config: Config = {
  rootDir: fileURLToPath(new URL(".", import.meta.url)),
  testMatch: ["<rootDir>/*.test.ts"],
  moduleFileExtensions: ["ts", "js"],
  transform: {},
  testTimeout: 60_000,
  runner: [fileURLToPath(new URL("../runner.ts", import.meta.url)), { ...options }],
};

export default config;
