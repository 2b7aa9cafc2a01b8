import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { must, root } from "../package/packed.ts";
import { type Catalogue, languages, type NodePackage, type NodeSet, readManifest, rules } from "./package-rules.ts";

// depends on: nodes/**

const home = join(root, "nodes");
const read = (path: string): Promise<string> => readFile(join(home, path), "utf8");

let own: NodePackage;
beforeAll(async () => {
  const manifest = readManifest(await read("package.json"));
  const sets = await Promise.all(
    Object.entries(manifest["node-red"].nodes).map(([name, file]) => readSet(name, file.split("/")[1] ?? "")),
  );
  own = { manifest, sets, examples: await readExamples(), packed: await packedFiles(), sources: await readSources() };
});

async function readSet(name: string, folder: string): Promise<NodeSet> {
  const inEach = async <T>(kind: string, look: (text: string) => T): Promise<Record<string, T>> =>
    Object.fromEntries(
      await Promise.all(
        languages.map(async (language) => [
          language,
          look(await read(`${folder}/locales/${language}/${name}.${kind}`)),
        ]),
      ),
    );
  return {
    name,
    html: await read(`${folder}/${name}.html`),
    catalogues: await inEach("json", (text) => flat(JSON.parse(text))),
    help: await inEach("html", (text) => text),
  };
}

function flat(texts: unknown, before = ""): Catalogue {
  if (typeof texts === "string") return { [before]: texts };
  const inner = Object.entries(z.record(z.string(), z.unknown()).parse(texts));
  return Object.assign({}, ...inner.map(([key, text]) => flat(text, before === "" ? key : `${before}.${key}`)));
}

const Flow = z.array(z.looseObject({ type: z.string() }));

async function readExamples(): Promise<Record<string, string[]>> {
  const names = (await readdir(join(home, "examples"))).filter((name) => name.endsWith(".json"));
  const flows = await Promise.all(
    names.map(async (name) => Flow.parse(JSON.parse(await read(`examples/${name}`))).map(({ type }) => type)),
  );
  return Object.fromEntries(names.map((name, index) => [name, flows[index] ?? []]));
}

async function readSources(): Promise<string> {
  const files = await readdir(home, { recursive: true });
  const wanted = files.filter(
    (file) => !/^(dist|node_modules|examples)\/|locales\//.test(file) && /\.(ts|html|js)$/.test(file),
  );
  // The names of properties are in the contract.
  return (await Promise.all([...wanted, "../src/contract/properties.ts"].map(read))).join("\n");
}

async function packedFiles(): Promise<string[]> {
  const Packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })]);
  const output = await must("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=silent"], home);
  const [{ files }] = Packed.parse(JSON.parse(output.slice(output.indexOf("["))));
  return files.map(({ path }) => path);
}

/** The package with a changed manifest, or with its first set changed. */
const withManifest = (changed: object): NodePackage => ({ ...own, manifest: { ...own.manifest, ...changed } });
const withSet = (changed: (set: NodeSet) => Partial<NodeSet>): NodePackage => {
  const [service, first, ...others] = own.sets;
  if (service === undefined || first === undefined) throw new Error("there are several");
  return { ...own, sets: [service, { ...first, ...changed(first) }, ...others] };
};
const withHtml = (from: string | RegExp, to: string): NodePackage =>
  withSet(({ html }) => ({ html: html.replace(from, to) }));
const withTexts = (language: string, texts: Catalogue): NodePackage =>
  withSet(({ catalogues }) => ({ catalogues: { ...catalogues, [language]: { ...catalogues[language], ...texts } } }));

/** Packages that break each rule. */
const broken: Readonly<Record<string, () => readonly NodePackage[]>> = {
  P01: () => [withManifest({ license: undefined })],
  P03: () => [withManifest({ bugs: undefined }), withManifest({ repository: { url: "rigbridge" } })],
  P04: () => [withManifest({ name: "rigbridge-nodes" })],
  P05: () => [withManifest({ keywords: ["mining"] })],
  P06: () => [withManifest({ "node-red": { ...own.manifest["node-red"], version: ">=5" } })],
  P07: () => [withManifest({ engines: { node: ">=22.13" } })],
  N01: () => [
    withHtml('"rigbridge-miner-action", {', '"miner-action", {'),
    { ...own, sets: [...own.sets, ...own.sets] },
  ],
  N02: () => [{ ...own, examples: {} }],
  D01: () => [withManifest({ dependencies: Object.fromEntries([..."abcdefg"].map((name) => [name, "^1.0.0"])) })],
  "has one colour": () => [
    withHtml(/color: "#[0-9A-F]{6}"/, 'color: "#AA0000"'),
    {
      ...own,
      sets: own.sets.map((set) => ({ ...set, html: set.html.replace(/color: "#[0-9A-F]{6}"/, 'color: "#DEB880"') })),
    },
  ],
  "registers one": () => [
    withHtml(/registerType\("rigbridge-miner-action", \{/, "registerType(type, {"),
    withHtml(/icon: "[a-z-]+\.svg",/, ""),
    withHtml("defaults: {", "defaults: made, others: {"),
    withHtml(/data-template-name="[a-z-]+"/, ""),
  ],
  "has texts": () => [
    withTexts("en-US", { "rigbridge-miner-action.more": "more" }),
    withTexts("de", { "rigbridge-miner-action.action": "" }),
    withSet(() => ({ help: {} })),
  ],
  "has every used": () => [
    { ...own, sources: `${own.sources} translate("status.nonsense")` },
    { ...own, sources: `${own.sources} new Fault("internal", "nonsense")` },
    { ...own, sources: `${own.sources} data-i18n="rigbridge-miner-action.nonsense"` },
  ],
  "uses every": () => [withTexts("en-US", { "rigbridge-miner-action.nobody-asks": "nobody" })],
  "packs only": () => [
    { ...own, packed: own.packed.filter((file) => !file.endsWith(".svg")) },
    { ...own, packed: own.packed.filter((file) => !file.startsWith("examples/")) },
    { ...own, packed: [...own.packed, "dist/service/settings.ts"] },
    { ...own, packed: [...own.packed, "resources/.env"] },
  ],
};

describe.each(Object.entries(rules))("The package of nodes %s", (name, rule) => {
  test("is met", () => {
    expect(rule(own)).toEqual([]);
  });

  test("is broken by packages that break it", () => {
    const [, packages] = Object.entries(broken).find(([start]) => name.startsWith(start)) ?? [];
    const found = packages?.().map((given) => rule(given).length) ?? [];
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((count) => count > 0)).toBe(true);
  });
});
