import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { splitTexts } from "../../scripts/first-load.mjs";
import { detailsOfService, differences, hintsOfForms, namesFile, readMessages } from "../../scripts/messages.mjs";
import { readyMadeRules } from "../../src/catalogue/ready-made-rules.ts";
import { problems } from "../../src/contract/problems.ts";
import { languages } from "../../src/messages/languages.ts";
import { callable, completed, filled, joined, type Texts } from "../../src/messages/texts.ts";

// depends on: src/**

const folder = fileURLToPath(new URL("../../src/messages", import.meta.url));
const english: Texts = readMessages("en");
const others = Object.keys(languages).filter((language) => language !== "en");

const root = fileURLToPath(new URL("../../src", import.meta.url));
/** The sources of the service, without the catalogue itself. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/details\.ts$|^web/.test(file))
    .map((file) => `${folder}/${file}`);

type Text = readonly [path: string, text: string];
const textsOf = (texts: Texts, path = ""): Text[] =>
  typeof texts === "string"
    ? [[path, texts]]
    : Object.entries(texts).flatMap(([key, inner]) => textsOf(inner, `${path}.${key}`));

const source = new Map(textsOf(english));
const placesIn = (text: string): string =>
  [...text.matchAll(/#|\{\w+\}/g)]
    .map(([each]) => each)
    .sort()
    .join();

test("every language has a file, and every file a language", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  expect(files.map((file) => basename(file, ".json")).sort()).toEqual(Object.keys(languages).sort());
});

test("the names of what is put into texts are those of en.json: `npm run i18n` writes them", () => {
  expect(readFileSync(`${folder}/names.ts`, "utf8")).toBe(namesFile(english));
});

test("no English text is empty or ends with a space", () => {
  expect([...source].filter(([, text]) => text.trim() !== text || text === "")).toEqual([]);
});

test("what the API says by code has the API's own English text", () => {
  const { service } = english as { service: { problems: object; readyMade: object } };
  expect(service.problems).toEqual(
    Object.fromEntries(Object.entries(problems).map(([code, { title }]) => [code, title])),
  );
  const own = readyMadeRules.map(({ key, name, description }) => [key, { name, description }]);
  expect(service.readyMade).toEqual(Object.fromEntries(own));
});

test("the details of the service are those of its source: `npm run i18n` writes them", async () => {
  expect((english as { details: object }).details).toEqual(await detailsOfService());
});

test("every detail is said somewhere: by its code, or by a schema that contains its text", () => {
  const source = filesIn(root).map((file) => readFileSync(file, "utf8"));
  const all = source.join("\n");
  const families = [...all.matchAll(/detail\(\s*`([\w.]+)\$\{/g)].map(([, start = ""]) => start);
  const isSaid = (code: string, text: string): boolean =>
    [`"${code}"`, `"${text}"`, `'${text}'`].some((each) => all.includes(each)) ||
    ["thing.", "mode."].some((start) => code.startsWith(start)) ||
    families.some((start) => code.startsWith(start));
  const { details } = english as { details: Record<string, string> };
  expect(families).toContain("link.");
  expect(Object.entries(details).filter(([code, text]) => !isSaid(code, text))).toEqual([]);
});

test("the hints of forms are those of their schemas: `npm run i18n` writes them", async () => {
  expect((english as { hints: object }).hints).toEqual(await hintsOfForms());
});

test("the texts of the first page and the others are together all texts", () => {
  const { first, others } = splitTexts(english);
  expect([first, others].map((part) => Object.keys(part).length > 0)).toEqual([true, true]);
  expect(new Map(textsOf(joined(first, others)))).toEqual(source);
  expect(textsOf(first).length + textsOf(others).length).toBe(source.size);
});

test("the first page has its texts, and not those of another", () => {
  const { first } = splitTexts(english) as { first: Record<string, Record<string, unknown> | undefined> };
  expect([first.shell?.skip, first.overview?.title, first.wall?.title]).not.toContain(undefined);
  expect([first.rigs, first.wall?.screen]).toEqual([undefined, undefined]);
});

describe.each(others)("%s.json", (language) => {
  const own: Texts = readMessages(language);
  const texts = textsOf(own);
  test("has every text of en.json, and no other", () => {
    expect(differences(english, own)).toEqual({ missing: [], unknown: [] });
  });

  test("is translated, without spaces at the ends", () => {
    const english = texts.filter(([path, text]) => text === source.get(path) && /\p{L}{3,} \p{L}{3,}/u.test(text));
    expect(english).toEqual([]);
    expect(texts.filter(([, text]) => text.trim() !== text || text === "")).toEqual([]);
  });

  test("puts the same into every text", () => {
    // English says "once" without a number where other languages have a form for 1, 21, 31, ...
    const sources = (path: string) => [source.get(path), source.get(path.replace(/\w+$/, "other"))];
    const kept = ([path, text]: Text) =>
      sources(path).some((each) => each !== undefined && placesIn(each) === placesIn(text));
    expect(texts.filter((each) => !kept(each))).toEqual([]);
  });

  test("has the forms by number of its language, and only these", () => {
    const rules = new Intl.PluralRules(language);
    // Without those of fractions and of millions, for which `other` stands in.
    const used = new Set(Array.from({ length: 1_000 }, (_, count) => rules.select(count)).concat("other"));
    const formsIn = (texts: Texts, path = ""): Text[] => {
      if (typeof texts === "string") return [];
      if (typeof texts.other === "string") return [[path, Object.keys(texts).sort().join()]];
      return Object.entries(texts).flatMap(([key, inner]) => formsIn(inner, `${path}.${key}`));
    };
    expect(formsIn(own).filter(([, forms]) => forms !== [...used].sort().join())).toEqual([]);
  });
});

test("a text is filled with what is given by name, and a text that is missing is English", () => {
  expect(filled("{a} of {b}, {c}", { a: 1, b: "{a}" })).toBe("1 of {a}, {c}");
  const texts = completed(
    { a: "eins", n: { one: "#", other: "# Rigs" } },
    { a: "one", b: { c: "{x}!" }, n: { other: "#" } },
  );
  expect(texts).toEqual({ a: "eins", b: { c: "{x}!" }, n: { one: "#", other: "# Rigs" } });
  const { b } = callable(texts) as { b: { c: (values: { x: string }) => string } };
  expect(b.c({ x: "so" })).toBe("so!");
});
