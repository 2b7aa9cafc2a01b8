import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `npm run licences [-- --write]`: what an installation of Rigbridge brings along, and under which licences, from the
 * lock file. Fails on a licence that is unknown or does not fit Apache-2.0; --write renews docs/licences.md.
 */
function main([option]) {
  const packages = productionPackages(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
  const page = licencesPage(packages);
  if (option === "--write") writeFileSync(licencesFile, page);
  console.log(page);
  const misfits = packages.filter(({ licence }) => !fits(licence));
  for (const { name, version, licence } of misfits)
    console.error(`${name} ${version}: ${licence || "no licence is named"}; it may not fit Apache-2.0`);
  return misfits.length === 0 ? 0 : 1;
}

const root = fileURLToPath(new URL("..", import.meta.url));
export const licencesFile = join(root, "docs", "licences.md");

/** SPDX ids of licences whose works an Apache-2.0 work may depend on and be given away with. */
const fitting = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** Of an SPDX expression without nested brackets: one of an OR is enough, and all of an AND are needed. */
export const fits = (licence) =>
  licence
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((id) => fitting.has(id.trim())));

/** Name, version and licence of what is installed without development dependencies, each once, by name. */
export function productionPackages({ packages }) {
  const listed = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes("node_modules/") && dev !== true && link !== true)
    .map(([path, { version, license }]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      licence: typeof license === "string" ? license : "",
    }));
  const once = new Map(listed.map((each) => [`${each.name} ${each.version}`, each]));
  return [...once.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

export const licencesPage = (packages) =>
  [
    "# Licences of what Rigbridge depends on",
    "",
    "Made by `npm run licences -- --write` from the lock file. An installation brings these along; none is part of the",
    "package itself.",
    "",
    ...table([["package", "version", "licence"], ...packages.map((each) => [each.name, each.version, each.licence])]),
    "",
  ].join("\n");

/** A Markdown table with its columns in line. */
function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (cells, fill) => `| ${cells.map((cell, column) => cell.padEnd(widths[column], fill)).join(" | ")} |`;
  const [head, ...body] = rows;
  return [
    line(head, " "),
    line(
      head.map(() => ""),
      "-",
    ),
    ...body.map((row) => line(row, " ")),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
