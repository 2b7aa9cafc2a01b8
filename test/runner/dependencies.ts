import { createHash } from "node:crypto";
import { globSync, statSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Settings of everything: a change concerns every test. */
const settings = ["package.json", "package-lock.json", "tsconfig.json", "jest.config.ts", "test/runner/*.ts"];

/**
 * What `npm test -- --changed` follows: imports, and the files that a test or helper reads or runs, which it names in
 * a line:
 *
 *     // depends on: examples/*.yaml, src/**
 */
export function extract(
  code: string,
  file: string,
  imports: (code: string, file: string) => Iterable<string>,
): Iterable<string> {
  const found = new Set([...imports(code, file)].map((each) => sourceOf(each, file)));
  if (!file.startsWith(join(root, "test") + sep)) return found;
  const patterns = [...code.matchAll(/^\/\/ depends on: (.+)$/gm)].flatMap(([, line = ""]) => line.split(", "));
  if (/\.test\.tsx?$/.test(file)) patterns.push(...settings);
  for (const path of globSync(patterns, { cwd: root, exclude: isNoSource }))
    if (statSync(join(root, path)).isFile()) found.add(relativeTo(file, path));
  return found;
}

/** Jest keeps what `extract` returned until the file changes or this does: a new file may match a pattern. */
export function getCacheKey(): string {
  const files = globSync("**", { cwd: root, exclude: isNoSource });
  return createHash("sha256").update(files.sort().join("\n")).digest("hex");
}

const isNoSource = (path: string): boolean => ["dist", "node_modules", ".git"].includes(basename(path));

/** The front ends import the package by its name. */
function sourceOf(imported: string, file: string): string {
  const [, entry] = /^rigbridge(?:\/([a-z]+))?$/.exec(imported) ?? [];
  if (!imported.startsWith("rigbridge") || (entry === undefined && imported !== "rigbridge")) return imported;
  return relativeTo(file, entry === undefined ? "src/index.ts" : `src/${entry}/index.ts`);
}

function relativeTo(file: string, path: string): string {
  const found = relative(dirname(file), join(root, path)).split(sep).join("/");
  return found.startsWith(".") ? found : `./${found}`;
}
