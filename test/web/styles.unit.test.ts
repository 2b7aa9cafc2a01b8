import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

// depends on: src/web/**

const web = fileURLToPath(new URL("../../src/web/", import.meta.url));

interface Sheet {
  readonly file: string;
  /** As written, without at-rules. */
  readonly selectors: readonly string[];
}

function sheets(folders: readonly string[]): Sheet[] {
  const files = readdirSync(web, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".css") && folders.some((folder) => file.startsWith(`${folder}/`)),
  );
  return files.sort().map((file) => {
    const text = readFileSync(`${web}${file}`, "utf8").replace(/\/\*.*?\*\//gs, "");
    const preludes = [...text.matchAll(/([^{};]+)\{/g)].map(([, prelude = ""]) => prelude.trim());
    return { file, selectors: preludes.filter((each) => !each.startsWith("@")) };
  });
}

const classesOf = (selector: string): string[] =>
  [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = ""]) => name);
/** At its commas outside of parentheses. */
const partsOf = (selector: string): string[] => selector.split(/,(?![^(]*\))/).map((each) => each.trim());

// The sheet of a page stays when another page opens.
test("what a page's style sheet changes is that page's own", () => {
  const shared = new Set(sheets(["style", "parts"]).flatMap(({ selectors }) => selectors.flatMap(classesOf)));
  const pages = sheets(["pages"]);
  expect(pages.length).toBeGreaterThan(5);
  const owners = new Map<string, string>();
  const found: string[] = [];
  for (const { file, selectors } of pages) {
    const page = basename(dirname(file));
    for (const part of selectors.flatMap(partsOf)) {
      const own = classesOf(part).find((name) => !shared.has(name));
      if (own === undefined) found.push(`${file}: ${part} reaches every page`);
      else if ((owners.get(own) ?? page) !== page) found.push(`${file}: .${own} is also a class of ${owners.get(own)}`);
      else owners.set(own, page);
    }
  }
  expect(found).toEqual([]);
});

test("every style sheet is imported beside it or by main", () => {
  const files = readdirSync(web, { recursive: true, encoding: "utf8" });
  const modules = files.filter((file) => /\.tsx?$/.test(file));
  const imported = new Set(
    modules.flatMap((file) =>
      [...readFileSync(`${web}${file}`, "utf8").matchAll(/^import "(.+\.css)";$/gm)].map(([, path = ""]) =>
        join(dirname(file), path),
      ),
    ),
  );
  expect(files.filter((file) => file.endsWith(".css") && !imported.has(file))).toEqual([]);
});
