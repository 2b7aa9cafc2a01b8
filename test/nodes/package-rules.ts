import { parse } from "acorn";
import { full } from "acorn-walk";
import { z } from "zod";

const Manifest = z.looseObject({
  name: z.string(),
  license: z.string().optional(),
  repository: z.object({ url: z.string() }).optional(),
  bugs: z.object({ url: z.string() }).optional(),
  keywords: z.array(z.string()),
  engines: z.object({ node: z.string() }),
  dependencies: z.record(z.string(), z.string()),
  "node-red": z.object({ version: z.string(), nodes: z.record(z.string(), z.string()) }),
});

/** The texts of a catalogue by their path, like "field.miners". */
export type Catalogue = Readonly<Record<string, string>>;

export interface NodeSet {
  /** As under `node-red.nodes`: also the name of its catalogue. */
  readonly name: string;
  readonly html: string;
  readonly catalogues: Readonly<Record<string, Catalogue>>;
  readonly help: Readonly<Record<string, string>>;
}

/** The parts of a Node-RED package that the rules check. */
export interface NodePackage {
  readonly manifest: z.infer<typeof Manifest>;
  readonly sets: readonly NodeSet[];
  /** Types of the nodes of each example flow. */
  readonly examples: Readonly<Record<string, readonly string[]>>;
  /** The packed files. */
  readonly packed: readonly string[];
  /** All sources of the nodes and their editors. */
  readonly sources: string;
}

export const readManifest = (text: string): NodePackage["manifest"] => Manifest.parse(JSON.parse(text));

export const languages = ["en-US", "de"] as const;

/** Everything that the package may contain. */
const mayBePacked = [
  /^(package\.json|README\.md|LICENSE)$/,
  /^dist\/[a-z-]+\/[a-z-]+\.(js|html)$/,
  /^dist\/[a-z-]+\/icons\/[a-z-]+\.svg$/,
  /^dist\/[a-z-]+\/locales\/(en-US|de)\/[a-z-]+\.(json|html)$/,
  /^dist\/service\/texts\/(de|es|fr|ru|zh)\.json$/,
  /^resources\/[a-z-]+\.(js|css)$/,
  /^examples\/[a-z-]+\.json$/,
];

/**
 * The rules of Node-RED's scorecard (`node-red-dev validate`) that need no network, by their numbers, and rules of this
 * project. Each returns the violations.
 */
export const rules: Readonly<Record<string, (given: NodePackage) => readonly string[]>> = {
  "P01: has a licence": ({ manifest }) => unless(/^[\w.-]+$/.test(manifest.license ?? ""), "license"),
  "P03: has its repository and issue tracker": ({ manifest: { repository, bugs } }) => [
    ...unless(/^git\+https:\/\//.test(repository?.url ?? ""), "repository"),
    ...unless(/^https:\/\//.test(bugs?.url ?? ""), "bugs"),
  ],
  "P04: has a scoped name": ({ manifest: { name } }) => unless(/^@[a-z-]+\/[a-z-]+$/.test(name), name),
  "P05: has the keyword": ({ manifest: { keywords } }) => unless(keywords.includes("node-red"), "keywords"),
  "P06: requires a Node-RED that includes both supported versions": ({ manifest }) =>
    unless(manifest["node-red"].version === ">=4.1", manifest["node-red"].version),
  "P07: runs on the oldest Node.js of Node-RED 5": ({ manifest: { engines } }) =>
    unless(engines.node === ">=22.9", engines.node),
  "N01: each type is unique, and has the package's prefix": ({ sets }) => {
    const types = sets.flatMap(({ html }) => registered(html).map(({ type }) => type));
    return [
      ...types.filter((type, index) => types.indexOf(type) !== index),
      ...types.filter((type) => !type.startsWith("rigbridge-")),
    ];
  },
  "N02: each node but configuration nodes is in an example": ({ sets, examples }) => {
    const shown = new Set(Object.values(examples).flat());
    return sets.flatMap(({ html }) =>
      registered(html)
        .filter(({ fields }) => fields.category !== "config")
        .map(({ type }) => type)
        .filter((type) => !shown.has(type)),
    );
  },
  "D01: has at most six dependencies": ({ manifest }) =>
    unless(Object.keys(manifest.dependencies).length <= 6, "dependencies"),
  "has one colour of its own": ({ sets }) => {
    const colours = [
      ...new Set(sets.flatMap(({ html }) => registered(html)).flatMap(({ fields }) => fields.color ?? [])),
    ];
    return [
      ...unless(colours.length === 1, colours.join(" ")),
      ...coreColours.filter((core) => colours.some((own) => distance(own, core) < 60)),
    ];
  },
  "registers one node per set, written out in place": ({ sets }) => sets.flatMap(registerFaults),
  "has texts and help in every language": ({ sets }) => sets.flatMap(languageFaults),
  "has every used text": ({ sets, sources }) => {
    const there = new Set(sets.flatMap(keysOf));
    return usedKeys(sets, sources).filter((key) => !there.has(key));
  },
  "uses every text": ({ sets, sources }) => {
    const direct = new Set(usedKeys(sets, sources));
    const composed = isComposed(sources);
    const isUsed = (key: string): boolean => direct.has(key) || sources.includes(`"${key}"`) || composed(key);
    return sets.flatMap(keysOf).filter((key) => !isUsed(key));
  },
  "packs only what it needs": ({ manifest, sets, examples, packed }) => {
    const files = Object.values(manifest["node-red"].nodes).flatMap((file) => [file, file.replace(/js$/, "html")]);
    const folders = Object.entries(manifest["node-red"].nodes).map(([name, file]) => ({
      name,
      folder: file.slice(0, file.lastIndexOf("/")),
    }));
    const texts = folders.flatMap(({ name, folder }) =>
      languages.flatMap((language) => [`json`, `html`].map((kind) => `${folder}/locales/${language}/${name}.${kind}`)),
    );
    const icons = sets.flatMap(({ name, html }) =>
      registered(html).flatMap(({ fields }) => {
        const folder = folders.find((each) => each.name === name)?.folder ?? "";
        return fields.icon === undefined ? [] : [`${folder}/icons/${fields.icon}`];
      }),
    );
    const shared = ["package.json", "README.md", "LICENSE", "resources/rigbridge.js", "resources/rigbridge.css"];
    const needed = [
      ...files,
      ...texts,
      ...icons,
      ...shared,
      ...Object.keys(examples).map((name) => `examples/${name}`),
    ];
    return [
      ...needed.filter((file) => !packed.includes(file)).map((file) => `missing: ${file}`),
      ...packed.filter((file) => !mayBePacked.some((pattern) => pattern.test(file))).map((file) => `too much: ${file}`),
    ];
  },
};

/** Of the nodes of Node-RED itself. */
const coreColours = [
  ...["#a6bbcf", "#87a980", "#e49191", "#94c1d0", "#dddddd", "#fdd0a2", "#e2d96e", "#f3b567", "#e6e0f8", "#e9967a"],
  ...["#d8bfd8", "#e7e7ae", "#d7d7a0", "#c0c0c0", "#debd5c", "#deb887"],
];

/** How far two colours like `#57C4B8` are apart. */
function distance(a: string, b: string): number {
  const parts = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const others = parts(b);
  return Math.hypot(...parts(a).map((part, at) => part - (others[at] ?? 0)));
}

const unless = (holds: boolean, what: string): readonly string[] => (holds ? [] : [what]);

interface Registered {
  readonly type: string;
  /** The keys of the definition object, with their texts. */
  readonly fields: Readonly<Record<string, string>>;
}

const Property = z.looseObject({
  type: z.literal("Property"),
  method: z.literal(false),
  key: z.looseObject({ name: z.string() }),
  value: z.looseObject({ type: z.string(), value: z.unknown().optional() }),
});
const Call = z.looseObject({
  type: z.literal("CallExpression"),
  callee: z.looseObject({ property: z.looseObject({ name: z.literal("registerType") }) }),
  arguments: z.tuple([
    z.looseObject({ type: z.literal("Literal"), value: z.string() }),
    z.looseObject({ type: z.literal("ObjectExpression"), properties: z.array(z.unknown()) }),
  ]),
});

/** The calls of `registerType` in a page that checkers can read: with a literal text and object. */
export function registered(html: string): readonly Registered[] {
  const found: Registered[] = [];
  for (const [, script = ""] of html.matchAll(/<script type="text\/javascript">([\s\S]*?)<\/script>/g))
    full(parse(script, { ecmaVersion: 2022 }), (node) => {
      const { data } = Call.safeParse(node);
      if (data === undefined) return;
      const [type, definition] = data.arguments;
      const fields = definition.properties.flatMap((property) => {
        const { data: known } = Property.safeParse(property);
        return known === undefined ? [] : [[known.key.name, String(known.value.value ?? known.value.type)] as const];
      });
      found.push({ type: type.value, fields: Object.fromEntries(fields) });
    });
  return found;
}

function registerFaults({ name, html }: NodeSet): readonly string[] {
  const calls = html.match(/registerType\(/g) ?? [];
  const [only, ...others] = registered(html);
  if (only === undefined || others.length > 0 || calls.length !== 1) return [`${name}: registers no type, or several`];
  const { type, fields } = only;
  const needed =
    fields.category === "config" ? ["defaults"] : ["defaults", "category", "color", "icon", "inputs", "outputs"];
  return [
    ...unless(type === name, `${name}: registers ${type}`),
    ...needed.filter((field) => fields[field] === undefined).map((field) => `${name}: no ${field} in place`),
    ...unless(
      fields.defaults === undefined || fields.defaults === "ObjectExpression",
      `${name}: defaults are made elsewhere`,
    ),
    ...unless(html.includes(`data-template-name="${type}"`), `${name}: no dialog`),
  ];
}

function languageFaults({ name, catalogues, help }: NodeSet): readonly string[] {
  return languages.flatMap((language) => {
    const own = Object.keys(catalogues[language] ?? {});
    const others = languages.flatMap((other) => Object.keys(catalogues[other] ?? {}));
    return [
      ...unless(help[language]?.includes(`data-help-name="${name}"`) === true, `${name}: no help in ${language}`),
      ...[...new Set(others)].filter((key) => !own.includes(key)).map((key) => `${name}: no ${key} in ${language}`),
      ...own
        .filter((key) => catalogues[language]?.[key] === "")
        .map((key) => `${name}: ${key} is empty in ${language}`),
    ];
  });
}

const keysOf = ({ catalogues }: NodeSet): readonly string[] => Object.keys(catalogues["en-US"] ?? {});

/** Keys written out in a page or in code. */
function usedKeys(sets: readonly NodeSet[], sources: string): readonly string[] {
  const groups = [...new Set(sets.flatMap(keysOf).map((key) => key.split(".")[0] ?? ""))];
  const asked = [
    ...sources.matchAll(/data-i18n="(?:\[[a-z-]+\])?([\w.-]+)"/g),
    ...sources.matchAll(/(?:\b_|\btranslate)\("([\w.-]+)"/g),
    ...sources.matchAll(/"=([a-z]+\.[\w-]+)"/g),
    ...[...sources.matchAll(/\.head\("([\w-]+)"\)/g)].map(([, type = ""]) => ["", `${type}.palette`]),
  ].flatMap(([, key = ""]) => (groups.includes(key.split(".")[0] ?? "") ? [key] : [`unknown group: ${key}`]));
  const faults = [...sources.matchAll(/new Fault\(\s*"[\w.-]+",\s*"([\w-]+)"/g)].map(([, key = ""]) => `fault.${key}`);
  const ofFields = [...sources.matchAll(/fieldFault\(\s*\S+,\s*"([\w-]+)"/g)].map(([, key = ""]) => `fault.${key}`);
  return [...new Set([...asked, ...faults, ...ofFields])];
}

/** Whether a template like `command.${name}` could produce the key, with a word of the sources. */
function isComposed(sources: string): (key: string) => boolean {
  const words = new Set(sources.match(/[\w-]+/g));
  const beginnings = new Set([...sources.matchAll(/[`=]([a-z][\w.-]*[.-])\$\{/g)].map(([, start = ""]) => start));
  const isWord = (rest: string): boolean =>
    words.has(rest) || [...beginnings].some((start) => rest.startsWith(start) && words.has(rest.slice(start.length)));
  return (key) => [...beginnings].some((start) => key.startsWith(start) && isWord(key.slice(start.length)));
}
