import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cache, fromGo, fromNpm, fromPyPi, goEnvironment, isThere, run } from "./tools.ts";

/** A generated client: makes it in a folder with openapi.json and gives what its use of the service prints, or null. */
export interface Client {
  readonly name: string;
  /** A program that must be on this machine. */
  readonly needs?: readonly [command: string, argument: string];
  use(folder: string, url: string, key: string): Promise<string | null>;
}

const programs = new URL("./", import.meta.url).pathname;
const program = (name: string, into: string) => copyFile(join(programs, name), into);

/** Tests of the generated code would need packages of their own. */
const noTests = ["--global-property", "apis,models,supportingFiles,apiTests=false,modelTests=false"];

async function generate(folder: string, language: string, into: string, ...more: string[]): Promise<string | null> {
  const npm = await fromNpm();
  if (npm === null) return null;
  const args = ["generate", "-i", join(folder, "openapi.json"), "-g", language, "-o", join(folder, into), ...more];
  return run("npx", ["--no-install", "openapi-generator-cli", ...args], { cwd: npm });
}

/** A Python environment with the generated package, and its use. */
async function usePython(folder: string, made: string, file: string, url: string, key: string) {
  const bin = join(folder, `${made}-venv`, "bin");
  if ((await run("python3", ["-m", "venv", `${made}-venv`], { cwd: folder })) === null) return null;
  if ((await run(join(bin, "pip"), ["install", "--quiet", `./${made}`], { cwd: folder })) === null) return null;
  return run(join(bin, "python"), [join(programs, file), url, key], { cwd: folder });
}

/** Compiles a program beside what was generated, with the packages of npm, and runs it. */
async function useTypeScript(folder: string, file: string, url: string, key: string) {
  const npm = await fromNpm();
  if (npm === null) return null;
  const env = { NODE_PATH: join(npm, "node_modules") };
  await program(`${file}.txt`, join(folder, "use.ts"));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        skipLibCheck: true,
        target: "es2022",
        module: "commonjs",
        moduleResolution: "node10",
        types: ["node"],
        typeRoots: [join(npm, "node_modules", "@types")],
        outDir: "out",
        baseUrl: ".",
        paths: { "*": [join(npm, "node_modules", "*")] },
      },
      files: ["use.ts"],
    }),
  );
  const tsc = join(npm, "node_modules", ".bin", "tsc");
  if ((await run(tsc, ["-p", "."], { cwd: folder })) === null) return null;
  return run(process.execPath, ["out/use.js", url, key], { cwd: folder, env });
}

/** A module of Go with the generated package `api`, and its use. */
async function useGo(folder: string, file: string, url: string, key: string) {
  const options = { cwd: folder, env: goEnvironment };
  await program(`${file}.txt`, join(folder, "main.go"));
  await writeFile(join(folder, "go.mod"), "module example.com/use\n\ngo 1.24\n");
  if ((await run("go", ["mod", "tidy"], options)) === null) return null;
  if ((await run("go", ["build", "-o", "use", "."], options)) === null) return null;
  return run(join(folder, "use"), [url, key], options);
}

const go = ["go", "version"] as const;

export const clients: readonly Client[] = [
  {
    name: "openapi-python-client",
    async use(folder, url, key) {
      const bin = await fromPyPi("openapi-python-client");
      if (bin === null) return null;
      // Its hooks only lay out the code, with a program that is not here.
      await writeFile(join(folder, "config.yaml"), "post_hooks: []\n");
      const options = [
        "--path",
        "openapi.json",
        "--output-path",
        "python",
        "--fail-on-warning",
        "--config",
        "config.yaml",
      ];
      const made = await run(join(bin, "openapi-python-client"), ["generate", ...options], { cwd: folder });
      return made && usePython(folder, "python", "openapi_python_client.py", url, key);
    },
  },
  {
    name: "openapi-generator python",
    async use(folder, url, key) {
      if ((await generate(folder, "python", "python")) === null) return null;
      return usePython(folder, "python", "openapi_generator.py", url, key);
    },
  },
  {
    name: "openapi-generator typescript-axios",
    async use(folder, url, key) {
      if ((await generate(folder, "typescript-axios", "client")) === null) return null;
      return useTypeScript(folder, "typescript-axios", url, key);
    },
  },
  {
    name: "openapi-typescript",
    async use(folder, url, key) {
      const npm = await fromNpm();
      if (npm === null) return null;
      const generator = join(npm, "node_modules", ".bin", "openapi-typescript");
      if ((await run(generator, ["openapi.json", "-o", "types.ts"], { cwd: folder })) === null) return null;
      return useTypeScript(folder, "openapi-typescript", url, key);
    },
  },
  {
    name: "oapi-codegen",
    needs: go,
    async use(folder, url, key) {
      const generator = await fromGo("oapi-codegen");
      if (generator === null) return null;
      await mkdir(join(folder, "api"));
      const args = ["-generate", "types,client", "-package", "api", "-o", "api/api.go", "openapi.json"];
      if ((await run(generator, args, { cwd: folder })) === null) return null;
      return useGo(folder, "go-oapi-codegen", url, key);
    },
  },
  {
    name: "ogen",
    needs: go,
    async use(folder, url, key) {
      const generator = await fromGo("ogen");
      if (generator === null) return null;
      const args = ["--target", "api", "--package", "api", "openapi.json"];
      if ((await run(generator, args, { cwd: folder })) === null) return null;
      return useGo(folder, "go-ogen", url, key);
    },
  },
  {
    name: "openapi-generator go",
    needs: go,
    async use(folder, url, key) {
      const options = [
        "--package-name",
        "api",
        "--additional-properties",
        "withGoMod=false,isGoSubmodule=true",
        ...noTests,
      ];
      if ((await generate(folder, "go", "api", ...options)) === null) return null;
      return useGo(folder, "go-openapi-generator", url, key);
    },
  },
  {
    name: "openapi-generator java",
    needs: ["mvn", "--version"],
    async use(folder, url, key) {
      if ((await generate(folder, "java", "java")) === null) return null;
      const cwd = join(folder, "java");
      await program("java-openapi-generator.txt", join(cwd, "src", "main", "java", "Use.java"));
      const quiet = ["-q", "-B", `-Dmaven.repo.local=${join(cache, "maven")}`, "-Dmaven.test.skip=true"];
      const plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath";
      const goals = ["compile", plugin, "-Dmdep.outputFile=classpath.txt", "-Dmdep.includeScope=runtime"];
      if ((await run("mvn", [...quiet, ...goals], { cwd })) === null) return null;
      const classpath = await run("cat", ["classpath.txt"], { cwd });
      return run("java", ["-cp", `target/classes:${classpath?.trim()}`, "Use", url, key], { cwd });
    },
  },
  {
    name: "openapi-generator rust",
    needs: ["cargo", "--version"],
    async use(folder, url, key) {
      if ((await generate(folder, "rust", "rust")) === null) return null;
      const cwd = join(folder, "rust");
      await program("rust-openapi-generator.txt", join(cwd, "src", "main.rs"));
      const env = { CARGO_TARGET_DIR: join(cache, "rust-target") };
      const tokio = ["add", "tokio@1", "--features", "macros,rt-multi-thread"];
      if ((await run("cargo", tokio, { cwd, env })) === null) return null;
      return run("cargo", ["run", "--quiet", "--", url, key], { cwd, env });
    },
  },
];

/** Why a client is left out on this machine; null if it can be used. */
export const missingFor = ({ needs }: Client): string | null =>
  needs === undefined || isThere(...needs) ? null : `${needs[0]} is not on this machine`;

/** C# is generated, and compiled where .NET is: its client needs packages of NuGet. */
export async function checkCSharp(folder: string): Promise<{ readonly made: boolean; readonly skipped?: string }> {
  if ((await generate(folder, "csharp", "csharp", "--library", "httpclient")) === null) return { made: false };
  if (!isThere("dotnet"))
    return { made: true, skipped: "it needs dotnet and, from nuget.org, Newtonsoft.Json, JsonSubTypes and Polly" };
  return { made: (await run("dotnet", ["build", "src/Org.OpenAPITools"], { cwd: join(folder, "csharp") })) !== null };
}
