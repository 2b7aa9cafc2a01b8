import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

// depends on: src/**, nodes/**, homebridge/src/**, CONTRIBUTING.md

/** Which folder may import which. CONTRIBUTING.md shows the same lines. */
const layers: Arrows = {
  async: [],
  contract: ["async", "messages"],
  messages: [],
  units: ["contract"],
  catalogue: ["contract"],
  store: ["async", "contract"],
  link: ["async", "catalogue", "contract", "messages"],
  fleet: ["async", "contract", "link", "messages"],
  config: ["async", "catalogue", "contract", "link", "messages"],
  client: ["async", "contract", "messages", "units"],
  discovery: ["async", "client", "contract", "link"],
  service: ["async", "catalogue", "config", "contract", "discovery", "fleet", "link", "messages", "store", "units"],
  centre: ["agent", "async", "contract", "messages", "service", "store", "units"],
  farm: ["async", "contract"],
  mcp: ["contract", "units"],
  metrics: ["contract"],
  http: ["async", "config", "contract", "mcp", "messages", "metrics"],
  "remote-write": ["async", "config", "contract", "messages", "metrics"],
  web: ["contract", "messages"],
  mqtt: ["async", "catalogue", "config", "contract", "farm", "http", "messages"],
  simulator: ["agent", "async", "catalogue", "contract", "link", "units"],
  agent: ["async", "catalogue", "config", "contract", "store"],
  cli: [
    "agent",
    "async",
    "centre",
    "client",
    "config",
    "contract",
    "discovery",
    "http",
    "link",
    "mcp",
    "mqtt",
    "remote-write",
    "service",
    "simulator",
    "store",
    "units",
  ],
  nodes: ["async", "client", "config", "contract", "discovery", "farm", "service"],
  homebridge: ["async", "client", "config", "contract", "discovery", "farm", "service"],
};

/** The same inside `src/service`; what opens these folders, in `rooms` and beside them, is not restricted. */
const rooms: Arrows = {
  settings: [],
  users: ["settings"],
  places: [],
  notifications: ["users"],
  money: ["settings", "users"],
  market: ["money", "users"],
  miners: ["money", "notifications", "places", "settings", "users"],
  history: ["miners", "places", "settings", "users"],
  events: ["miners", "users"],
  discovery: ["miners", "notifications", "settings", "users"],
  imports: ["miners", "places", "users"],
  commands: ["miners", "money", "notifications", "users"],
  hosts: ["commands", "miners", "money", "notifications", "settings", "users"],
  power: ["commands", "miners", "money", "notifications", "settings", "users"],
  facility: ["commands", "miners", "money", "notifications", "settings", "users"],
  curtailment: ["automation", "commands", "facility", "miners", "money", "notifications", "places", "power", "users"],
  trials: ["market", "money", "power"],
  automation: [
    "commands",
    "events",
    "history",
    "miners",
    "money",
    "notifications",
    "places",
    "power",
    "settings",
    "users",
  ],
};

/** Edges between siblings that break a rule today. An entry that is no longer needed fails the test: delete it. */
const exceptions: readonly string[] = [];

type Arrows = Readonly<Record<string, readonly string[]>>;
type Place = { readonly name: string; readonly path: string } | null;
interface Import {
  readonly from: string;
  readonly to: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = ["src", "nodes", "homebridge/src"].flatMap(sourcesIn);
const imports = files.flatMap((from) => specifiersIn(read(from)).flatMap((specifier) => resolved(from, specifier)));

test("the parser finds every form of import, and nothing else", () => {
  const text = [
    'import "./bare.ts";',
    'import type { A } from "./type.ts";',
    "import {",
    "  b,",
    "  type C,",
    '} from "./lines.ts";',
    'export * from "./all.ts";',
    'export type { D } from "./exported-type.ts";',
    'const e = await import("./dynamic.ts");',
    'type F = import("./type-query.ts").F;',
    'export const g = "./no-import.ts";',
    '// import { h } from "./comment.ts";',
    ' * import("./comment.ts")',
  ].join("\n");
  expect(specifiersIn(text)).toEqual([
    "./bare.ts",
    "./type.ts",
    "./lines.ts",
    "./all.ts",
    "./exported-type.ts",
    "./dynamic.ts",
    "./type-query.ts",
  ]);
});

test("every relative import resolves to a source file", () => {
  expect(imports.length).toBeGreaterThan(files.length);
  expect(imports.filter(({ to }) => !files.includes(to))).toEqual([]);
});

test("every folder of src has a line in the map", () => {
  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => layers[name] === undefined)).toEqual([]);
});

test("CONTRIBUTING.md shows the map", () => {
  const lines = (arrows: Arrows) =>
    Object.entries(arrows).map(
      ([from, to]) => `    ${from.padEnd(12)} ${to.length > 0 ? `imports ${to.join(", ")}` : "imports nothing"}`,
    );
  const text = read("CONTRIBUTING.md");
  expect(text).toContain(lines(layers).join("\n"));
  expect(text).toContain(lines(rooms).join("\n"));
});

test("a folder imports only what the map allows", () => {
  expect(forbidden().filter((edge) => !exceptions.includes(edge))).toEqual([]);
});

test("there are no import cycles between folders or files", () => {
  const graph = siblingImports(exceptions);
  const cyclic = [...graph.keys()].filter((place) => reached(graph, place).has(place));
  const edges = cyclic.flatMap((from) =>
    [...(graph.get(from) ?? [])].filter((to) => reached(graph, to).has(from)).map((to) => `${from} -> ${to}`),
  );
  expect(edges).toEqual([]);
});

test("every exception is needed", () => {
  const [all, rest] = [siblingImports([]), siblingImports(exceptions)];
  const needed = (edge: string) => {
    const [from = "", to = ""] = edge.split(" -> ");
    return all.get(from)?.has(to) === true && (forbidden().includes(edge) || reached(rest, to).has(from));
  };
  expect(exceptions.filter((edge) => !needed(edge))).toEqual([]);
});

/** Imports that the map does not allow, as edges between two layers or two rooms. */
function forbidden(): string[] {
  const edges = imports.flatMap(({ from, to }) => [
    ...against(layers, layerOf(from), layerOf(to)),
    ...against(rooms, roomOf(from), roomOf(to)),
  ]);
  return [...new Set(edges)].sort();
}

function against(arrows: Arrows, from: Place, to: Place): string[] {
  if (from === null || to === null || from.name === to.name) return [];
  return arrows[from.name]?.includes(to.name) === false ? [`${from.path} -> ${to.path}`] : [];
}

/** null for a file in `src` itself. */
function layerOf(file: string): Place {
  const [top = "", folder = "", inside] = file.split("/");
  if (top !== "src") return { name: top, path: top };
  return inside === undefined ? null : { name: folder, path: `src/${folder}` };
}

/** null for a file that is in no room of `src/service`. */
function roomOf(file: string): Place {
  const name = /^src\/service\/([^/]+)\//.exec(file)?.[1];
  return name === undefined ? null : { name, path: `src/service/${name}` };
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * An import counts as an edge between the two siblings (files or folders of one folder) that contain its ends, so one
 * search finds the cycles of folders and those of files.
 */
function siblingImports(without: readonly string[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = siblings(from, to);
    if (a !== b && !without.includes(`${a} -> ${b}`)) graph.set(a, (graph.get(a) ?? new Set()).add(b));
  }
  return graph;
}

function reached(graph: Graph, start: string, found = new Set<string>()): ReadonlySet<string> {
  for (const next of graph.get(start) ?? []) if (!found.has(next)) reached(graph, next, found.add(next));
  return found;
}

function siblings(from: string, to: string): readonly [string, string] {
  const [a, b] = [from.split("/"), to.split("/")];
  const depth = 1 + a.findIndex((part, index) => part !== b[index]);
  return [a.slice(0, depth).join("/"), b.slice(0, depth).join("/")];
}

/** What a module imports or exports from elsewhere, types and `import()` included. Biome puts statements at column 0. */
function specifiersIn(text: string): string[] {
  const code = text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, "");
  const forms = /^(?:import|export)\b[^;"'`]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...code.matchAll(forms)].map(([, from, bare, called]) => from ?? bare ?? called ?? "");
}

/** Nothing for other packages than Rigbridge's own. */
function resolved(from: string, specifier: string): Import[] {
  const own = /^rigbridge(?:\/(\w+))?$/.exec(specifier);
  if (own !== null) return [{ from, to: own[1] === undefined ? "src/index.ts" : `src/${own[1]}/index.ts` }];
  if (/\.(css|json)$/.test(specifier)) return [];
  return specifier.startsWith(".") ? [{ from, to: posix.join(dirname(from), specifier) }] : [];
}

function sourcesIn(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ["dist", "node_modules"].includes(entry.name) ? [] : sourcesIn(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
