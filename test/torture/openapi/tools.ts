import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { say } from "../say.ts";

/** The generators, in versions that are known to work; kept in ~/.cache/rigbridge/openapi. */
const versions = {
  "openapi-python-client": "0.29.1",
  schemathesis: "4.32.5",
  "oapi-codegen": "v2.8.2",
  ogen: "v1.24.0",
} as const;
const npmPackages = [
  "@openapitools/openapi-generator-cli@2.41.0",
  "axios@1.21.1",
  "openapi-fetch@0.17.0",
  "openapi-typescript@7.13.0",
  "typescript@5.9.3",
  "@types/node@24.19.2",
];
const generatorVersion = "7.25.0";

export const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "rigbridge", "openapi");

/** What a command printed; what failed is said, with the end of what it printed. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<string | null> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let [out, all] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    all += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  if (code === 0) return out;
  // Schemathesis ends with pages of hints.
  const failures = all.indexOf("= FAILURES =");
  say(
    `${command.split("/").at(-1)} ${args.slice(0, 3).join(" ").slice(0, 200)} ended with ${code}:\n` +
      (failures === -1 ? all.slice(-3_000) : all.slice(failures, failures + 10_000)),
  );
  return null;
}

/** Whether a program is on this machine. */
export const isThere = (command: string, argument = "--version"): boolean =>
  spawnSync(command, [argument], { stdio: "ignore" }).status === 0;

/** Makes a folder of the cache once; one that could not be filled is removed, so that the next run tries again. */
export async function kept(name: string, fill: (folder: string) => Promise<boolean>): Promise<string | null> {
  const folder = join(cache, name);
  const stamp = join(folder, ".complete");
  if (existsSync(stamp)) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  say(`-- fetching ${name}`);
  if (await fill(folder)) {
    await writeFile(stamp, "");
    return folder;
  }
  await rm(folder, { recursive: true, force: true });
  return null;
}

/** A Python program from PyPI in an environment of its own; its `bin` folder. */
export async function fromPyPi(name: "openapi-python-client" | "schemathesis"): Promise<string | null> {
  const folder = await kept(`${name}-${versions[name]}`, async (cwd) => {
    if ((await run("python3", ["-m", "venv", "."], { cwd })) === null) return false;
    return (await run(join(cwd, "bin", "pip"), ["install", "-q", `${name}==${versions[name]}`], { cwd })) !== null;
  });
  return folder && join(folder, "bin");
}

/** The folder with the generators and libraries of npm, and the jar of openapi-generator, which one of them fetches. */
export const fromNpm = (): Promise<string | null> =>
  kept(`npm-${generatorVersion}`, async (cwd) => {
    await writeFile(join(cwd, "package.json"), '{ "private": true }\n');
    await writeFile(join(cwd, "openapitools.json"), JSON.stringify({ "generator-cli": { version: generatorVersion } }));
    if (!isThere("java"))
      await run("apt-get", ["install", "-y", "--no-install-recommends", "default-jdk-headless"], { cwd });
    if ((await run("npm", ["install", "--no-audit", "--no-fund", ...npmPackages], { cwd })) === null) return false;
    return (await run("npx", ["--no-install", "openapi-generator-cli", "version"], { cwd })) !== null;
  });

const goPaths = {
  "oapi-codegen": "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
  ogen: "github.com/ogen-go/ogen/cmd/ogen",
} as const;

/** The environment of Go, whose modules are kept, too. */
export const goEnvironment = {
  GOMODCACHE: join(cache, "go-modules"),
  GOFLAGS: "-mod=mod",
  PATH: `${process.env.PATH}:/usr/local/go/bin`,
};

/** A generator that is written in Go; the path of its program. */
export async function fromGo(name: "oapi-codegen" | "ogen"): Promise<string | null> {
  const folder = await kept(`${name}-${versions[name]}`, async (cwd) => {
    const env = { ...goEnvironment, GOBIN: cwd };
    return (await run("go", ["install", `${goPaths[name]}@${versions[name]}`], { cwd, env })) !== null;
  });
  return folder && join(folder, name);
}
