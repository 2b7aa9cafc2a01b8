import { globSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Plugin } from "vitest/config";

/**
 * `npm test -- --changed` follows imports. A test or helper names other files that it reads or runs in a line:
 *
 *     // depends on: examples/*.yaml, src/**
 */
export const dependsOn = (root: string): Plugin => ({
  name: "depends-on",
  enforce: "pre",
  transform(code, id) {
    if (!id.startsWith(join(root, "test"))) return;
    for (const [, patterns = ""] of code.matchAll(/^\/\/ depends on: (.+)$/gm))
      for (const file of globSync(patterns.split(", "), { cwd: root, exclude: isNoSource })) {
        const path = join(root, file);
        if (statSync(path).isFile()) this.addWatchFile(path);
      }
  },
});

const isNoSource = (path: string): boolean => ["dist", "node_modules"].includes(basename(path));
