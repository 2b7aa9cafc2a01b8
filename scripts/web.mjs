import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { firstFiles, isFirstOperation, splitTexts } from "./first-load.mjs";
import { readMessages } from "./messages.mjs";
import { root } from "./run.mjs";

const source = join(root, "src", "web");
const target = join(root, "dist", "web");

/** Compressed files; the service sends the variant that the browser accepts. */
const compressed = new Set([".html", ".js", ".css", ".svg", ".webmanifest"]);

/** The files of a page of its own, which the others do not need. */
const ofOnePage = /[\\/]pages[\\/]\w+[\\/]/;

/** Settings of the dashboard's build, for Vite's build and its development server. */
export const settings = {
  configFile: false,
  root: source,
  // Relative, so that the dashboard works below any path.
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [operationsTable(), formSchemas(), messages()],
  build: {
    outDir: target,
    emptyOutDir: true,
    target: "es2022",
    // Browsers since May 2024, which have light-dark(): otherwise each colour would be written out twice.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    // Inlined files would need data: addresses, which the content security policy forbids.
    assetsInlineLimit: 0,
    // What the first page needs comes in one file, and what several others need in another: a phone in a slow network waits
    // for each round of small ones.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "first", test: (id) => firstFiles.has(id) && !ofOnePage.test(id) },
            { name: "shared", test: /[\\/]src[\\/]web[\\/](?:parts[\\/])?[\w-]+\.(?:tsx?|css)$/ },
          ],
        },
      },
    },
  },
};

/**
 * `virtual:operations` and `virtual:operations/others`: the path of each operation that the first page and the other pages
 * name, and which fields beside a body are the query's, from the built contract, so that the browser needs neither the
 * schemas nor their library.
 */
function operationsTable() {
  const names = ["virtual:operations", "virtual:operations/others"];
  return {
    name: "operations",
    resolveId: (id) => (names.includes(id) ? `\0${id}` : undefined),
    load: async (id) => {
      const at = names.indexOf(id.slice(1));
      if (at < 0) return undefined;
      const { operations } = await import(pathToFileURL(join(root, "dist", "contract", "operations.js")).href);
      const files = readdirSync(source, { recursive: true }).filter((file) => /\.tsx?$/.test(file));
      const texts = files.map((file) => readFileSync(join(source, file), "utf8"));
      const isNamed = (operation) => texts.some((text) => text.includes(`"${operation}"`));
      const entries = Object.entries(operations)
        .filter(([operation]) => isFirstOperation(operation) === (at === 0) && isNamed(operation))
        .map(([operation, { method, path, query, body }]) => [
          operation,
          [method, path.replace(/^\//, ""), ...(body === undefined ? [] : [Object.keys(query?.shape ?? {})])],
        ]);
      return `export const operations = ${JSON.stringify(Object.fromEntries(entries))};`;
    },
  };
}

/** `virtual:schemas` and `virtual:sections`: JSON schemas for forms, from the built configuration. */
function formSchemas() {
  const names = { "virtual:schemas": "formSchemas", "virtual:sections": "sectionSchemas" };
  return {
    name: "schemas",
    resolveId: (id) => (Object.hasOwn(names, id) ? `\0${id}` : undefined),
    load: async (id) => {
      const made = id.startsWith("\0") ? names[id.slice(1)] : undefined;
      if (made === undefined) return undefined;
      const schemas = await import(pathToFileURL(join(root, "dist", "config", "form-schemas.js")).href);
      return Object.entries(schemas[made]())
        .map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`)
        .join("\n");
    },
  };
}

/**
 * Completes each language's texts with the English ones that it lacks, and leaves in its file those of the first page.
 * `virtual:texts/de`: its other texts. `virtual:hints/de`, `virtual:details/de`: the hints of forms and the details of the
 * service, which most pages do not have.
 */
function messages() {
  const partsOf = async (own) => {
    const { completed } = await import(pathToFileURL(join(root, "dist", "messages", "texts.js")).href);
    const { hints, details, ...texts } = completed(own, readMessages("en"));
    return { hints, details, ...splitTexts(texts) };
  };
  const name = /^\0?virtual:(texts|hints|details)\/(\w+)$/;
  return {
    name: "messages",
    enforce: "pre",
    resolveId: (id) => (name.test(id) ? `\0${id}` : undefined),
    load: async (id) => {
      const [, kind, language] = name.exec(id) ?? [];
      if (language === undefined) return undefined;
      const { hints, details, others } = await partsOf(readMessages(language));
      return `export default ${JSON.stringify({ hints, details, texts: others }[kind])};`;
    },
    transform: {
      filter: { id: /[\\/]src[\\/]messages[\\/]\w+\.json$/ },
      handler: async (text) => JSON.stringify((await partsOf(JSON.parse(text))).first),
    },
  };
}

/**
 * Builds dist/web, with a compressed copy of each file; assets keep only the compressed copies, because nearly all
 * clients accept them. The contract must be built first.
 */
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
    if (file.startsWith(join(target, "assets"))) rmSync(file);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildWeb();
