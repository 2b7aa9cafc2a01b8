import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { within } from "../until.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end, with nothing of npm's or Jest's settings around this one. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|INIT_CWD|RIGBRIDGE_)/i.test(name));
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...Object.fromEntries(kept), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

/** Throws with what the program said unless it ended well. */
export async function must(
  command: string,
  args: readonly string[],
  cwd: string,
  env?: NodeJS.ProcessEnv,
): Promise<string> {
  const { code, output } = await run(command, args, cwd, env);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
  return output;
}

/** What the Dockerfile's first stage copies, as pairs of names: of the checkout, and of its folder. */
export async function copied(): Promise<readonly (readonly [from: string, to: string])[]> {
  const [stage = ""] = (await readFile(join(root, "packaging", "docker", "Dockerfile"), "utf8"))
    .split(/^FROM .*\n/m)
    .slice(1);
  return [...stage.matchAll(/^COPY (.+) (\S+)$/gm)].flatMap(([, sources = "", to = ""]) =>
    sources.split(" ").map((from) => [from, to === "./" ? from : to] as const),
  );
}

/** Builds and packs in a folder what the Dockerfile would, with the packages installed in the checkout; the tarball. */
export async function pack(folder: string): Promise<string> {
  for (const [from, to] of await copied()) await cp(join(root, from), join(folder, to), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await must(process.execPath, [join(folder, "scripts", "packages.mjs"), "src"], folder);
  const out = join(folder, "out");
  await mkdir(out);
  await must("npm", ["pack", "--silent", "--pack-destination", out], folder);
  const [file = ""] = await readdir(out);
  return join(out, file);
}

const Lock = z.object({
  version: z.string(),
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      dev: z.boolean().optional(),
      link: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      inBundle: z.boolean().optional(),
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      dependencies: z.record(z.string(), z.string()).optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

export const readLock = async () => Lock.parse(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")));

/** Unpacks it into a project where nothing but its own dependencies is installed besides; the package's folder. */
export async function unpack(tarball: string, project: string): Promise<string> {
  const installed = join(project, "node_modules");
  const folder = join(installed, "rigbridge");
  await mkdir(folder, { recursive: true });
  await must("tar", ["-xzf", tarball, "--strip-components=1", "-C", folder], project);
  for (const [path, { dev, link: isLink }] of Object.entries((await readLock()).packages)) {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    if (name === undefined || dev === true || isLink === true) continue;
    await link(name, installed);
  }
  return folder;
}

/** A package of the checkout, in a project's node_modules. */
export async function link(name: string, installed: string): Promise<void> {
  await mkdir(dirname(join(installed, name)), { recursive: true });
  const place = join(installed, name);
  if (!existsSync(place)) await symlink(join(root, "node_modules", name), place);
}

/** A program that gets hold of every export, by import and by require(), and says what it found. */
export const importer = (entries: readonly string[]): string => `
  import { createRequire } from "node:module";
  const require = createRequire(import.meta.url);
  for (const entry of ${JSON.stringify(entries)}) {
    const imported = Object.keys(await import(entry)).filter((name) => name !== "module.exports").sort();
    const required = Object.keys(require(entry)).filter((name) => name !== "__esModule").sort();
    if (imported.length === 0 || imported.join() !== required.join()) throw new Error(entry + " differs");
    console.log(entry, imported.join(" "));
  }
`;

/** What a program in TypeScript writes against the package. */
export const typedProgram = `
  import { operations, RigbridgeError, type MiningService, version } from "rigbridge";
  import { connectService } from "rigbridge/client";
  import { startService } from "rigbridge/service";
  import { startFarm } from "rigbridge/simulator";

  const service: MiningService = connectService({ url: "http://127.0.0.1:17790" });
  export const names: Promise<string[]> = service
    .listMiners({}, { actor: "test" })
    .then(({ groupList }) => groupList.flatMap(({ minerList }) => minerList.map(({ name }) => name)));
  export const path: string = operations.listMiners.path + version;
  export const refused = new RigbridgeError("input.invalid", "x").code satisfies string;
  export const starts = [startService, startFarm];
  // @ts-expect-error there is no such call, so the types are really read
  service.listMinerz({});
`;

export const typedSettings = {
  compilerOptions: {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024"],
    types: ["node"],
    strict: true,
    noEmit: true,
  },
  files: ["program.ts"],
};

/** Where a service that was started says that it listens, in its log, which is JSON where stdout is no terminal. */
export async function urlSaid(child: ChildProcess): Promise<string> {
  let said = "";
  const saying = async (): Promise<string> => {
    for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
      said += String(chunk);
      const [, url] = /"url":"([^"]+)"/.exec(said) ?? [];
      if (url === undefined) continue;
      child.stdout?.resume();
      return url;
    }
    throw new Error(`It ended before it was ready:\n${said}`);
  };
  return within(saying(), "the service to say where it listens", { details: () => said });
}
