import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, describe } from "@jest/globals";
import { getState } from "jest-circus";
import { root } from "./packed.ts";

/** What decides what is packed and how others build with it: manifests, builds, and the entry points of the packages. */
const common = [
  "{.,client,nodes,homebridge}/package.json",
  "package-lock.json",
  "{.,src,nodes,homebridge}/tsconfig.json",
  "scripts/*.mjs",
  "src/index.ts",
  "src/*/index.ts",
  "test/package/*.ts",
  "packaging/docker/*",
  ".dockerignore",
];

function stateOf(parts: readonly string[]): string {
  const hash = createHash("sha256").update(process.version);
  for (const file of globSync(parts, { cwd: root, exclude: ["**/node_modules/**"] }).sort())
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

function lastPassed(stamp: string): string {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return "";
  }
}

const isCi = !["", "0", "false"].includes(process.env.CI ?? "");

/**
 * A block of tests that pack and build for half a minute. They are left out, after a note on stderr, where they have passed
 * and nothing that they depend on has changed since; never in CI. `more`: what else decides about this package.
 */
export function describePackaging(name: string, more: readonly string[], define: () => void): void {
  const stamp = join(root, "node_modules/.cache", `${name.replaceAll(/\W+/g, "-")}.txt`);
  const state = stateOf([...common, ...more]);
  if (!isCi && lastPassed(stamp) === state) {
    process.stderr.write(
      `skipped: ${name}, whose manifests, builds and entry points are as they were when it passed\n`,
    );
    describe.skip(name, define);
    return;
  }
  let hasFailed = false;
  describe(name, () => {
    define();
    afterEach(() => {
      hasFailed ||= (getState().currentlyRunningTest?.errors.length ?? 0) > 0;
    });
    afterAll(() => {
      // Some tests alone, by `-t`, are not all of them.
      if (hasFailed || (getState().testNamePattern ?? null) !== null) return;
      mkdirSync(dirname(stamp), { recursive: true });
      writeFileSync(stamp, state);
    });
  });
}
