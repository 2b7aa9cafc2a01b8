import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { importer, must, pack, root, run, typedProgram, typedSettings, urlSaid } from "../package/packed.ts";
import { within } from "../until.ts";

/**
 * The packed package, as somebody installs it: into an empty project with npm, imported and required by every export,
 * with types that resolve, and started, on the lowest Node that is promised and on those that are current.
 */
const nodes = ["22.13.0", "22", "24", "26"];

const home = await mkdtemp(join(tmpdir(), "rigbridge-package-"));

async function main(): Promise<void> {
  try {
    const build = join(home, "build");
    await mkdir(build);
    const tarball = await pack(build);
    say(`The package is ${Math.round((await stat(tarball)).size / 1024)} KB packed`);
    const Manifest = z.object({ exports: z.record(z.string(), z.unknown()) });
    const { exports } = Manifest.parse(JSON.parse(await readFile(join(build, "package.json"), "utf8")));
    const entries = Object.keys(exports).map((entry) => entry.replace(/^\./, "rigbridge"));
    for (const [index, version] of nodes.entries()) {
      const node = await nodeOf(version);
      if (node === undefined) continue;
      await tryOn(node, {
        tarball,
        entries,
        address: `127.105.1.${index + 1}`,
        project: join(home, `project-${version}`),
      });
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The program of a Node from the npm registry; undefined, and said so, where it cannot be had. */
async function nodeOf(version: string): Promise<string | undefined> {
  const folder = join(home, `node-${version}`);
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const { code, output } = await run("npm", ["install", "--no-audit", "--no-fund", `node@${version}`], folder);
  const program = join(folder, "node_modules", "node", "bin", "node");
  if (code === 0) return program;
  say(`Node ${version} is left out, npm could not install it: ${output.trim().split("\n").slice(-1)}`);
  return undefined;
}

interface Trial {
  readonly tarball: string;
  readonly entries: readonly string[];
  readonly address: string;
  readonly project: string;
}

async function tryOn(node: string, { tarball, entries, address, project }: Trial): Promise<void> {
  // npm's own program, and the command that it installs, find Node by name.
  const env = { PATH: [dirname(node), process.env.PATH].join(delimiter), XDG_DATA_HOME: join(project, "data") };
  const version = (await must(node, ["--version"], home)).trim();
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const start = performance.now();
  const installed = await must("npm", ["install", "--no-audit", "--no-fund", tarball], project, env);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (/install-scripts|EBADENGINE/.test(installed)) throw new Error(`npm on ${version} warns:\n${installed}`);
  say(`${version}: npm installed it into an empty project in ${seconds} s`);

  await writeFile(join(project, "import.mjs"), importer(entries));
  await must(node, ["import.mjs"], project, env);
  say(`${version}: ${entries.join(", ")} come by import and by require()`);

  await checkTypes(node, project, env);
  say(`${version}: a strict program (nodenext, libraries' types checked too) finds the types`);

  say(`${version}: the command starts, reads its demo farm and stops in ${await started(project, address, env)} s`);
}

const Version = z.object({ version: z.string() });
const versionOf = async (name: string): Promise<string> =>
  Version.parse(JSON.parse(await readFile(join(root, "node_modules", name, "package.json"), "utf8"))).version;

async function checkTypes(node: string, project: string, env: NodeJS.ProcessEnv): Promise<void> {
  const needed = ["typescript", "@types/node"];
  const pinned = await Promise.all(needed.map(async (name) => `${name}@${await versionOf(name)}`));
  await must("npm", ["install", "--no-audit", "--no-fund", ...pinned], project, env);
  await writeFile(join(project, "program.ts"), typedProgram);
  await writeFile(join(project, "tsconfig.json"), JSON.stringify(typedSettings));
  await must(node, [join("node_modules", "typescript", "bin", "tsc"), "-p", "."], project, env);
}

/** Seconds from start to stop, with the answers that were asked for between. */
async function started(project: string, address: string, env: NodeJS.ProcessEnv): Promise<string> {
  const start = performance.now();
  const command = join(project, "node_modules", ".bin", "rigbridge");
  const child = spawn(command, ["serve", "--demo", "--host", address, "--port", "0"], {
    cwd: project,
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const url = await urlSaid(child);
    for (const path of ["/health", "/api/summary", "/api/miners", "/metrics", "/openapi.json", "/docs"]) {
      const answer = await fetch(url + path, { signal: AbortSignal.timeout(10_000) });
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
      await answer.arrayBuffer();
    }
  } finally {
    child.kill("SIGTERM");
  }
  const [code] = await within(ended, "the service to end");
  if (code !== 0) throw new Error(`It ended with ${code}`);
  return ((performance.now() - start) / 1000).toFixed(1);
}

await main();
