import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { childEnvironment, inPlace, nodeFile, packageFile, root, spawned } from "./run.mjs";
import { setUp } from "./setup.mjs";

/**
 * System programs that tests use: the command, what does in its place, its Debian package, and the tests skipped without
 * both.
 */
const systemParts = [
  {
    // The headless shell is the same browser with less overhead.
    commands: ["chromium-headless-shell", "chromium"],
    debian: "chromium-headless-shell",
    leftOut: "the tests of pages and editors in a real browser",
  },
  { commands: ["curl"], debian: "curl", leftOut: "the end-to-end tests that call the API with curl" },
  {
    commands: ["haproxy", "/usr/sbin/haproxy"],
    asked: ["-v"],
    debian: "haproxy",
    leftOut: "the load balancer of two services with one store",
  },
  { commands: ["mosquitto"], asked: ["-h"], debian: "mosquitto", leftOut: "the MQTT bridge at a real broker" },
  { commands: ["openssl"], asked: ["version"], debian: "openssl", leftOut: "the MQTT bridge at a broker with TLS" },
  {
    // Debian keeps `postgres` outside PATH; this command of its package is there.
    commands: ["pg_ctlcluster", "postgres"],
    debian: "postgresql",
    leftOut: "stores in a real PostgreSQL",
  },
  {
    commands: ["prometheus"],
    debian: "prometheus",
    leftOut: "the queries of the example dashboard on a real Prometheus, and promtool's check of /metrics",
  },
  { commands: ["zbarimg"], debian: "zbar-tools", leftOut: "reading the codes of printed labels" },
];

/** Every check, in order; arguments go to Jest: `npm test -- test/link`, `npm test -- --changed`. */
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
    name: "Tests",
    command: ["jest", "jest"],
    args: jestArguments(process.argv.slice(2)),
    env: { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
  },
];

/** `--project unit` and `--changed [commit]` are shorter than what Jest calls them. */
function jestArguments(given) {
  const args = [];
  const projects = [];
  for (let at = 0; at < given.length; at += 1) {
    const [name, value] = given[at].split("=");
    const next = given[at + 1];
    const parameter = value ?? (next === undefined || next.startsWith("-") ? undefined : next);
    const takes = value === undefined && parameter !== undefined ? 1 : 0;
    if (name === "--changed") {
      args.push(parameter === undefined ? "--onlyChanged" : `--changedSince=${parameter}`);
      at += takes;
    } else if (name === "--project" && parameter !== undefined) {
      projects.push(parameter);
      at += takes;
    } else args.push(given[at]);
  }
  // Last, because Jest takes all words after it for projects.
  return projects.length === 0 ? args : [...args, "--selectProjects", ...projects];
}

/** `npm test`: installs and builds missing parts, then runs every check, and fails if one of them does. */
async function main() {
  // In parallel, because apt waits for the network while npm unpacks.
  const installing = installSystemParts(
    systemParts.filter(({ commands, asked }) => !isThere({ commands: commands.slice(0, 1), asked })),
  );
  const isSetUp = await setUp({ frontEnds: true });
  await installing;
  if (!isSetUp) return 1;
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

/** Runs it, whatever its exit code: some commands have no `--version`. */
function isThere({ commands, asked = ["--version"] }) {
  return commands.some((command) => spawnSync(command, asked, { stdio: "ignore" }).error === undefined);
}

/** Installs them as root on Debian and its derivatives; elsewhere prints the missing ones. */
async function installSystemParts(missing) {
  if (missing.length === 0) return;
  const packages = missing.map(({ debian }) => debian);
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.error(`Installing ${packages.join(", ")} ...`);
    if (packages.includes("postgresql")) preventDatabase();
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

/** Debian's package of PostgreSQL would create a database and start it; tests have their own. */
function preventDatabase() {
  const file = "/etc/postgresql-common/createcluster.conf";
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "create_main_cluster = false\n");
}

process.exitCode = await main();
