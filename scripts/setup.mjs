import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPackages, filesUnder, sources } from "./packages.mjs";
import { nodeFile, root, spawned } from "./run.mjs";

/**
 * Installs and builds missing and outdated parts, with progress on stderr. Hashes detect outdated ones, because git
 * sets no useful times. `frontEnds` includes Node-RED and Homebridge, whose tests double the installation. Without
 * `building` it only installs. Resolves with false if a step failed, after printing its output.
 */
export async function setUp({ frontEnds, building = true }) {
  const steps = [];
  if (!isInstalled(frontEnds)) steps.push({ words: "Installing packages", run: () => install(frontEnds) });
  // The build depends on the installation.
  if (building && (steps.length > 0 || !isBuilt(frontEnds)))
    steps.push({ words: "Building", run: () => build(frontEnds) });
  for (const [index, { words, run }] of steps.entries()) {
    const line = progress(`${index + 1}/${steps.length} ${words} ...`);
    const failure = await run();
    line.end(failure === null ? "" : "failed");
    if (failure === null) continue;
    process.stderr.write(`\n${failure.trimEnd()}\n`);
    return false;
  }
  return true;
}

const installStamp = join(root, "node_modules", ".rigbridge-installed");
const buildStamp = join(root, "dist", ".rigbridge-built");

const stampIn = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");

/** Marks an installation or build without the front ends. */
const without = " without front ends";

const isInstalled = (frontEnds) =>
  [lockHash(), ...(frontEnds ? [] : [lockHash() + without])].includes(stampIn(installStamp));

const isBuilt = (frontEnds) =>
  [sourceHash(true), ...(frontEnds ? [] : [sourceHash(false)])].includes(stampIn(buildStamp));

const lockHash = () => hashOf(["package-lock.json"]);

/** Over all inputs of the build. */
const sourceHash = (frontEnds) =>
  hashOf([
    "package-lock.json",
    "tsconfig.json",
    "scripts/web.mjs",
    "scripts/first-load.mjs",
    ...sourcesOf(frontEnds).flatMap(filesUnder),
  ]);

const sourcesOf = (frontEnds) => (frontEnds ? sources : ["src"]);

function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) {
    const bytes = readFileSync(join(root, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/**
 * Resolves with null, or with npm's output. Installs the versions of the lock file without changing it. Not `npm ci`,
 * which deletes everything installed even if one package is new.
 */
async function install(frontEnds) {
  const npm = process.env.npm_execpath ?? "";
  const stamp = stampIn(installStamp);
  // Front ends that are installed stay installed.
  const all = frontEnds || (stamp !== "" && !stamp.endsWith(without));
  const args = ["install", "--no-save", "--include=dev", "--no-audit", "--no-fund"];
  if (!all) args.push("--workspaces=false");
  const { code, output } = /npm-cli\.c?js$/.test(npm)
    ? await spawned(process.execPath, [npm, ...args])
    : await spawned("npm", args);
  if (code !== 0) return output;
  if (!existsSync(nodeFile))
    return "npm installed the package `node` without its program; allow its install script (ignore-scripts must be off).";
  writeFileSync(installStamp, lockHash() + (all ? "" : without));
  return null;
}

/** Resolves with null, or with the compiler's output. */
async function build(frontEnds) {
  const hash = sourceHash(frontEnds);
  const failure = await buildPackages(sourcesOf(frontEnds));
  if (failure === null) writeFileSync(buildStamp, hash);
  return failure;
}

/** A line that counts the seconds on a terminal; elsewhere one line at the start and one at the end. */
function progress(words) {
  const { stderr } = process;
  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  const draw = () => stderr.write(`\r${words}  ${seconds()}`);
  const timer = stderr.isTTY ? setInterval(draw, 200) : undefined;
  stderr.write(stderr.isTTY ? words : `${words}\n`);
  return {
    end(outcome) {
      clearInterval(timer);
      stderr.write(`${stderr.isTTY ? "\r" : ""}${words}  ${seconds()}${outcome === "" ? "" : `, ${outcome}`}\n`);
    },
  };
}
