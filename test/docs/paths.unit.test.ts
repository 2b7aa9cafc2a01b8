import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

// depends on: *.md, docs/*.md, examples/**/*.md, .github/**, src/**, nodes/**, homebridge/**, scripts/**

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = globSync(["*.md", "docs/*.md", "examples/**/*.md", ".github/**/*.md"], { cwd: root });

/** Folders and files in backticks, from the root; patterns and placeholders are left out. */
const named = /`((?:src|test|nodes|homebridge|scripts|examples|docs)\/[^`*<>\s]+)`/g;
const linked = /\]\((?!https?:|#)([^)#\s]+)/g;

test.each(pages)("every file that %s names is there", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const paths = [
    ...[...text.matchAll(named)].map(([, path = ""]) => path),
    ...[...text.matchAll(linked)].map(([, path = ""]) => join(dirname(page), path)),
  ];
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
