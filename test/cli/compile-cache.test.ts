import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";

// depends on: src/cli/compile-cache.ts

const module = new URL("../../src/cli/compile-cache.ts", import.meta.url).href;
const program = `
  import { getCompileCacheDir } from "node:module";
  import { keepCompiled } from ${JSON.stringify(module)};
  keepCompiled();
  await import("node:http");
  console.log(JSON.stringify(getCompileCacheDir() ?? null));`;

/** A cache folder of its own, and where a program keeps what it has compiled with it: null, or a folder. */
function cached() {
  const caches = mkdtempSync(join(tmpdir(), "rigbridge-caches-"));
  onTestFinished(() => rmSync(caches, { recursive: true, force: true }));
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...rest } = process.env;
  const home = { HOME: caches, XDG_CACHE_HOME: caches, LOCALAPPDATA: caches };
  const folderOf = async (env: Record<string, string> = {}): Promise<unknown> => {
    const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: { ...rest, ...home, ...env } });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  };
  return { caches, folderOf };
}

test("the compiled program is kept in the user's cache folder, for this user alone", async () => {
  const { caches, folderOf } = cached();
  expect(await folderOf()).toEqual(expect.stringContaining(join(caches, "rigbridge", "compiled")));
  expect(statSync(join(caches, "rigbridge", "compiled")).mode & 0o077).toBe(0);
  expect(readdirSync(join(caches, "rigbridge", "compiled"))).toHaveLength(1);
});

test.each(["rigbridge", join("rigbridge", "compiled")])(
  "nothing is taken from it where others may write %s",
  async (open) => {
    const { caches, folderOf } = cached();
    mkdirSync(join(caches, "rigbridge", "compiled"), { recursive: true, mode: 0o700 });
    chmodSync(join(caches, open), 0o777);
    expect(await folderOf()).toBeNull();
  },
);

test("a start without a cache folder works as usual", async () => {
  const { caches, folderOf } = cached();
  writeFileSync(join(caches, "rigbridge"), "");
  expect(await folderOf()).toBeNull();
});

test("Node's own variables choose another folder, or none", async () => {
  const { caches, folderOf } = cached();
  const other = join(caches, "other");
  expect(await folderOf({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBeNull();
  expect(await folderOf({ NODE_COMPILE_CACHE: other })).toEqual(expect.stringContaining(other));
});
