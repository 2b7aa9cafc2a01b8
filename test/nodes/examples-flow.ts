import { z } from "zod";
import { until } from "../until.ts";
import type { Site } from "./examples-sites.ts";
import type { FlowNode, NodeRed } from "./real-node-red.ts";

export const examples = [
  "alert-by-http",
  "automatic-restart",
  "daily-report",
  "dashboard",
  "low-hash-rate-by-average",
  "pause-while-something-runs",
  "price-driven-mining",
  "solar-surplus",
  "solar-surplus-by-service",
  "two-cures",
] as const;
export type ExampleName = (typeof examples)[number];

/** The service of all examples, which the editor adds. */
export const exampleService = {
  id: "5b1f0c72d4a8e936",
  type: "rigbridge-service",
  version: 1,
  name: "",
  mode: "elsewhere",
  url: "http://127.0.0.1:17790",
} as const;

/** Shorter times, by the name of the node and the field. */
export type Shortened = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** An imported example that runs. */
export interface RunningExample {
  /** Messages at a debug node, by its name, in order of time. */
  messages(name: string): readonly Record<string, unknown>[];
  status(name: string): string;
  /** The current miners of the service. */
  known(): readonly Known[];
  /** Presses the button of an inject node. */
  press(name: string): Promise<void>;
  /** As `curl -d value=...` does. */
  post(path: string, value: unknown): Promise<Response>;
  /** The context of a node, or of the flow. */
  context(name: string | null, key: string): Promise<string>;
  /** Errors at Catch nodes. */
  troubles(): readonly Record<string, unknown>[];
  readonly details: () => string;
}

/** From a state as miner in sends it. */
const Known = z.object({ name: z.string(), mining: z.boolean().nullable() });
export type Known = z.infer<typeof Known>;

export const Flow = z.array(z.looseObject({ id: z.string(), type: z.string() }));

/** As the editor's Import dialog gets it. */
export async function importExample(red: NodeRed, name: ExampleName): Promise<FlowNode[]> {
  const reply = await red.request(`/library/examples/flows/@rigbridge/node-red/${name}`);
  if (!reply.ok) throw new Error(`${name} is not offered: ${reply.status}`);
  return Flow.parse(await reply.json());
}

/** Imports examples into an empty Node-RED, for a service of a test. Resolves when the service answers. */
export async function runExamples(
  red: NodeRed,
  names: readonly ExampleName[],
  site: Site,
  {
    shortened = {},
    env = {},
  }: { readonly shortened?: Shortened; readonly env?: Readonly<Record<string, unknown>> } = {},
): Promise<RunningExample> {
  const flows = await Promise.all(names.map((name) => importExample(red, name)));
  const flow = [...flows.flat(), exampleService].map((node) => fitted(node, site, shortened, env));
  const [tab] = flow.filter(({ type }) => type === "tab");
  const [service] = flow.filter(({ type }) => type === "rigbridge-service");
  flow.push(...observers(tab?.id, service?.id));
  const named = (name: string): string => {
    const found = flow.find((node) => node.name === name);
    if (found === undefined) throw new Error(`There is no node "${name}"`);
    return found.id;
  };
  const secrets = flow.filter(({ type }) => type === "rigbridge-service").map(({ id }) => [id, site.secrets]);
  await red.deploy(flow, Object.fromEntries(secrets));
  const ours = flow.filter(({ type }) => type.startsWith("rigbridge-") && type !== "rigbridge-service");
  const details = () =>
    JSON.stringify([flow.map(({ id, name }) => [name, red.messages(id), red.status(id)]), red.log()]);
  await until(() => ours.every(({ id }) => red.status(id)?.fill === "green"), "the nodes of the examples to connect", {
    details,
  });
  return {
    messages: (name) => red.messages(named(name)),
    status: (name) => red.status(named(name))?.text ?? "",
    known: () => z.array(Known).parse(red.messages("observed").at(-1)?.payload ?? []),
    press: (name) => red.inject(named(name), {}),
    post: (path, value) => red.request(path, { method: "POST", body: new URLSearchParams({ value: String(value) }) }),
    context: async (name, key) => {
      const place = name === null ? `flow/${tab?.id}` : `node/${named(name)}`;
      return (await red.request(`/context/${place}/${key}`)).text();
    },
    troubles: () => red.messages(named("trouble")),
    details,
  };
}

/** Shows a test how the service sees its miners. */
const observers = (z: string | undefined, service: string | undefined): FlowNode[] => [
  {
    id: "observer",
    type: "rigbridge-miner-in",
    name: "observer",
    z,
    service,
    version: 1,
    scope: "all",
    when: "every",
    interval: 1,
    repeat: true,
    output: "together",
    wires: [["observed"]],
  },
  {
    id: "observed",
    type: "debug",
    name: "observed",
    z,
    active: true,
    tosidebar: true,
    complete: "true",
    targetType: "full",
    wires: [],
  },
];

/** With the service of the test, shorter times, and complete messages at the debug nodes. */
function fitted(
  node: FlowNode,
  { service }: Site,
  shortened: Shortened,
  env: Readonly<Record<string, unknown>>,
): FlowNode {
  if (node.type === "rigbridge-service") return { ...node, ...service };
  if (node.type === "debug") return { ...node, complete: "true", targetType: "full" };
  if (node.type === "tab") return { ...node, env: withEnv(node.env, env) };
  const name = z.string().safeParse(node.name).data ?? "";
  return { ...node, ...shortened[name] };
}

const Env = z.array(z.object({ name: z.string(), value: z.string(), type: z.string() }));

/** As in the properties of the flow. */
const withEnv = (given: unknown, changed: Readonly<Record<string, unknown>>) => [
  ...Env.parse(given).filter(({ name }) => !(name in changed)),
  ...Object.entries(changed).map(([name, value]) => ({
    name,
    value: String(value),
    type: typeof value === "number" ? "num" : "str",
  })),
];
