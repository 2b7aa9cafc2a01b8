import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./run.mjs";

const folder = join(root, "src", "messages");

/** The texts of a language, as in its file. */
export const readMessages = (language) => JSON.parse(readFileSync(join(folder, `${language}.json`), "utf8"));

const isForms = (texts) => typeof texts.other === "string";
/** The {names} in each text that has some, by the path of the text. */
const namesIn = (texts, path = []) => {
  if (typeof texts !== "string") return Object.entries(texts).flatMap(([key, inner]) => namesIn(inner, [...path, key]));
  const names = [...new Set([...texts.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort();
  return names.length === 0 ? [] : [[path.join("."), names]];
};

/** The source of `src/messages/names.ts`. */
export const namesFile = ({ hints, details, ...english }) => `// Made by \`npm run i18n\` from en.json.

/** What is put into texts, by their paths. */
export interface Names {
${namesIn(english)
  .map(
    ([path, names]) =>
      `  readonly ${JSON.stringify(path)}: ${names.map((name) => JSON.stringify(name)).join(" | ")};\n`,
  )
  .join("")}}
`;

/** Paths of the texts that English has and a language has not, and the other way round. */
export function differences(english, texts, path = []) {
  const isText = typeof english === "string" || isForms(english);
  if (texts === undefined && isText) return { missing: [path.join(".")], unknown: [] };
  if (isText || typeof texts === "string") return { missing: [], unknown: [] };
  const unknown = Object.keys(texts ?? {}).filter((key) => !(key in english));
  const inner = Object.keys(english).map((key) => differences(english[key], texts?.[key], [...path, key]));
  return {
    missing: inner.flatMap((each) => each.missing),
    unknown: [...unknown.map((key) => [...path, key].join(".")), ...inner.flatMap((each) => each.unknown)],
  };
}

const source = (file) => import(pathToFileURL(join(root, "src", file)).href);

/** The hints of the fields of all forms, as the descriptions of their schemas have them. */
export async function hintsOfForms() {
  const { formSchemas, sectionSchemas, descriptionsIn } = await source("config/form-schemas.ts");
  const { hintText } = await source("messages/hint-text.ts");
  const hints = [...descriptionsIn([formSchemas(), sectionSchemas()])].map(hintText);
  return Object.fromEntries([...new Set(hints)].sort().map((hint) => [hint, hint]));
}

/** The English details of the service by code, as its source has them. */
export const detailsOfService = async () => (await source("messages/details.ts")).details;

async function main() {
  const english = { ...readMessages("en"), details: await detailsOfService(), hints: await hintsOfForms() };
  writeFileSync(join(folder, "en.json"), `${JSON.stringify(english, null, 2)}\n`);
  writeFileSync(join(folder, "names.ts"), namesFile(english));
  const { languages } = await import(pathToFileURL(join(folder, "languages.ts")).href);
  let wrong = 0;
  for (const [language, name] of Object.entries(languages)) {
    const { missing, unknown } = differences(english, readMessages(language));
    wrong += unknown.length;
    console.log(
      `${name} (${language}.json): ${missing.length === 0 ? "complete" : `${missing.length} texts are missing`}`,
    );
    for (const path of missing) console.log(`  missing: ${path}`);
    for (const path of unknown) console.log(`  not in en.json: ${path}`);
  }
  process.exitCode = wrong === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
