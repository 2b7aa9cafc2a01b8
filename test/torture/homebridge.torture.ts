import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFarm } from "../../src/simulator/index.ts";
import { startHomebridge } from "../homebridge/homebridge.ts";
import { must, pack, root, run } from "../package/packed.ts";
import { until } from "../until.ts";

/**
 * The packed plugin, as Homebridge's user interface installs it: with npm into an empty folder, then loaded by a real
 * Homebridge on every Node that is promised, where it shows a virtual rig, stops and starts it, and ends by itself. Its
 * settings page's process answers on each, too. Says how large it is when it is installed.
 */
const nodes = ["22.13.0", "22", "24", "26"];

const home = await mkdtemp(join(tmpdir(), "rigbridge-plugin-"));

async function main(): Promise<void> {
  try {
    const plugin = await installed();
    for (const version of nodes) {
      const node = await nodeOf(version);
      if (node !== undefined) await tryOn(node, plugin);
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The folder of the installed plugin. */
async function installed(): Promise<string> {
  const build = join(home, "build");
  const out = join(home, "out");
  const project = join(home, "project");
  for (const folder of [build, out, project]) await mkdir(folder);
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true }));
  const service = await pack(build);
  await must("npm", ["pack", "--silent", "--pack-destination", out], join(root, "homebridge"));
  const tarballs = [service, ...(await readdir(out)).map((file) => join(out, file))];
  await must("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...tarballs], project);
  const modules = join(project, "node_modules");
  const bytes = await sizeOf(modules);
  const packages = (await must("npm", ["ls", "--all", "--parseable"], project)).trim().split("\n").length - 1;
  say(`The plugin is ${Math.round(bytes / 1e6)} MB installed, with ${packages} packages`);
  return join(modules, "homebridge-rigbridge");
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  let bytes = 0;
  for (const file of files) bytes += (await stat(file)).size;
  return bytes;
}

/** The program of a Node from the npm registry; undefined, and said so, where it cannot be had. */
async function nodeOf(version: string): Promise<string | undefined> {
  const folder = join(home, `node-${version}`);
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const { code, output } = await run("npm", ["install", "--no-audit", "--no-fund", `node@${version}`], folder);
  if (code === 0) return join(folder, "node_modules", "node", "bin", "node");
  say(`Node ${version} is left out, npm could not install it: ${output.trim().split("\n").slice(-1)}`);
  return undefined;
}

async function tryOn(node: string, plugin: string): Promise<void> {
  const version = (await must(node, ["--version"], home)).trim();
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("the farm has no rig");
  const rigs = [{ address: rig.address, name: "Garage", interval: 1 }];
  const homebridge = await startHomebridge({ platform: { name: "Rigbridge", rigs }, node, plugin });
  const { controller } = homebridge;
  try {
    await until(
      async () => (await controller.accessories()).some(({ name }) => name === "Garage"),
      "the rig to appear",
    );
    const on = await controller.find("Garage", "outlet", "on");
    await until(async () => (await controller.read(on)).value === 1, "the outlet to show that it is on");
    for (const wanted of [false, true]) {
      if ((await controller.write(on, wanted)) !== 0) throw new Error(`${version}: the rig could not be switched`);
      await until(() => rig.model.mining === wanted, `the rig to ${wanted ? "start" : "stop"}`);
    }
    const { code } = await homebridge.stop();
    if (code !== 0) throw new Error(`${version}: Homebridge ended with ${code}`);
    const bad = homebridge.lines.filter((line) => /error|deprecat|unhandled/i.test(line));
    if (bad.length > 0) throw new Error(`${version}: Homebridge said\n${bad.join("\n")}`);
    await checkPage(node, plugin);
    say(`${version}: Homebridge shows the rig, stops and starts it, and ends; the settings page's process answers`);
  } catch (error) {
    throw new Error(`${version}:\n${homebridge.lines.join("\n")}`, { cause: error });
  } finally {
    await homebridge.close();
    await farm.close();
  }
}

/** Asks the process of the settings page what is wrong with something that is wrong. */
async function checkPage(node: string, plugin: string): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: "", HOMEBRIDGE_STORAGE_PATH: home };
  const child = fork(join(plugin, "homebridge-ui/server.js"), [], { execPath: node, execArgv: [], env, silent: true });
  const signal = AbortSignal.timeout(60_000);
  await once(child, "message", { signal });
  child.send({ path: "/check", requestId: "1", action: "request", body: { rigs: [{ address: "a b" }] } });
  const [answer] = await once(child, "message", { signal });
  child.disconnect();
  await once(child, "exit", { signal });
  if (!/rigs\[0\]\.address/.test(JSON.stringify(answer))) throw new Error(`/check answered ${JSON.stringify(answer)}`);
}

await main();
