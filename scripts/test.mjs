import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { childEnvironment, inPlace, nodeFile, packageFile, root, spawned } from "./run.mjs";
import { setUp } from "./setup.mjs";

/** Parts of the system that tests use: the command, its Debian package, and what is left out without it. */
const systemParts = [
  { command: "chromium", debian: "chromium", leftOut: "the tests of pages and editors in a real browser" },
  { command: "curl", debian: "curl", leftOut: "the end-to-end tests that call the API with curl" },
  { command: "mosquitto", asked: ["-h"], debian: "mosquitto", leftOut: "the MQTT bridge at a real broker" },
  { command: "openssl", asked: ["version"], debian: "openssl", leftOut: "the MQTT bridge at a broker with TLS" },
  {
    command: "prometheus",
    debian: "prometheus",
    leftOut: "the queries of the example dashboard on a real Prometheus, and promtool's check of /metrics",
  },
];

/** Every check, in order; arguments go to Jest: `npm test -- test/link`. */
const checks = [
  { name: "Format and lint", command: ["@biomejs/biome", "biome"], args: ["ci", "."] },
  { name: "Types", command: ["typescript", "tsc"], args: ["-p", "."] },
  {
    name: "Tests",
    command: ["jest", "jest"],
    args: process.argv.slice(2),
    env: { NODE_OPTIONS: "--experimental-vm-modules --disable-warning=ExperimentalWarning" },
  },
];

/** `npm test`: installs and builds what is missing, then runs every check, and fails when one of them does. */
async function main() {
  if (!(await setUp({ frontEnds: true }))) return 1;
  await installSystemParts(systemParts.filter((part) => !isThere(part)));
  const failed = [];
  for (const { name, command, args, env } of checks) {
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

/** Some answer no `--version`, and some answer with a code of their own. */
function isThere({ command, asked = ["--version"] }) {
  const { error } = spawnSync(command, asked, { stdio: "ignore" });
  return error === undefined;
}

/** As root on Debian and its kind; anybody else is told what is missing. */
async function installSystemParts(missing) {
  if (missing.length === 0) return;
  const packages = missing.map(({ debian }) => debian);
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.error(`Installing ${packages.join(", ")} ...`);
    // Nothing is started as a service for a test's sake.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1" };
    const update = await spawned("apt-get", ["update"], env);
    const { code, output } = await spawned("apt-get", ["install", "-y", "--no-install-recommends", ...packages], env);
    if (code !== 0) console.error(`${update.output}\n${output}`);
  }
  for (const part of missing) {
    const { command, debian, leftOut } = part;
    if (!isThere(part)) console.error(`${command} is missing (Debian package ${debian}); left out: ${leftOut}`);
  }
}

process.exitCode = await main();
