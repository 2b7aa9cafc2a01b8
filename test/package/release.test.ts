import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { must, root, run } from "./packed.ts";

// depends on: scripts/release.mjs

const changelog =
  "# Changelog\n\n## 0.2.0, not released yet\n\n- Something new.\n\n## 0.1.0, 2026-01-31\n\n- The first.\n";
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-release-"));
  for (const name of ["scripts", "client", "nodes", "homebridge"]) await mkdir(join(folder, name));
  await cp(join(root, "scripts", "release.mjs"), join(folder, "scripts", "release.mjs"));
  const nodes = { name: "@rigbridge/node-red", version: "0.1.0", dependencies: { rigbridge: "^0.1.0" } };
  const homebridge = { name: "homebridge-rigbridge", version: "0.1.0", private: true };
  await put(
    "package.json",
    json({
      name: "rigbridge",
      version: "0.1.0",
      scripts: { test: "node passes.mjs", torture: "node passes.mjs", packaging: "node packaging.mjs" },
    }),
  );
  await put("client/package.json", json({ name: "@rigbridge/client", version: "0.1.0" }));
  await put("nodes/package.json", json(nodes));
  await put("homebridge/package.json", json(homebridge));
  await put(
    "package-lock.json",
    json({ name: "rigbridge", version: "0.1.0", packages: { "": { version: "0.1.0" }, nodes } }),
  );
  await put("CHANGELOG.md", changelog);
  await put("passes.mjs", "");
  await put("packaging.mjs", "console.log('files of the release');");
  await git("init", "--quiet", "--initial-branch", "main");
  await git("config", "user.name", "Somebody");
  await git("config", "user.email", "somebody@example.com");
  await commit();
  await git("tag", "v0.1.0");
});
afterEach(() => rm(folder, { recursive: true }));

const put = (name: string, text: string) => writeFile(join(folder, name), text);
const textOf = (name: string) => readFile(join(folder, name), "utf8");
/** Nothing of this machine's settings for git counts. */
const git = (...args: string[]) =>
  must("git", args, folder, { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" }).then((said) => said.trim());
const commit = async () => {
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "A change");
};
const release = (...args: string[]) => run(process.execPath, [join("scripts", "release.mjs"), ...args], folder);

describe("a release", () => {
  test("gives all packages one version, dates the changelog, commits and tags, and publishes nothing", async () => {
    const { code, output } = await release("minor");
    expect(output).toContain("files of the release");
    for (const name of ["client", "nodes"])
      expect(output).toContain(`npm publish --provenance --access public --workspace ${name}`);
    expect(output).toContain("homebridge-rigbridge is private and is not published");
    expect(code).toBe(0);
    for (const name of [
      "package.json",
      "client/package.json",
      "nodes/package.json",
      "homebridge/package.json",
      "package-lock.json",
    ]) {
      expect(JSON.parse(await textOf(name))).toMatchObject({ version: "0.2.0" });
    }
    expect(JSON.parse(await textOf("nodes/package.json"))).toMatchObject({ dependencies: { rigbridge: "^0.2.0" } });
    expect(JSON.parse(await textOf("package-lock.json"))).toMatchObject({
      packages: { "": { version: "0.2.0" }, nodes: { version: "0.2.0", dependencies: { rigbridge: "^0.2.0" } } },
    });
    expect(await textOf("CHANGELOG.md")).toMatch(/^# Changelog\n\n## 0\.2\.0, \d{4}-\d\d-\d\d\n\n- Something new\./);
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("log", "-1", "--format=%s %D")).toBe("Release 0.2.0 HEAD -> main, tag: v0.2.0");
  });

  test.each([
    ["patch", "0.1.1"],
    ["major", "1.0.0"],
    ["3.4.5", "3.4.5"],
  ])("%s is %s; tried out, it changes nothing", async (step, version) => {
    const { code, output } = await release(step, "--dry-run");
    expect(output).toContain(`rigbridge: 0.1.0 to ${version}`);
    expect(code).toBe(0);
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("tag")).toBe("v0.1.0");
  });

  test("of the version that stands there is possible as long as it has no tag", async () => {
    expect((await release("0.1.0", "--dry-run")).output).toContain("v0.1.0 is already released");
    await git("tag", "--delete", "v0.1.0");
    expect((await release("0.1.0", "--dry-run")).code).toBe(0);
  });
});

describe("no release is made", () => {
  const refused = async (said: string, ...args: string[]) => {
    const head = await git("rev-parse", "HEAD");
    const { code, output } = await release(...args);
    expect(output).toContain(said);
    expect(code).toBe(1);
    expect(await git("rev-parse", "HEAD")).toBe(head);
    expect(await git("tag")).toBe("v0.1.0");
  };

  test.each([
    ["Give one version"],
    ["Give one version", "patch", "minor"],
    ["next is not a version", "next"],
    ["0.2 is not a version", "0.2"],
    ["0.0.9 is lower than the present version, 0.1.0", "0.0.9"],
    ["--force is not an option", "--force", "patch"],
  ])("%s: %s %s", (said, ...args) => refused(said, ...args));

  test("from another branch", async () => {
    await git("checkout", "--quiet", "-b", "other");
    await refused("Releases are made from main", "patch");
  });

  test("with changes that are not committed", async () => {
    await put("passes.mjs", "// changed");
    await refused("The working tree has uncommitted changes", "patch");
  });

  test("without a heading for it in the changelog, or with nothing under that", async () => {
    await put("CHANGELOG.md", changelog.replace("not released yet", "2026-02-01"));
    await commit();
    await refused("CHANGELOG.md has no heading", "patch");
    await put("CHANGELOG.md", changelog.replace("- Something new.\n", ""));
    await commit();
    await refused("CHANGELOG.md lists no changes", "patch");
  });

  test("when the tests fail", async () => {
    await put("passes.mjs", "process.exitCode = 1;");
    await commit();
    await refused("The tests fail", "patch");
  });
});
