import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./run.mjs";

const source = join(root, "src", "web");

/** `import … from "./file"` and `export … from "./file"`, without those of types. */
const imported = /^(?:import|export)\s(?!type\b)(?:[^"';]*?\sfrom\s+)?"(\.[^"]+\.tsx?)"/gm;

/** A file and all that it imports statically from this repository, in `found`. */
function follow(file, found) {
  if (found.has(file)) return found;
  const text = readFileSync(file, "utf8");
  found.set(file, text);
  for (const [, path] of text.matchAll(imported)) follow(join(dirname(file), path), found);
  return found;
}

/** The sources that a browser needs to show the first page, the overview, by their paths. */
const sources = ["main.tsx", "pages/overview/page.tsx"].reduce(
  (found, file) => follow(join(source, file), found),
  new Map(),
);

/** As Vite names them, also on Windows. */
export const firstFiles = new Set([...sources.keys()].map((file) => file.replaceAll("\\", "/")));

/** `t.shell.away` as ["shell", "away"], `t.status[key]` as ["status", undefined]. */
const used = [...sources.values()].flatMap((text) => [...text.matchAll(/\bt\.(\w+)(?:\.(\w+))?/g)]);

/** Whether the sources of the first page name an operation. */
export const isFirstOperation = (operation) => [...sources.values()].some((text) => text.includes(`"${operation}"`));

/** Loaded with the first answer that is a problem (src/web/service-words.ts). */
const withProblems = "service.problems";

const isFirst = (section, key) =>
  `${section}.${key}` !== withProblems && used.some(([, one, other]) => one === section && (other ?? key) === key);

const pick = (texts, wanted) =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([section, inner]) => [
        section,
        Object.fromEntries(Object.entries(inner).filter(([key]) => wanted(section, key))),
      ])
      .filter(([, inner]) => Object.keys(inner).length > 0),
  );

/** The texts of a language that the first page shows, and all others, which are loaded with the first other page. */
export const splitTexts = (texts) => ({
  first: pick(texts, isFirst),
  others: pick(texts, (section, key) => !isFirst(section, key)),
});
