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
  /** What a node has output so far; for a node of type `helper`, the messages it received. */
  recorded(id: string): Readonly<Recorded>;
  /** The admin API. */
  readonly request: (typeof helper)["request"];
  close(): Promise<void>;
}

/** Each list in order of time. */
export interface Recorded {
  messages: NodeMessage[];
  /** Errors sent to Catch nodes. */
  errors: { readonly message: string; readonly code: unknown; readonly cause: unknown }[];
  /** Like `red dot text`. */
  statuses: string[];
  warnings: string[];
  /** Messages completed without an error, whose results the next nodes have received. */
  completed: number;
}

const require = createRequire(import.meta.url);

/**
 * A flow in the runtime of Node-RED in this process, with the sources of the nodes and English texts. One at a time.
 * `flow` includes the configuration nodes.
 */
export async function openFlow(
  registers: readonly Register[],
  flow: readonly FlowNode[],
  options: { readonly credentials?: Credentials; readonly userDir?: string } = {},
): Promise<BenchFlow> {
  helper.init(require.resolve("node-red"));
  await helper.startServer();
  helper.settings({ userDir: options.userDir, logging: { console: { level: "off" } } });
  const all = new Map<string, Recorded>();
  const recorded = (id: string): Recorded => {
    const known = all.get(id) ?? { messages: [], errors: [], statuses: [], warnings: [], completed: 0 };
    all.set(id, known);
    return known;
  };
  const recording = registers.map((register) => (RED: NodeAPI) => register(withRecording(RED, recorded)));
  await helper.load(recording, flow, options.credentials ?? {});
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

/** The same Node-RED, which records the output of its nodes and has English texts. */
const withRecording = (RED: NodeAPI, recorded: (id: string) => Recorded): NodeAPI => ({
  ...RED,
  _: english,
  nodes: {
    ...RED.nodes,
    createNode: (node, definition) => {
      RED.nodes.createNode(node, definition);
      record(node, recorded(node.id));
    },
  },
});

function record(node: Node, recorded: Recorded): void {
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
    // Node-RED delivers what the node has sent in the next turn.
    if (failure === undefined)
      setImmediate(() => {
        recorded.completed += 1;
      });
    Reflect.apply(complete, node, [msg, failure]);
  });
}
