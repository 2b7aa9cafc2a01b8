import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { readConfig } from "../../src/config/index.ts";
import { blocksIn } from "../docs/page-blocks.ts";
import { hasProgram } from "../has-program.ts";
import { until } from "../until.ts";
import { type Dashboard, startDashboard } from "../web/dashboard.ts";
import { describePackaging } from "./packaging.ts";
import { link, must, type Outcome, root, run } from "./packed.ts";

// depends on: client/**, README.md, scripts/client.mjs

const key = "invented-key-of-the-package-test";
const owner = { actor: "test" };
const page = await readFile(join(root, "client", "README.md"), "utf8");
const [program = ""] = blocksIn(page, "js");
const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });
const dependenciesOf = async (folder: string) =>
  Manifest.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8"))).dependencies;

test("the client depends on nothing that the service does not, so that the SBOM of the service has it all", async () => {
  expect(await dependenciesOf(root)).toMatchObject(await dependenciesOf(join(root, "client")));
});

describePackaging("the packed client", ["client/*.*", "src/client/*.ts", "README.md"], () => {
  let project: string;
  let folder: string;
  let files: string[];
  let service: Dashboard;
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), "rigbridge-client-"));
    const installed = join(project, "node_modules");
    folder = join(installed, "@rigbridge", "client");
    await mkdir(folder, { recursive: true });
    await must("npm", ["pack", "--silent", "--pack-destination", project], join(root, "client"));
    const [tarball = ""] = (await readdir(project)).filter((file) => file.endsWith(".tgz"));
    await must("tar", ["-xzf", tarball, "--strip-components=1", "-C", folder], project);
    for (const name of Object.keys(await dependenciesOf(folder))) await link(name, installed);
    await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
    files = (await readdir(folder, { recursive: true })).map((file) => file.replaceAll("\\", "/")).sort();
    service = await startDashboard({
      rigs: [
        { rig: { kind: "axeos", warm: true }, name: "Desk" },
        { rig: { kind: "axeos", warm: true }, name: "Garage" },
      ],
      config: { http: { key } },
    });
  });
  afterAll(async () => {
    await service.close();
    await rm(project, { recursive: true });
  });

  /** At the service of this test instead of that of the examples. */
  const here = (code: string): string => code.replaceAll("http://192.168.1.9:17790", service.url);

  const desk = { id: 1_000_000_001 };
  /** The examples stop or start this rig, which is refused if nothing would change. */
  const bring = async (action: "start" | "stop"): Promise<void> => {
    const { statusInfo } = await service.service.getMiner(desk, owner);
    if ((statusInfo.statusDisplay === "Stopped") === (action === "start"))
      await service.service.minerAction({ ...desk, action }, owner);
  };

  /** Runs a program while the rigs are read again and again, so that there are events. */
  const ran = async (command: string, args: readonly string[]): Promise<Outcome> => {
    let isOver = false;
    const running = run(command, args, project, { RIGBRIDGE_KEY: key }).finally(() => {
      isOver = true;
    });
    await until(async () => {
      await service.readAll();
      return isOver;
    }, `${command} to end`);
    return running;
  };

  test("has the code, its types, the page and the licences, and nothing else", () => {
    const code = ["browser.js", "browser.licences.txt", "index.js"];
    expect(files.filter((file) => !/^dist\/types(\/|$)/.test(file))).toEqual([
      "LICENSE",
      "README.md",
      "dist",
      ...code.map((file) => `dist/${file}`),
      "package.json",
    ]);
    const types = files.filter((file) => /^dist\/types\/.*\./.test(file));
    expect(types.filter((file) => !file.endsWith(".d.ts"))).toEqual([]);
  });

  test("names no folder of the machine it was made on", async () => {
    const texts = await Promise.all(
      files.filter((file) => /\.\w+$/.test(file)).map((file) => readFile(join(folder, file), "utf8")),
    );
    expect(texts.filter((text) => text.includes(root))).toEqual([]);
  });

  test("exports the same for Node and for browsers", async () => {
    const script =
      "console.log(Object.keys(await import('@rigbridge/client')).join(), Object.keys(await import('./node_modules/@rigbridge/client/dist/browser.js')).join())";
    const said = await must(process.execPath, ["--input-type=module", "-e", script], project);
    const [inNode = "", inBrowser] = said.trim().split(" ");
    expect(inNode.split(",")).toContain("connectService");
    expect(inBrowser).toBe(inNode);
  });

  test("runs the page's program: lists rigs, stops one, hears an event", async () => {
    await bring("start");
    await writeFile(join(project, "program.mjs"), here(program));
    const { code, output } = await ran(process.execPath, ["program.mjs"]);
    expect(output).toMatch(/^1000000001 Desk \d+ H\/s \d+/);
    expect(output).toMatch(/(Desk|Garage) (Stopped|Mining)\n$/);
    expect(code).toBe(0);
    const { statusInfo } = await service.service.getMiner(desk, owner);
    expect(statusInfo.statusDisplay).toBe("Stopped");
  });

  test("says that a key is wrong, and that a service is not there", async () => {
    await writeFile(join(project, "program.mjs"), here(program));
    const wrong = await run(process.execPath, ["program.mjs"], project, { RIGBRIDGE_KEY: "another-key" });
    expect(wrong.output).toContain("code: 'key.wrong'");
    expect(wrong.output).not.toContain("another-key");
    await writeFile(join(project, "program.mjs"), program.replaceAll("192.168.1.9:17790", "127.0.0.1:1"));
    const away = await run(process.execPath, ["program.mjs"], project);
    expect(away.output).toContain("The service at http://127.0.0.1:1 cannot be reached: no program listens there");
    expect([wrong.code, away.code]).toEqual([1, 1]);
  });

  test("runs the program in the README of Rigbridge", async () => {
    const text = await readFile(join(root, "README.md"), "utf8");
    const [block = ""] = /^ {4}import \{ connectService \}.*\n(?: {4}.*\n|\n(?= {4}))+/m.exec(text) ?? [];
    expect(block).toContain("@rigbridge/client");
    const end = "\nconsole.log(groupList.length);";
    await writeFile(join(project, "readme.mjs"), here(block.replace(/^ {4}/gm, "")) + end);
    expect(await ran(process.execPath, ["readme.mjs"])).toEqual({ code: 0, output: "1\n" });
  });

  describe("has types that strict programs find, with all declarations checked:", () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const compiled = async (code: string, more: object): Promise<Outcome> => {
      await writeFile(join(project, "program.ts"), code);
      const options = {
        module: "nodenext",
        target: "es2024",
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        ...more,
      };
      await writeFile(
        join(project, "tsconfig.json"),
        JSON.stringify({ compilerOptions: options, files: ["program.ts"] }),
      );
      return run(process.execPath, [tsc, "-p", "."], project);
    };

    test("of a browser, without Node's types", async () => {
      const code = `
        import { connectService, type Input, type Miner, type Reply, type ServiceEvent } from "@rigbridge/client";
        const service = connectService({ url: location.origin, log: console });
        export const rules: Promise<Reply<"listRules">> = service.listRules({}, { actor: "page" });
        export const input = { id: 1, action: "stop" } satisfies Input<"minerAction">;
        export const nameOf = ({ name }: Miner): string => name;
        export const typeOf = ({ type }: ServiceEvent): string => type;
        // @ts-expect-error there is no such call, so the types are really read
        service.listMinerz({});
      `;
      const options = { lib: ["es2024", "dom"], types: [], customConditions: ["browser"] };
      expect(await compiled(code, options)).toEqual({ code: 0, output: "" });
    });

    test("of Node: the page's program", async () => {
      for (const name of ["@types/node", "undici-types"]) await link(name, join(project, "node_modules"));
      expect(await compiled(program, { lib: ["es2024"], types: ["node"] })).toEqual({ code: 0, output: "" });
    });
  });

  describe("has a page whose examples run:", () => {
    const testOf = (name: string, example: string) =>
      hasProgram(name, spawnSync(name, ["--version"]).error === undefined, example) ? test : test.skip;

    testOf("curl", "curl in client/README.md")("curl", async () => {
      await bring("start");
      const [block = ""] = blocksIn(page, "sh");
      const { code, output } = await ran("sh", ["-ec", here(block).replaceAll("curl ", "curl -sS --fail ")]);
      expect(output).toContain('"totalCount":2');
      expect(output).toContain('"success":true');
      expect(code).toBe(0);
    });

    testOf("python3", "Python in client/README.md")("Python", async () => {
      await bring("stop");
      const [block = ""] = blocksIn(page, "python");
      const { code, output } = await ran("python3", ["-c", here(block)]);
      expect(output).toMatch(/^1000000001 Desk \S+ H\/s\n1000000002 Garage \S+ H\/s\n\{.*True/);
      expect(code).toBe(0);
    });

    test("the configuration for other origins", async () => {
      const [block = ""] = blocksIn(page, "yaml");
      const file = join(project, "rigbridge.yaml");
      await writeFile(file, block, { mode: 0o600 });
      await expect(readConfig(file, {})).resolves.toMatchObject({ warnings: [] });
    });
  });
});
