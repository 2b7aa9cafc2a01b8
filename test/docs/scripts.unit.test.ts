import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { z } from "zod";

// depends on: README.md, CONTRIBUTING.md, docs/*.md, package.json, nodes/package.json, homebridge/package.json, scripts/*.mjs

const root = new URL("../../", import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, root), "utf8");
const packageOf = (file: string) =>
  z
    .object({
      scripts: z.record(z.string(), z.string()).default({}),
      dependencies: z.record(z.string(), z.string()).default({}),
      devDependencies: z.record(z.string(), z.string()).default({}),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    })
    .parse(JSON.parse(textOf(file)));
const { scripts, ...own } = packageOf("package.json");
const packagesIn = (each: Omit<ReturnType<typeof packageOf>, "scripts">): string[] =>
  [each.dependencies, each.devDependencies, each.optionalDependencies].flatMap((list) => Object.keys(list));
const frontEnds = ["nodes/package.json", "homebridge/package.json"].map(packageOf).flatMap(packagesIn);

const pages = ["README.md", "CONTRIBUTING.md", "docs/performance.md", "docs/architecture.md", "docs/drivers.md"];
const mentioned = [
  ...new Set(
    pages.flatMap((page) => [
      ...[...textOf(page).matchAll(/npm run ([a-z0-9]+)/g)].map(([, name = ""]) => name),
      ...[...textOf(page).matchAll(/npm (start|test)\b/g)].map(([, name = ""]) => name),
    ]),
  ),
];

/** The packages that the file of a script, and all that it imports here, load. */
function loadedBy(url: URL, seen = new Set<string>()): string[] {
  if (seen.has(url.href) || !existsSync(url)) return [];
  seen.add(url.href);
  const text = readFileSync(url, "utf8");
  const imports = [
    ...text.matchAll(
      /(?:^|\n)(?:import|export)(?! type)[^"';]*?from "([^"]+)"|import\("([^"]+)"\)|^import "([^"]+)"/gm,
    ),
  ];
  return imports.flatMap(([, from, dynamic, bare]) => {
    const wanted = from ?? dynamic ?? bare ?? "";
    if (wanted.startsWith(".")) return loadedBy(new URL(wanted, url), seen);
    return wanted.startsWith("node:")
      ? []
      : [
          wanted
            .split("/")
            .slice(0, wanted.startsWith("@") ? 2 : 1)
            .join("/"),
        ];
  });
}

test("every npm script that the documents mention exists, and its files too", () => {
  expect(mentioned.length).toBeGreaterThan(8);
  expect(mentioned.filter((name) => scripts[name] === undefined)).toEqual([]);
  const files = Object.values(scripts).flatMap((line) => line.match(/\S+\.(mjs|ts)\b/g) ?? []);
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});

/** What a script runs beside its own file, and whether it installs the packages of the front ends. */
const runs: Readonly<Record<string, string>> = {
  bench: "test/bench/bench.ts",
  devices: "test/docs/write.ts",
};

test.each(Object.entries(runs))("all that `npm run %s` loads is declared, and installed by it", (name, file) => {
  const script = /\S+\.mjs/.exec(scripts[name] ?? "")?.[0];
  const withFrontEnds = script !== undefined && textOf(script).includes("frontEnds: true");
  const installed = new Set([...packagesIn(own), ...(withFrontEnds ? frontEnds : [])]);
  const loaded = [...new Set(loadedBy(new URL(file, root)))];
  expect(loaded).not.toEqual([]);
  expect(loaded.filter((each) => !installed.has(each))).toEqual([]);
});

test("a script that runs a program installs what it needs first", () => {
  const own = Object.entries(scripts).filter(
    ([name]) => mentioned.includes(name) && name !== "licences" && name !== "release",
  );
  const without = own.filter(([, line]) => {
    const file = /scripts\/\S+\.mjs/.exec(line)?.[0];
    return file === undefined || !/setUp|command\.mjs/.test(textOf(file));
  });
  expect(without.map(([name]) => name)).toEqual([]);
});
