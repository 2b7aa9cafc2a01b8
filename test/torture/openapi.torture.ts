import { spawn, spawnSync } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { minerFieldNames } from "../../src/contract/inputs.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { Verdict } from "./measure.ts";
import { type ServiceProcess, startProcess } from "./process.ts";
import { say } from "./say.ts";

/**
 * Clients that other people's generators make of /openapi.json, each used on a running service, and Schemathesis, which
 * sends what the document allows and looks whether the answers are as it says. Fetches the generators from npm, PyPI and
 * Maven Central; needs Python with venv, and Java, which it installs where it may.
 */
const key = "the-key-of-the-service";
const programs = new URL("./openapi/", import.meta.url).pathname;

const verdict = new Verdict();
const folder = await mkdtemp(join(tmpdir(), "rigbridge-openapi-"));
const python = join(folder, "venv", "bin");

/** What a command printed; what failed is said, with the end of what it printed. */
async function run(command: string, args: readonly string[], cwd = folder): Promise<string | null> {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
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
  say(`${command} ${args.slice(0, 3).join(" ")} ended with ${code}:\n${all.slice(-3_000)}`);
  return null;
}

const isThere = (command: string): boolean => spawnSync(command, ["-version"], { stdio: "ignore" }).status === 0;

async function installGenerators(): Promise<void> {
  say("-- fetching the generators");
  if (!isThere("java")) await run("apt-get", ["install", "-y", "--no-install-recommends", "default-jre-headless"]);
  await run("python3", ["-m", "venv", "venv"]);
  await run(join(python, "pip"), ["install", "--quiet", "openapi-python-client", "schemathesis"]);
  await writeFile(join(folder, "package.json"), "{}");
  const packages = ["@openapitools/openapi-generator-cli", "axios", "openapi-fetch", "openapi-typescript"];
  await run("npm", ["install", "--no-audit", "--no-fund", ...packages, "typescript@5", "@types/node"]);
}

const npx = (...args: string[]) => run("npx", ["--no-install", ...args]);
const compile = (file: string) =>
  npx(
    ...["tsc", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", "node"],
    ...["--outDir", "out", file],
  );

/** Each makes a client and gives the command that uses it, or null. */
const clients: Record<string, (url: string) => Promise<string | null>> = {
  "openapi-python-client": async (url) => {
    const made = await run(join(python, "openapi-python-client"), [
      ...["generate", "--path", "openapi.json", "--output-path", "python"],
      ...["--fail-on-warning", "--config", await noHooks()],
    ]);
    if (made === null) return null;
    await run(join(python, "pip"), ["install", "--quiet", "./python"]);
    return run(join(python, "python"), [join(programs, "openapi_python_client.py"), url, key]);
  },
  "openapi-generator python": async (url) => {
    if ((await generate("python", "generated-python")) === null) return null;
    await run(join(python, "pip"), ["install", "--quiet", "./generated-python"]);
    return run(join(python, "python"), [join(programs, "openapi_generator.py"), url, key]);
  },
  "openapi-generator typescript-axios": async (url) => {
    if ((await generate("typescript-axios", "client")) === null) return null;
    await copyFile(join(programs, "typescript-axios.txt"), join(folder, "use-axios.ts"));
    if ((await compile("use-axios.ts")) === null) return null;
    return run("node", ["out/use-axios.js", url, key]);
  },
  "openapi-typescript": async (url) => {
    if ((await npx("openapi-typescript", "openapi.json", "-o", "types.ts")) === null) return null;
    await copyFile(join(programs, "openapi-typescript.txt"), join(folder, "use-fetch.ts"));
    if ((await compile("use-fetch.ts")) === null) return null;
    return run("node", ["out/use-fetch.js", url, key]);
  },
};

const generate = (language: string, into: string) =>
  npx("openapi-generator-cli", "generate", "-i", "openapi.json", "-g", language, "-o", into);

/** Its hooks only lay out the code, with a program that is not here. */
async function noHooks(): Promise<string> {
  const file = join(folder, "openapi-python-client.yaml");
  await writeFile(file, "post_hooks: []\n");
  return file;
}

async function useEach(service: ServiceProcess): Promise<void> {
  const url = `http://127.0.0.1:${service.port}`;
  for (const [name, use] of Object.entries(clients)) {
    say(`-- ${name}`);
    const printed = await use(url);
    const seen: unknown = printed === null ? null : JSON.parse(printed.trim().split("\n").at(-1) ?? "null");
    const controls = (await service.ask("GET", "/api/miners/1000000001")).text.match(/"key":"\w+"/g) ?? [];
    const expected = {
      ids: [1_000_000_001, 1_000_000_002],
      model: "rig 0",
      controls: controls.map((text) => text.slice(7, -1)),
      action: true,
      step: 120,
      group: "made by a client",
      removed: true,
      refused: [404, "not.found"],
    };
    const held = JSON.stringify(seen) === JSON.stringify(expected);
    if (!held) say(`it saw ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`);
    verdict.check(`${name}: reads, acts, and bears a refusal`, held);
  }
}

/** Rules between fields (one of two, none without another) are not in JSON Schema, so what it takes as valid may be refused. */
async function schemathesis(service: ServiceProcess): Promise<void> {
  say("-- Schemathesis");
  const printed = await run(join(python, "schemathesis"), [
    ...["run", "openapi.json", "--url", `http://127.0.0.1:${service.port}`, "-H", `X-API-Key: ${key}`],
    ...["--phases", "coverage,fuzzing", "--max-examples", "20", "--exclude-operation-id", "watchEvents"],
    ...["--exclude-checks", "positive_data_acceptance", "--no-color"],
  ]);
  const cases = /^ *(\d+) generated.*$/m.exec(printed ?? "")?.[0].trim() ?? "";
  verdict.check(`Schemathesis: every answer is as the document says (${cases})`, printed !== null);
}

/** With `fields` an answer holds less than its schema says, and is meant to; so all of them are asked for. */
const wholeMiners = `[[operations]]
include-name = "GET /api/miners"
parameters = { "query.fields" = "${minerFieldNames.join(",")}" }
`;

const farm = await startFarm({
  rigs: [
    { kind: "axeos", warm: true, host: "127.109.1.1" },
    { kind: "cgminer", dialect: "bmminer", warm: true, host: "127.109.1.2" },
  ],
});
const service = await startProcess({
  config: {
    http: { key },
    miners: farm.rigs.map(({ address }, index) => ({ address, name: `rig ${index}` })),
    groups: [{ name: "alpha" }],
    pools: [{ name: "alpha", url: "stratum+tcp://alpha.example:1" }],
    users: [{ name: "anna", groups: ["alpha"] }],
    scan: { networks: ["127.109.9.0/30"] },
  },
});
try {
  await installGenerators();
  await writeFile(join(folder, "openapi.json"), (await service.ask("GET", "/openapi.json")).text);
  await writeFile(join(folder, "schemathesis.toml"), wholeMiners);
  await useEach(service);
  await schemathesis(service);
} finally {
  await service.close();
  await farm.close();
  await rm(folder, { recursive: true, force: true });
}
verdict.end();
