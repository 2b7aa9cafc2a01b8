import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { filesUnder } from "./packages.mjs";
import { childEnvironment, inPlace, nodeFile, packageFile, root, spawned } from "./run.mjs";
import { setUp } from "./setup.mjs";

/** System programs that tests use: alternative commands, their Debian package, and the tests skipped without it. */
const systemParts = [
  {
    // The headless shell is the same browser with less overhead.
    commands: ["chromium-headless-shell", "chromium"],
    debian: "chromium-headless-shell",
    leftOut: "the tests of pages and editors in a real browser",
  },
  { commands: ["curl"], debian: "curl", leftOut: "the end-to-end tests that call the API with curl" },
  { commands: ["mosquitto"], asked: ["-h"], debian: "mosquitto", leftOut: "the MQTT bridge at a real broker" },
  { commands: ["openssl"], asked: ["version"], debian: "openssl", leftOut: "the MQTT bridge at a broker with TLS" },
  {
    commands: ["prometheus"],
    debian: "prometheus",
    leftOut: "the queries of the example dashboard on a real Prometheus, and promtool's check of /metrics",
  },
];

const given = process.argv.slice(2);
/** The projects of Jest; all others are Vitest's, whose tests move to Jest next. */
const onJest = ["unit", "runner"];
const tests = filesUnder("test").filter((file) => file.endsWith(".test.ts") && !file.startsWith("test/runner/cases/"));
const runsOnJest = (file) => file.endsWith(".unit.test.ts") || file.startsWith("test/runner/");

/** Every check, in order; arguments go to the tests: `npm test -- test/link`, `npm test -- --changed`. */
const checks = [
  { name: "Format and lint", command: ["@biomejs/biome", "biome"], args: ["ci", "."] },
  {
    name: "Types",
    command: ["typescript", "tsc"],
    args: ["-p", ".", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/types.tsbuildinfo"],
  },
  {
    name: "Types of the dashboard",
    command: ["typescript", "tsc"],
    args: ["-p", "src/web", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/web-types.tsbuildinfo"],
  },
  {
    name: "Unit tests",
    command: ["jest", "jest"],
    args: jestArguments(),
    env: { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
    isLeftOut: !concerns(runsOnJest, (project) => onJest.includes(project)),
  },
  {
    name: "Integration tests",
    command: ["vitest", "vitest"],
    args: ["run", ...given],
    env: { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
    isLeftOut: !concerns(
      (file) => !runsOnJest(file),
      (project) => !onJest.includes(project),
    ),
  },
];

/** What is given, in options with a value and in words. */
function parsed() {
  const options = new Map();
  const words = [];
  for (let at = 0; at < given.length; at += 1) {
    const [name, value] = given[at].split("=");
    const next = given[at + 1];
    const takesNext = ["--project", "--changed", "-t", "--testNamePattern"].includes(name) && value === undefined;
    if (!name.startsWith("-")) words.push(given[at]);
    else if (takesNext && next !== undefined && !next.startsWith("-")) {
      options.set(name, next);
      at += 1;
    } else options.set(name, value);
  }
  return { options, words };
}

/** Whether a runner has to run: the project that is given is one of its own, or a file of its own fits a word. */
function concerns(isOwnFile, isOwnProject) {
  const { options, words } = parsed();
  const project = options.get("--project");
  if (project !== undefined) return isOwnProject(project);
  // A word that fits no file fails the integration tests.
  if (words.length === 0 || !tests.some(fits)) return true;
  return tests.some((file) => isOwnFile(file) && fits(file));
  function fits(file) {
    return words.some((word) => file.includes(word));
  }
}

/** `--project unit` and `--changed [commit]` are shorter than what Jest calls them. */
function jestArguments() {
  const { options, words } = parsed();
  const args = [...words, "--passWithNoTests"];
  let project;
  for (const [name, value] of options)
    if (name === "--project") project = value;
    else if (name === "--changed") args.push(value === undefined ? "--onlyChanged" : `--changedSince=${value}`);
    else args.push(value === undefined ? name : `${name}=${value}`);
  // Last, because Jest takes all words after it for projects.
  return project === undefined ? args : [...args, "--selectProjects", project];
}

/** `npm test`: installs and builds what is missing, then runs every check, and fails when one of them does. */
async function main() {
  // In parallel, because apt waits for the network while npm unpacks.
  const installing = installSystemParts(systemParts.filter((part) => !isThere(part)));
  const isSetUp = await setUp({ frontEnds: true });
  await installing;
  if (!isSetUp) return 1;
  const failed = [];
  for (const { name, command, args, env, isLeftOut = false } of checks) {
    if (isLeftOut) continue;
    const start = performance.now();
    console.log(`\n== ${name}`);
    const code = await inPlace(nodeFile, [packageFile(...command), ...args], { cwd: root, env: childEnvironment(env) });
    if (code !== 0) failed.push(name);
    console.log(`== ${name}: ${code === 0 ? "ok" : "FAILED"}, ${Math.round((performance.now() - start) / 100) / 10} s`);
    if (code > 128) return code;
  }
  console.log(failed.length === 0 ? "\nAll checks passed." : `\nFAILED: ${failed.join(", ")}.`);
  return failed.length === 0 ? 0 : 1;
}

/** Runs it, whatever its exit code: some commands have no `--version`. */
function isThere({ commands, asked = ["--version"] }) {
  return commands.some((command) => spawnSync(command, asked, { stdio: "ignore" }).error === undefined);
}

/** Installs them as root on Debian and its derivatives; elsewhere prints what is missing. */
async function installSystemParts(missing) {
  if (missing.length === 0) return;
  const packages = missing.map(({ debian }) => debian);
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.error(`Installing ${packages.join(", ")} ...`);
    // Do not start the packages' services.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1" };
    const update = await spawned("apt-get", ["update"], env);
    const { code, output } = await spawned("apt-get", ["install", "-y", "--no-install-recommends", ...packages], env);
    if (code !== 0) console.error(`${update.output}\n${output}`);
  }
  for (const part of missing) {
    const { commands, debian, leftOut } = part;
    if (!isThere(part)) console.error(`${commands[0]} is missing (Debian package ${debian}); skipped: ${leftOut}`);
  }
}

process.exitCode = await main();
