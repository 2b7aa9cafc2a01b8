import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `npm run release -- patch|minor|major|X.Y.Z [--dry-run]`: gives the packages one version, dates the changelog,
 * commits, tags and builds the files. It prints the commands that publish and runs none of them.
 */
function main(args) {
  try {
    const plan = planned(args);
    if (args.includes("--dry-run")) return say(["Dry run. A release would do:", ...plan.steps]);
    for (const args of [["test"], ["run", "torture", "--", "whole"]])
      if (run("npm", args) !== 0) return refuse("The tests fail; nothing is released.");
    checkTree();
    carryOut(plan);
    if (run("npm", ["run", "packaging"]) !== 0)
      return refuse(`${plan.tag} is committed and tagged here, but its files cannot be built; publish nothing.`);
    return say([`Released as ${plan.tag} in this clone.`, "", ...publishing(plan)]);
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    throw error;
  }
}

class Refusal extends Error {}

const root = fileURLToPath(new URL("..", import.meta.url));
const folders = ["", "client", "nodes", "homebridge"];
const lists = ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"];

const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
const run = (command, args) => spawnSync(command, args, { cwd: root, stdio: "inherit" }).status ?? 1;
const readText = (file) => readFileSync(join(root, file), "utf8");
const readJson = (file) => JSON.parse(readText(file));
const writeJson = (file, value) => writeFileSync(join(root, file), `${JSON.stringify(value, null, 2)}\n`);

function say(lines) {
  for (const line of lines) console.log(line);
  return 0;
}

function refuse(sentence) {
  console.error(sentence);
  return 1;
}

/** The steps of a release, none of them done. Throws a Refusal. */
function planned(args) {
  const unknown = args.filter((arg) => arg.startsWith("-") && arg !== "--dry-run");
  if (unknown.length > 0) throw new Refusal(`${unknown[0]} is not an option; only --dry-run is.`);
  const manifests = folders.map((folder) => ({ folder, manifest: readJson(join(folder, "package.json")) }));
  const { version: present } = manifests[0].manifest;
  const version = nextVersion(
    present,
    args.filter((arg) => arg !== "--dry-run"),
  );
  const tag = `v${version}`;
  if (git("branch", "--show-current") !== "main") throw new Refusal("Releases are made from main; check it out first.");
  checkTree();
  if (git("tag", "--list", tag) !== "") throw new Refusal(`${tag} is already released; give a higher version.`);
  const changelog = datedChangelog(version);
  const steps = [
    "npm test",
    "npm run torture -- whole: the tests of which npm test runs a part",
    ...manifests.map(({ manifest }) => `${manifest.name}: ${manifest.version} to ${version}`),
    `CHANGELOG.md: ${changelog.heading}`,
    `a commit and the tag ${tag}`,
    "npm run packaging: the files of the release, an SBOM and SHA256SUMS, in .rigbridge/packages",
  ];
  return { version, tag, manifests, changelog, steps };
}

function checkTree() {
  if (git("status", "--porcelain") !== "")
    throw new Refusal("The working tree has uncommitted changes; commit them first.");
}

const numbers = (version) => /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(version)?.slice(1).map(Number);

/** Throws a Refusal for anything but a version or step. The present version is allowed: it may have no tag yet. */
function nextVersion(present, wanted) {
  const [step] = wanted;
  if (wanted.length !== 1) throw new Refusal("Give one version: patch, minor, major or X.Y.Z.");
  const [major, minor, patch] = numbers(present);
  if (step === "major") return `${major + 1}.0.0`;
  if (step === "minor") return `${major}.${minor + 1}.0`;
  if (step === "patch") return `${major}.${minor}.${patch + 1}`;
  const given = numbers(step);
  if (given === undefined) throw new Refusal(`${step} is not a version; give patch, minor, major or X.Y.Z.`);
  const higher = given.map((number, index) => number - [major, minor, patch][index]).find((by) => by !== 0) ?? 0;
  if (higher < 0) throw new Refusal(`${step} is lower than the present version, ${present}.`);
  return step;
}

/** The newest heading must be marked "not released yet" and have entries. */
function datedChangelog(version) {
  const text = readText("CHANGELOG.md");
  const [, section = ""] = text.split(/^(?=## )/m);
  const [waiting = "", ...body] = section.split("\n");
  if (!/^## .*not released yet$/.test(waiting))
    throw new Refusal('CHANGELOG.md has no heading "## X.Y.Z, not released yet" at its top; add one with the changes.');
  if (body.join("").trim() === "") throw new Refusal("CHANGELOG.md lists no changes for this release; add them first.");
  const heading = `## ${version}, ${new Date().toISOString().slice(0, 10)}`;
  return { heading, text: text.replace(waiting, heading) };
}

function carryOut({ version, tag, manifests, changelog }) {
  const names = manifests.map(({ manifest }) => manifest.name);
  const versioned = (entry) => {
    entry.version = version;
    for (const list of lists)
      for (const name of names) if (entry[list]?.[name] !== undefined) entry[list][name] = `^${version}`;
  };
  const lock = readJson("package-lock.json");
  lock.version = version;
  for (const { folder, manifest } of manifests) {
    versioned(manifest);
    writeJson(join(folder, "package.json"), manifest);
    if (lock.packages[folder] !== undefined) versioned(lock.packages[folder]);
  }
  writeJson("package-lock.json", lock);
  writeFileSync(join(root, "CHANGELOG.md"), changelog.text);
  git("commit", "--all", "--message", `Release ${version}`);
  git("tag", "--annotate", tag, "--message", `Rigbridge ${version}`);
}

function publishing({ tag, manifests }) {
  const [open, kept] = [false, true].map((isKept) =>
    manifests.filter(({ manifest }) => isKept === (manifest.private === true)),
  );
  const unready = open.filter(({ manifest }) => manifest.repository === undefined);
  return [
    "Push it, and publish from a CI job with an OIDC token, which provenance requires:",
    "",
    `  git push origin main ${tag}`,
    "  npm ci && npm run build",
    ...open.map(
      ({ folder }) => `  npm publish --provenance --access public${folder === "" ? "" : ` --workspace ${folder}`}`,
    ),
    `  gh release create ${tag} --verify-tag .rigbridge/packages/*    # not tried yet`,
    ...unready.map(({ manifest }) => `\nProvenance needs "repository" in package.json, which ${manifest.name} lacks.`),
    ...kept.map(({ manifest }) => `${manifest.name} is private and is not published.`),
  ];
}

process.exitCode = main(process.argv.slice(2));
