import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { z } from "zod";
import { readMessages } from "./messages.mjs";
import { root } from "./run.mjs";

const source = join(root, "src", "web");
const target = join(root, "dist", "web");

/** What is sent compressed; the service takes the file that the browser accepts. */
const compressed = new Set([".html", ".js", ".css", ".svg", ".webmanifest"]);

/** Settings of the dashboard's build, for Vite's build and its development server. */
export const settings = {
  configFile: false,
  root: source,
  // Relative, so that the dashboard works below any path.
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [operationsTable(), settingsSchemas(), sectionSchemas(), englishWhereMissing()],
  build: {
    outDir: target,
    emptyOutDir: true,
    target: "es2022",
    // Browsers since May 2024, which have light-dark(): otherwise each colour would be written out twice.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    // Inlined files would need data: addresses, which the content security policy forbids.
    assetsInlineLimit: 0,
    // What most pages need comes in one file: a phone in a slow network waits for each round of small ones.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: "shared", test: /[\\/]src[\\/]web[\\/]((parts|pages|style)[\\/])?[^\\/]+$/ }],
        },
      },
    },
  },
};

/**
 * `virtual:operations`: the path and the names of the query's fields of each operation, from the built contract, so
 * that the browser needs neither the schemas nor their library.
 */
function operationsTable() {
  const name = "virtual:operations";
  return {
    name: "operations",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: async (id) => {
      if (id !== `\0${name}`) return undefined;
      const { operations } = await import(pathToFileURL(join(root, "dist", "contract", "operations.js")).href);
      const entries = Object.entries(operations).map(([operation, { method, path, query, body }]) => [
        operation,
        [method, path.replace(/^\//, ""), Object.keys(query?.shape ?? {}), body !== undefined],
      ]);
      return `export const operations = ${JSON.stringify(Object.fromEntries(entries))};`;
    },
  };
}

/**
 * `virtual:schemas`: what rules, schedules, templates, channels and managed miners may contain, as JSON schemas, for the
 * forms that edit them.
 */
function settingsSchemas() {
  const name = "virtual:schemas";
  const contract = (file) => import(pathToFileURL(join(root, "dist", "contract", file)).href);
  return {
    name: "schemas",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: async (id) => {
      if (id !== `\0${name}`) return undefined;
      const files = ["rules.js", "templates.js", "rule-conditions.js", "form-kind.js", "channels.js", "inputs.js"];
      const [
        { RuleSettings, ScheduleSettings },
        { TemplateBody },
        { numberReadings },
        { addFormKeywords },
        { ChannelSettings },
        { ManagedMinerBody },
      ] = await Promise.all(files.map(contract));
      const options = { io: "input", unrepresentable: "any", reused: "ref", override: addFormKeywords };
      const texts = Object.entries({
        rule: z.toJSONSchema(RuleSettings, options),
        schedule: z.toJSONSchema(ScheduleSettings, options),
        template: z.toJSONSchema(TemplateBody, options),
        readingUnits: numberReadings,
        // By type, which is chosen first.
        channels: Object.fromEntries(
          ChannelSettings.options.map((each) => [
            each.shape.type.value,
            z.toJSONSchema(each.omit({ type: true }), options),
          ]),
        ),
        managedMiner: z.toJSONSchema(
          ManagedMinerBody.pick({ gpuSettings: true, switching: true, idle: true }),
          options,
        ),
      }).map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`);
      return texts.join("\n");
    },
  };
}

/** Completes each language's texts with the English ones that it lacks. */
function englishWhereMissing() {
  return {
    name: "messages",
    enforce: "pre",
    transform: {
      filter: { id: /[\\/]src[\\/]messages[\\/]\w+\.json$/ },
      handler: async (text) => {
        const { completed } = await import(pathToFileURL(join(root, "dist", "messages", "texts.js")).href);
        return JSON.stringify(completed(JSON.parse(text), readMessages("en")));
      },
    },
  };
}

/** `virtual:sections`: what the sections of the configuration that are saved in the dashboard may contain. */
function sectionSchemas() {
  const name = "virtual:sections";
  const built = (folder, file) => import(pathToFileURL(join(root, "dist", folder, file)).href);
  return {
    name: "sections",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: async (id) => {
      if (id !== `\0${name}`) return undefined;
      const [{ Config }, { settingsSections }, { addFormKeywords }] = await Promise.all([
        built("config", "schema.js"),
        built("contract", "settings.js"),
        built("contract", "form-kind.js"),
      ]);
      const options = { io: "input", unrepresentable: "any", reused: "ref", override: addFormKeywords };
      const schemas = settingsSections.map((section) => [section, z.toJSONSchema(Config.shape[section], options)]);
      return `export const sections = ${JSON.stringify(Object.fromEntries(schemas))};`;
    },
  };
}

/** Builds dist/web, with a compressed file beside each one. The contract must have been built. */
async function buildWeb() {
  // Otherwise Vite builds for the environment that it is started in, with paths of this machine in the files.
  process.env.NODE_ENV = "production";
  await build(settings);
  for (const file of readdirSync(target, { recursive: true }).map((each) => join(target, each))) {
    if (!compressed.has(extname(file))) continue;
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildWeb();
