import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { root, run } from "./packed.ts";

// depends on: scripts/licences.mjs, docs/licences.md

test("docs/licences.md is what npm run licences finds; npm run licences -- --write renews it", async () => {
  const { code, output } = await run(process.execPath, [join(root, "scripts", "licences.mjs")], root);
  expect(code).toBe(0);
  expect(output.trim()).toBe((await readFile(join(root, "docs", "licences.md"), "utf8")).trim());
});

describe("a licence", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-licences-"));
    await mkdir(join(folder, "scripts"));
    await cp(join(root, "scripts", "licences.mjs"), join(folder, "scripts", "licences.mjs"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const judge = async (entry: object) => {
    const packages = { "": { name: "rigbridge" }, "node_modules/part": { version: "1.0.0", ...entry } };
    await writeFile(join(folder, "package-lock.json"), JSON.stringify({ packages }));
    return run(process.execPath, [join("scripts", "licences.mjs")], folder);
  };

  test.each(["MIT", "Apache-2.0", "(MIT OR GPL-3.0-only)", "MIT AND BSD-3-Clause"])("%s fits", async (license) => {
    expect((await judge({ license })).code).toBe(0);
  });

  test.each(["GPL-3.0-only", "AGPL-3.0-or-later", "MIT AND GPL-2.0-only", "SEE LICENSE IN EULA", "UNLICENSED"])(
    "%s does not",
    async (license) => {
      const { code, output } = await judge({ license });
      expect(code).toBe(1);
      expect(output).toContain(`part 1.0.0: ${license}`);
    },
  );

  test("that is not named does not fit, and one of a development dependency does not matter", async () => {
    expect((await judge({})).output).toContain("part 1.0.0: no licence is named");
    expect((await judge({ dev: true, license: "GPL-3.0-only" })).code).toBe(0);
  });
});
