import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { z } from "zod";
import { languages } from "../../src/messages/languages.ts";
import { within } from "../until.ts";
import { describePackaging } from "./packaging.ts";
import {
  copied,
  importer,
  link,
  must,
  pack,
  readLock,
  root,
  run,
  typedProgram,
  typedSettings,
  unpack,
  urlSaid,
} from "./packed.ts";

// depends on: src/**, docs/**, examples/**, *.md, packaging/docker/*, .dockerignore

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  engines: z.object({ node: z.string() }).optional(),
  bin: z.record(z.string(), z.string()).optional(),
  exports: z.record(z.string(), z.object({ types: z.string(), default: z.string() })).optional(),
  scripts: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
});
const manifestOf = async (folder: string) =>
  Manifest.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));

let home: string;
let project: string;
let folder: string;
let files: string[];
let entries: string[];

const filesIn = async (top: string): Promise<string[]> =>
  (await readdir(top, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(top, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();

describePackaging("the packed package", [], () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "rigbridge-package-"));
    project = join(home, "project");
    const build = join(home, "build");
    await mkdir(build);
    const tarball = await pack(build);
    folder = await unpack(tarball, project);
    files = await filesIn(folder);
    entries = Object.keys((await manifestOf(folder)).exports ?? {}).map((entry) => entry.replace(/^\./, "rigbridge"));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  test("holds what the sources compile to, the documents, and nothing else", async () => {
    const sources = (await filesIn(join(root, "src"))).filter((file) => /^(?!web\/).*\.ts$/.test(file));
    const compiled = sources.map((file) => `dist/${file.replace(/\.ts$/, ".js")}`);
    const dashboard = (await filesIn(join(root, "dist", "web"))).map((file) => `dist/web/${file}`);
    expect(dashboard).toContain("dist/web/index.html");
    // Those about the sources and for choosing a program are in the repository, like the changelog; npm shows the picture from there.
    const ofSources = [
      "architecture.md",
      "compare.md",
      "dashboard.png",
      "drivers.md",
      "licences.md",
      "performance.md",
      "picture.svg",
      "roadmap.md",
    ];
    const documents = (await filesIn(join(root, "docs")))
      .filter((file) => !ofSources.includes(file))
      .map((file) => `docs/${file}`);
    const examples = (await filesIn(join(root, "examples")))
      .filter((file) => !/^(\.gitignore|rigbridge\.(db.*|key|schema\.json))$/.test(file))
      .map((file) => `examples/${file}`);
    const messages = Object.keys(languages).map((language) => `dist/messages/${language}.json`);
    const named = ["LICENSE", "NOTICE", "README.md", "SECURITY.md", "package.json"];
    const withoutTypes = files.filter((file) => !file.endsWith(".d.ts"));
    expect(withoutTypes).toEqual([...compiled, ...messages, ...dashboard, ...documents, ...examples, ...named].sort());
  });

  test("declares the types of every export with all that they use", async () => {
    const { exports: exported = {} } = await manifestOf(folder);
    const used = new Set<string>();
    const add = async (file: string): Promise<void> => {
      if (used.has(file)) return;
      used.add(file);
      const text = await readFile(join(folder, file), "utf8");
      const paths = [...text.matchAll(/["'](\.{1,2}\/[^"']+)\.[jt]s["']/g)].map(([, path = ""]) => path);
      await Promise.all(paths.map((path) => add(join(dirname(file), `${path}.d.ts`))));
    };
    const types = Object.values(exported).map((each) => each.types ?? "");
    await Promise.all(types.map((file) => add(join(file))));
    expect([...used].filter((file) => !files.includes(file))).toEqual([]);
  });

  test("names no folder of the machine it was made on, and holds no key", async () => {
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const telling = [root, home, homedir() === "/" ? root : `${homedir()}/`];
    const found = files.filter((_, at) => telling.some((place) => texts[at]?.includes(place)));
    expect(found).toEqual([]);
    expect(files.filter((_, at) => /PRIVATE KEY-----|_authToken|npm_[A-Za-z0-9]{36}/.test(texts[at] ?? ""))).toEqual(
      [],
    );
  });

  test("is smaller than 5 MB, besides 2 MB for the dashboard's files and their compressed copies", async () => {
    const sizeOf = async (some: readonly string[]): Promise<number> => {
      const sizes = await Promise.all(some.map(async (file) => (await stat(join(folder, file))).size));
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    const isDashboard = (file: string): boolean => file.startsWith("dist/web/");
    expect(await sizeOf(files.filter((file) => !isDashboard(file)))).toBeLessThan(5_000_000);
    expect(await sizeOf(files.filter(isDashboard))).toBeLessThan(2_000_000);
  });

  test("is imported and required by every export, with nothing but its own dependencies there", async () => {
    await writeFile(join(project, "import.mjs"), importer(entries));
    const said = await must(process.execPath, ["--disable-warning=ExperimentalWarning", "import.mjs"], project);
    expect(
      said
        .trim()
        .split("\n")
        .map((line) => line.split(" ", 1)[0]),
    ).toEqual(entries);
  });

  test("has types that a strict program finds", async () => {
    const installed = join(project, "node_modules");
    for (const name of ["@types/node", "undici-types"]) await link(name, installed);
    await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
    await writeFile(join(project, "program.ts"), typedProgram);
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(typedSettings));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    expect(await run(process.execPath, [tsc, "-p", "."], project)).toEqual({ code: 0, output: "" });
  });

  test("starts, answers and stops", async () => {
    const { bin = {}, version } = await manifestOf(folder);
    const main = join(folder, bin.rigbridge ?? "");
    const child = spawn(process.execPath, [main, "serve", "--data", "data", "--host", "127.105.0.1", "--port", "0"], {
      cwd: project,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const url = await urlSaid(child);
    const answer = await fetch(`${url}/health`);
    expect(await answer.json()).toEqual({ status: "ok", version });
    child.kill("SIGTERM");
    expect(await within(ended, "the service to end")).toEqual([0, null]);
  });
});

test("no source starts another program but the step for it, and the agent of a host; their configuration must allow it", async () => {
  const sources = (await filesIn(join(root, "src"))).map((file) => join(root, "src", file));
  const starting = await Promise.all(
    sources.map(async (file) => /child_process|process\.binding/.test(await readFile(file, "utf8"))),
  );
  const allowed = [
    ...[
      "agent/foreign-programs.ts",
      "agent/gpus/run.ts",
      "agent/platform/tools.ts",
      "agent/process.ts",
      "agent/reboot.ts",
    ],
    "service/automation/programs.ts",
  ];
  expect(sources.filter((_, at) => starting[at]).toSorted()).toEqual(allowed.map((file) => join(root, "src", file)));
});

describe("what comes with an installation", () => {
  const folders = ["", "client", "nodes", "homebridge"].map((name) => join(root, name));

  test("runs no script, neither ours nor a dependency's", async () => {
    const ours = await Promise.all(folders.map(manifestOf));
    const runAlone = /^(?:pre|post)?(?:install|prepare|pack|publish|uninstall)(?:Only)?$/;
    expect(ours.flatMap(({ scripts }) => Object.keys(scripts).filter((name) => runAlone.test(name)))).toEqual([]);
    const { packages } = await readLock();
    expect(Object.keys(packages).filter((path) => packages[path]?.hasInstallScript && !packages[path]?.dev)).toEqual(
      [],
    );
  });

  test("is what the lock file names, with a digest of each and from no registry in particular", async () => {
    const { packages } = await readLock();
    // What a package brings along in its own file is covered by the digest of that.
    const foreign = Object.entries(packages).filter(
      ([path, { link: isLink, inBundle }]) => /(^|\/)node_modules\//.test(path) && !isLink && !inBundle,
    );
    expect(foreign.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
    expect(foreign.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    expect(packages[""]?.dependencies).toEqual((await manifestOf(root)).dependencies);
  });

  test("is locked for every platform, so that npm ci installs the same everywhere", async () => {
    const { packages } = await readLock();
    const locked = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf("node_modules/") + 13)));
    const optional = Object.values(packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}));
    expect(optional.filter((name) => !locked.has(name))).toEqual([]);
  });

  test("has one version in all packages and the lock file", async () => {
    const { version, packages } = await readLock();
    const versions = (await Promise.all(folders.map(manifestOf))).map((each) => each.version);
    const locked = ["", "client", "nodes", "homebridge"].map((name) => packages[name]?.version);
    expect(new Set([version, ...versions, ...locked])).toEqual(new Set([version]));
  });

  test("needs a Node that the command asks for, too", async () => {
    expect((await manifestOf(root)).engines?.node).toBe(">=22.13");
    expect(await readFile(join(root, "src", "cli", "main.ts"), "utf8")).toContain("major === 22 && minor < 13");
  });
});

test("the image has the dependencies that the lock file names, and a command that is in the package", async () => {
  const dockerfile = await readFile(join(root, "packaging", "docker", "Dockerfile"), "utf8");
  const installs = [...dockerfile.matchAll(/\bnpm (ci|i|install|add|exec|update)\b/g)].map(([, command]) => command);
  expect(installs).toEqual(["ci", "ci"]);
  const [, main = ""] = /ln -s \/app\/(\S+) \/usr\/local\/bin\/rigbridge/.exec(dockerfile) ?? [];
  expect((await manifestOf(root)).bin).toEqual({ rigbridge: main });
});

test("compose.yaml starts the service and nothing else", async () => {
  const Compose = z.object({ services: z.record(z.string(), z.object({ build: z.record(z.string(), z.string()) })) });
  const { services } = Compose.parse(parse(await readFile(join(root, "packaging", "docker", "compose.yaml"), "utf8")));
  expect(services).toEqual({ rigbridge: { build: { context: "../..", dockerfile: "packaging/docker/Dockerfile" } } });
});

test("what the Dockerfile copies is there, and .dockerignore lets it pass", async () => {
  const allowed = (await readFile(join(root, ".dockerignore"), "utf8"))
    .split("\n")
    .filter((line) => line.startsWith("!"));
  const sources = (await copied()).map(([from]) => from);
  expect(sources.length).toBeGreaterThan(5);
  expect(allowed.map((line) => line.slice(1)).sort()).toEqual([...sources].sort());
  await Promise.all(sources.map((source) => stat(join(root, source))));
});
