import { createRequire } from "node:module";
import type { Node, NodeAPI, NodeMessage } from "node-red";
import helper from "node-red-node-test-helper";
import { z } from "zod";
import { english } from "./english.ts";
import type { FlowNode } from "./real-node-red.ts";

type Register = (RED: NodeAPI) => void;
type Credentials = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface BenchFlow {
  /** Sends a message into a node, as a wire does. */
  send(id: string, msg: NodeMessage): void;
  /** What came of a node so far; of a node of type `helper` the messages that it was sent. */
  recorded(id: string): Readonly<Heard>;
  /** The admin API. */
  readonly request: (typeof helper)["request"];
  close(): Promise<void>;
}

/** Each the first one first. */
export interface Heard {
  messages: NodeMessage[];
  /** What Catch nodes are sent. */
  errors: { readonly message: string; readonly code: unknown; readonly cause: unknown }[];
  /** As shown: `red dot text`. */
  statuses: string[];
  warnings: string[];
  /** Messages that the node was done with, without an error. */
  completed: number;
}

const require = createRequire(import.meta.url);

/**
 * A flow in the runtime of Node-RED in this process, with the sources of our nodes, saying its texts in English. One at
 * a time. Configuration nodes belong into `flow`.
 */
export async function openFlow(
  registers: readonly Register[],
  flow: readonly FlowNode[],
  options: { readonly credentials?: Credentials; readonly userDir?: string } = {},
): Promise<BenchFlow> {
  helper.init(require.resolve("node-red"));
  await helper.startServer();
  helper.settings({ userDir: options.userDir, logging: { console: { level: "off" } } });
  const all = new Map<string, Heard>();
  const recorded = (id: string): Heard => {
    const known = all.get(id) ?? { messages: [], errors: [], statuses: [], warnings: [], completed: 0 };
    all.set(id, known);
    return known;
  };
  const overheard = registers.map((register) => (RED: NodeAPI) => register(overhearing(RED, recorded)));
  await helper.load(overheard, flow, options.credentials ?? {});
  for (const { id, type } of flow)
    if (type === "helper") helper.getNode(id).on("input", (msg) => recorded(id).messages.push(msg));
  return {
    send: (id, msg) => helper.getNode(id).receive(msg),
    recorded,
    request: () => helper.request(),
    close: async () => {
      await helper.unload();
      await helper.stopServer();
    },
  };
}

/** The same Node-RED, but what its nodes say is written down, and texts are not just their keys. */
const overhearing = (RED: NodeAPI, recorded: (id: string) => Heard): NodeAPI => ({
  ...RED,
  _: english,
  nodes: {
    ...RED.nodes,
    createNode: (node, definition) => {
      RED.nodes.createNode(node, definition);
      overhear(node, recorded(node.id));
    },
  },
});

function overhear(node: Node, recorded: Heard): void {
  const { error, warn, status } = node;
  node.error = (failure, msg) => {
    const known = failure instanceof Error ? failure : new Error(String(failure));
    const code = "code" in known ? known.code : undefined;
    recorded.errors.push({ message: known.message, code, cause: known.cause });
    error.call(node, failure, msg);
  };
  node.warn = (text) => {
    recorded.warnings.push(String(text));
    warn.call(node, text);
  };
  node.status = (shown) => {
    const { fill = "", shape = "", text = "" } = typeof shown === "string" ? { text: shown } : shown;
    recorded.statuses.push(`${fill} ${shape} ${text}`);
    status.call(node, shown);
  };
  const { _complete: complete } = z.object({ _complete: z.function() }).parse(node);
  Reflect.set(node, "_complete", (msg: NodeMessage, failure?: Error) => {
    if (failure === undefined) recorded.completed += 1;
    Reflect.apply(complete, node, [msg, failure]);
  });
}
