import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
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
 * Completes each language's texts with the English ones that it lacks. `virtual:hints/de`, `virtual:details/de`: the
 * hints of forms and the details of the service, files of their own, since most pages show none of them.
 */
function messages() {
  const whole = async (texts) => {
    const { completed } = await import(pathToFileURL(join(root, "dist", "messages", "texts.js")).href);
    return completed(texts, readMessages("en"));
  };
  const apart = /^virtual:(hints|details)\/(\w+)$/;
  return {
    name: "messages",
    enforce: "pre",
    resolveId: (id) => (apart.test(id) ? `\0${id}` : undefined),
    load: async (id) => {
      const [, part, language] = id.startsWith("\0") ? (apart.exec(id.slice(1)) ?? []) : [];
      if (part === undefined) return undefined;
      const texts = await whole(readMessages(language));
      return `export default ${JSON.stringify(texts[part])};`;
    },
    transform: {
      filter: { id: /[\\/]src[\\/]messages[\\/]\w+\.json$/ },
      handler: async (text) => {
        const { hints, details, ...texts } = await whole(JSON.parse(text));
        return JSON.stringify(texts);
      },
    },
  };
}

/**
 * Builds dist/web, with a compressed file beside each one; of assets only the compressed ones stay, since nearly no client
 * asks for another. The contract must have been built.
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
