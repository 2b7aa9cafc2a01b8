import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { nameTypes } from "./named-types.mjs";
import { childEnvironment, nodeFile, packageFile, root, spawned } from "./run.mjs";

/** The pinned Node, or this one where install scripts are off, as in a container. */
const builder = existsSync(nodeFile) ? nodeFile : process.execPath;

/** The packages in build order; files with a `copied` extension go into dist unchanged. */
const packages = [
  { sources: "src", dist: "dist", copied: [] },
  { sources: "client", dist: "client/dist", copied: [] },
  { sources: "nodes", dist: "nodes/dist", copied: [".html", ".json", ".svg"] },
  { sources: "homebridge", dist: "homebridge/dist", copied: [] },
];

/** Folders of a package without sources. */
const others = ["dist", "node_modules", "resources", "examples"];

/** Source folders. */
export const sources = packages.map((each) => each.sources);

/** Resolves with null, or with the output of what failed. Deletes the earlier build, or builds `over` it. */
export async function buildPackages(wanted, { over = false } = {}) {
  for (const { sources, dist, copied } of packages.filter((each) => wanted.includes(each.sources))) {
    if (!over) rmSync(join(root, dist), { recursive: true, force: true });
    if (sources === "client") {
      const { code, output } = await spawned(builder, [join(root, "scripts", "client.mjs")], childEnvironment());
      if (code !== 0) return output;
      continue;
    }
    const compiler = [packageFile("typescript", "tsc"), "-p", sources];
    const { code, output } = await spawned(builder, compiler, childEnvironment());
    if (code !== 0) return output;
    if (sources === "src") {
      // Comments stay in the declarations, where editors show them; in the code they are an eighth of its size.
      const withoutComments = [...compiler, "--noCheck", "--removeComments", "--declaration", "false"];
      const bare = await spawned(builder, withoutComments, childEnvironment());
      if (bare.code !== 0) return bare.output;
      removeUnusedTypes(dist);
      removeComments(dist);
      const indented = await spawned(builder, [join(root, "scripts", "indent.mjs"), dist], childEnvironment());
      if (indented.code !== 0) return indented.output;
      nameTypes(join(root, dist, "contract"));
      writeServiceMessages(dist);
      const web = await spawned(builder, [join(root, "scripts", "web.mjs")], childEnvironment());
      if (web.code !== 0) return web.output;
    }
    if (sources === "nodes") writeEditorTexts(dist);
    for (const file of filesUnder(sources))
      if (file.includes("/", sources.length + 1) && copied.includes(extname(file)))
        cpSync(join(root, file), join(root, dist, file.slice(sources.length + 1)));
  }
  return null;
}

/** Removes the declarations that no export of the package leads to. */
function removeUnusedTypes(dist) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const used = new Set();
  const add = (file) => {
    if (used.has(file)) return;
    used.add(file);
    const imports = readFileSync(join(root, file), "utf8").matchAll(/["'](\.{1,2}\/[^"']+)\.[jt]s["']/g);
    for (const [, path] of imports) add(join(dirname(file), `${path}.d.ts`));
  };
  for (const { types } of Object.values(exports)) add(join(types));
  for (const file of readdirSync(join(root, dist), { recursive: true }).map((each) => join(dist, each)))
    if (file.endsWith(".d.ts") && !used.has(file)) rmSync(join(root, file));
}

/** The folders whose declarations people read in their editors: what the service takes and answers, and its clients. */
const readFolders = ["client", "contract", "discovery", "farm"];

/** Of the other declarations, which programs reach only through those of an export. */
function removeComments(dist) {
  for (const file of readdirSync(join(root, dist), { recursive: true }).filter((each) => each.endsWith(".d.ts"))) {
    if (file.endsWith("index.d.ts") || readFolders.includes(file.split(sep)[0])) continue;
    const path = join(root, dist, file);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, ""));
  }
}

/** The package contains only the messages for notifications; the dashboard's are in its own files. */
function writeServiceMessages(dist) {
  const folder = join(root, "src", "messages");
  for (const file of readdirSync(folder).filter((each) => extname(each) === ".json")) {
    const { over, notices, channel } = JSON.parse(readFileSync(join(folder, file), "utf8")).service;
    writeFileSync(join(root, dist, "messages", file), JSON.stringify({ service: { over, notices, channel } }));
  }
}

/** Of the details, Node-RED's editor shows those that a test of a connection and the values of actions have. */
const editorFamilies = ["address.", "client.", "link.", "mode.", "rights.", "thing."];
/** Languages of both Node-RED's editor and the messages; English is what the service itself says. */
const editorLanguages = ["de", "es", "fr", "ru", "zh"];

function writeEditorTexts(dist) {
  const folder = join(root, dist, "service", "texts");
  mkdirSync(folder, { recursive: true });
  for (const language of editorLanguages) {
    const { details, rig } = JSON.parse(readFileSync(join(root, "src", "messages", `${language}.json`), "utf8"));
    const words = Object.entries(rig.words).map(([word, text]) => [`mode.${word}`, text]);
    const shown = Object.entries(details).filter(([code]) => editorFamilies.some((start) => code.startsWith(start)));
    writeFileSync(join(folder, `${language}.json`), JSON.stringify(Object.fromEntries([...words, ...shown])));
  }
}

/** Source files under a folder of the repository. */
export const filesUnder = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => folder.includes("/") || !others.includes(name))
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]))
    .sort();

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [only] = process.argv.slice(2);
  const failure = await (only === undefined ? buildPackages(sources) : buildPackages([only], { over: true }));
  if (failure !== null) process.stderr.write(`${failure.trimEnd()}\n`);
  process.exitCode = failure === null ? 0 : 1;
}
