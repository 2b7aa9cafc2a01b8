import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "./say.ts";

/** The test files of which `npm test` runs a part, whole. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(dirname(fileURLToPath(import.meta.resolve("jest/package.json"))), "bin", "jest.js");

const isMarked = (file: string): boolean => /from "(\.\.\/)+whole\.ts"/.test(readFileSync(join(root, file), "utf8"));
const marked = globSync("test/**/*.test.ts", { cwd: root }).filter(isMarked).sort();
say(`whole: ${marked.join(", ")}`);
const { status } = spawnSync(
  process.execPath,
  [program, "--selectProjects", "integration", "--runTestsByPath", ...marked],
  {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: "--disable-warning=ExperimentalWarning", TEST_WHOLE: "true" },
    stdio: "inherit",
  },
);
if (status !== 0) process.exitCode = 1;
