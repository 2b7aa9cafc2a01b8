import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPackages, filesUnder, sources } from "./packages.mjs";
import { nodeFile, root, spawned } from "./run.mjs";

/**
 * Installs and builds what is missing or older than what stands in the folder; says on stderr what it does, and
 * nothing when there is nothing to do. Whether it is older is told by hashes, since git sets no useful times.
 * `frontEnds`: those of Node-RED and Homebridge too, whose tests bring twice as much along.
 * Resolves with false when a step failed; what the step said has then been shown.
 */
export async function setUp({ frontEnds }) {
  const steps = [];
  if (!isInstalled(frontEnds)) steps.push({ words: "Installing packages", run: () => install(frontEnds) });
  // An installation is part of what the build depends on, so it is asked for again once that is done.
  if (steps.length > 0 || !isBuilt(frontEnds)) steps.push({ words: "Building", run: () => build(frontEnds) });
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

/** What is installed or built without the front ends is stamped so. */
const without = " without front ends";

const isInstalled = (frontEnds) =>
  [lockHash(), ...(frontEnds ? [] : [lockHash() + without])].includes(stampIn(installStamp));

const isBuilt = (frontEnds) =>
  [sourceHash(true), ...(frontEnds ? [] : [sourceHash(false)])].includes(stampIn(buildStamp));

const lockHash = () => hashOf(["package-lock.json"]);

/** Of all that the build is made from. */
const sourceHash = (frontEnds) =>
  hashOf(["package-lock.json", "tsconfig.json", ...sourcesOf(frontEnds).flatMap(filesUnder)]);

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
 * null, or what npm said. The versions are those of the lock file, which is left as it is. Not `npm ci`, which would
 * first throw away all that is installed, also when one package of many is new.
 */
async function install(frontEnds) {
  const npm = process.env.npm_execpath ?? "";
  const stamp = stampIn(installStamp);
  // Front ends that somebody works on stay.
  const all = frontEnds || (stamp !== "" && !stamp.endsWith(without));
  const args = ["install", "--no-save", "--include=dev", "--no-audit", "--no-fund"];
  if (!all) args.push("--workspaces=false");
  const { code, output } = /npm-cli\.c?js$/.test(npm)
    ? await spawned(process.execPath, [npm, ...args])
    : await spawned("npm", args);
  if (code !== 0) return output;
  if (!existsSync(nodeFile))
    return "The package `node` was installed without its program; does npm ignore scripts here?";
  writeFileSync(installStamp, lockHash() + (all ? "" : without));
  return null;
}

/** null, or what the compiler said. */
async function build(frontEnds) {
  const hash = sourceHash(frontEnds);
  const failure = await buildPackages(sourcesOf(frontEnds));
  if (failure === null) writeFileSync(buildStamp, hash);
  return failure;
}

/** A line that counts the seconds on a terminal, and is written once at the beginning and once at the end elsewhere. */
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
