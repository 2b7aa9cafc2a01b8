import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { readSettings } from "../../homebridge/src/config/read.ts";
import { must } from "../package/packed.ts";
import { brokenRules, type Plugin } from "./verified-rules.ts";

// depends on: homebridge/**

const folder = join(import.meta.dirname, "../../homebridge");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const filesIn = (top: string): string[] =>
  readdirSync(join(folder, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

const Manifest = z.looseObject({ main: z.string(), scripts: z.record(z.string(), z.string()).optional() });

/** Loads the plugin like Homebridge, and prints its default export's type and what it registers. */
const loader = `
  const { default: given } = await import(process.argv[1]);
  let registers = null;
  if (typeof given === "function")
    given({ registerPlatform: (plugin, platform) => (registers = { plugin, platform }) });
  process.stdout.write(JSON.stringify({ gives: typeof given, registers }));
`;
const Loaded = z.object({
  gives: z.string(),
  registers: z.object({ plugin: z.string(), platform: z.string() }).nullable(),
});

let plugin: Plugin;
beforeAll(async () => {
  const manifest = Manifest.parse(JSON.parse(read("package.json")));
  const args = ["--input-type=module", "-e", loader, join(folder, manifest.main)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const code = filesIn("dist").filter((file) => file.endsWith(".js"));
  const imports = code.flatMap((file) => [...read(file).matchAll(/(?:from|import)\s*\(?\s*"([^".][^"]*)"/g)]);
  plugin = {
    manifest,
    schema: read("config.schema.json"),
    ...Loaded.parse(JSON.parse(stdout)),
    imports: imports.flatMap(([, name]) => name ?? []),
  };
});

describe("the plugin", () => {
  test("keeps every rule for verified plugins that can be checked here", () => {
    expect(brokenRules(plugin)).toEqual([]);
    expect(plugin.imports).toContain("rigbridge");
  });

  const withManifest = (changes: object) => (given: Plugin) => ({
    ...given,
    manifest: { ...given.manifest, ...changes },
  });
  const withSchema = (change: (schema: Record<string, unknown>) => object) => (given: Plugin) => ({
    ...given,
    schema: JSON.stringify(change(JSON.parse(given.schema))),
  });
  const cases: readonly (readonly [string, (given: Plugin) => Plugin])[] = [
    [
      "the name is not that of a plugin",
      (given) => ({
        ...withManifest({ name: "rigbridge" })(given),
        registers: { plugin: "rigbridge", platform: "Rigbridge" },
      }),
    ],
    ["homepage is not an https URL", withManifest({ homepage: "http://example.org" })],
    ["bugs.url is not an https URL", withManifest({ bugs: { url: undefined } })],
    ["the keyword homebridge-plugin is missing", withManifest({ keywords: ["mining", "heating"] })],
    ["there is no other keyword", withManifest({ keywords: ["homebridge-plugin"] })],
    ["it runs preinstall", withManifest({ scripts: { preinstall: "true" } })],
    ["it runs install", withManifest({ scripts: { install: "true" } })],
    ["it runs postinstall", withManifest({ scripts: { postinstall: "true" } })],
    ["engines.node leaves out 26.1.0", withManifest({ engines: { homebridge: "^2.0.0", node: "^22.13 || ^24" } })],
    [
      "engines.homebridge leaves out the present one",
      withManifest({ engines: { homebridge: "^1.8.0", node: ">=22.13" } }),
    ],
    ["it installs homebridge", withManifest({ dependencies: { homebridge: "^2.0.0" } })],
    ["it installs hap-nodejs", withManifest({ peerDependencies: { "hap-nodejs": "^1.0.0" } })],
    [
      "it installs @homebridge/hap-nodejs",
      withManifest({ optionalDependencies: { "@homebridge/hap-nodejs": "^2.0.0" } }),
    ],
    ["it loads homebridge, which may be installed elsewhere", (given) => ({ ...given, imports: ["homebridge"] })],
    ["its default export is not a function", (given) => ({ ...given, gives: "object" })],
    [
      "pluginAlias is not a string",
      (given) => ({ ...withSchema(({ pluginAlias: _, ...rest }) => rest)(given), registers: null }),
    ],
    ["pluginType is not platform", withSchema((schema) => ({ ...schema, pluginType: "accessory" }))],
    ["schema.properties.name is missing", withSchema((schema) => ({ ...schema, schema: { properties: {} } }))],
    [
      "it registers another platform than its schema is for",
      withSchema((schema) => ({ ...schema, pluginAlias: "Other" })),
    ],
    ["it registers as another plugin", withManifest({ name: "homebridge-other" })],
  ];
  test.each(cases)("would be detected: %s", (broken, change) => {
    const found = brokenRules(change(plugin));
    expect(found).toContain(broken);
    expect(found.filter((each) => each !== broken && !each.startsWith("it registers"))).toEqual([]);
  });

  test("would be detected: config.schema.json is not JSON", () => {
    expect(brokenRules({ ...plugin, schema: "{" })).toContain("config.schema.json is not JSON");
  });
});

describe("the package", () => {
  let packed: string[];
  beforeAll(async () => {
    const Packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })]);
    const output = await must("npm", ["pack", "--json", "--dry-run", "--silent"], folder);
    const [{ files }] = Packed.parse(JSON.parse(output.slice(output.indexOf("["))));
    packed = files.map(({ path }) => path);
  });

  test("has the code, the settings page, its schema, the licence and the manual, and nothing else", () => {
    const compiled = filesIn("src").map((file) => file.replace(/^src/, "dist").replace(/\.ts$/, ".js"));
    const needed = [
      "package.json",
      "config.schema.json",
      "README.md",
      "LICENSE",
      ...filesIn("homebridge-ui"),
      ...compiled,
    ];
    expect(needed.filter((file) => !packed.includes(file))).toEqual([]);
    const others = packed.filter((file) => !needed.includes(file) && !/^dist\/.*\.js$/.test(file));
    expect(others).toEqual([]);
  });

  test("contains everything that its settings page loads, which loads nothing from other hosts", () => {
    const pages = filesIn("homebridge-ui/public");
    const loaded = pages.flatMap((file) => [
      ...read(file).matchAll(/(?:src|href)="([^"]+)"|from "([^"]+)"|url\(([^)]+)\)/g),
    ]);
    const names = loaded.map(([, source, from, url]) => (source ?? from ?? url ?? "").replace("./", ""));
    expect(names).toContain("page.js");
    expect(names.filter((name) => !packed.includes(`homebridge-ui/public/${name}`))).toEqual([]);
  });

  test("runs no scripts when it is installed", () => {
    expect(Manifest.parse(plugin.manifest).scripts).toBeUndefined();
  });

  test("has the licence of the project", () => {
    expect(read("LICENSE")).toBe(readFileSync(join(folder, "../LICENSE"), "utf8"));
  });
});

test("the settings in the README are valid", async () => {
  const blocks = read("README.md").match(/^ {4}\{\n(?: {4}.*\n)+/gm) ?? [];
  expect(blocks).toHaveLength(3);
  for (const block of blocks) {
    const shown: unknown = JSON.parse(block);
    const isRig = typeof shown === "object" && shown !== null && "address" in shown;
    await expect(readSettings(isRig ? { rigs: [shown] } : shown)).resolves.toBeDefined();
  }
});
