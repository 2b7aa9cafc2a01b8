import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { until, within } from "../until.ts";

// depends on: nodes/**

/** The supported versions. */
export const versions = [5, 4] as const;
export type Version = (typeof versions)[number];

/** A node of a flow file. */
export type FlowNode = { readonly id: string; readonly type: string } & Readonly<Record<string, unknown>>;

export interface NodeRedOptions {
  /** Lines of `settings.js`, as `adminAuth: {...},`. */
  readonly settings?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Sent with each request to the admin API. */
  readonly token?: string;
  /** The user folder of an earlier one, which stays. */
  readonly userDir?: string;
  /** The program of another Node.js. */
  readonly node?: string;
}

/** The status of a node. */
export const Status = z.object({
  fill: z.string().optional(),
  shape: z.string().optional(),
  text: z.string().optional(),
});
export type Status = z.infer<typeof Status>;

/** A Node-RED process on loopback, with its own user folder. */
export interface NodeRed {
  readonly url: string;
  readonly userDir: string;
  /** Its output so far. */
  readonly log: () => string;
  /** Replaces the flow; `credentials` by node. Resolves when the flow has started. */
  deploy(
    flow: readonly FlowNode[],
    credentials?: Readonly<Record<string, Readonly<Record<string, string>>>>,
    type?: "full" | "flows" | "nodes",
  ): Promise<void>;
  /** Makes an inject node send a message with these properties. */
  inject(id: string, msg: Readonly<Record<string, unknown>>): Promise<void>;
  /** Messages at a debug node (`complete: "true"`) since the deploy, in order of time. */
  messages(id: string): readonly Record<string, unknown>[];
  /** The last status; undefined before the first. */
  status(id: string): Status | undefined;
  /** Every status of a node, in order of time. */
  statuses(id: string): readonly Status[];
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Stops it as a service manager does; resolves with the ms it took. */
  close(): Promise<number>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(import.meta.url);
const packages: Record<Version, string> = { 5: "node-red", 4: "node-red-4" };

/** Starts a Node-RED with this repository's nodes, as built in `nodes/dist`. */
export async function startNodeRed(version: Version, options: NodeRedOptions = {}): Promise<NodeRed> {
  const userDir = options.userDir ?? (await mkdtemp(join(tmpdir(), "node-red-")));
  if (options.userDir === undefined) {
    await mkdir(join(userDir, "node_modules", "@rigbridge"), { recursive: true });
    await symlink(join(root, "nodes"), join(userDir, "node_modules", "@rigbridge", "node-red"));
  }
  await writeFile(join(userDir, "settings.js"), settingsText(options.settings ?? ""));
  const program = join(dirname(require.resolve(`${packages[version]}/package.json`)), "red.js");
  const child = spawn(
    options.node ?? process.execPath,
    ["--disable-warning=ExperimentalWarning", program, "-u", userDir, "-s", join(userDir, "settings.js")],
    {
      env: { ...process.env, NODE_OPTIONS: "", ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  const log = () => text;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(child, "exit");
  try {
    await until(
      () => (/Server now running at/.test(text) && /Started flows/.test(text)) || child.exitCode !== null,
      "Node-RED to start",
      { details: log },
    );
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  const port = /now running at http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
  if (port === undefined) throw new Error(`Node-RED did not start:\n${text}`);
  const url = `http://127.0.0.1:${port}`;
  const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const request = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, url), { ...init, headers: { ...headers, ...Object.fromEntries(new Headers(init.headers)) } });
  const watched = await watch(url, options.token, log).catch((error) => {
    child.kill("SIGKILL");
    throw error;
  });
  const send = async (path: string, body: unknown, more: Record<string, string> = {}): Promise<void> => {
    const reply = await request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...more },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`POST ${path}: ${reply.status} ${await reply.text()}`);
  };
  return {
    url,
    userDir,
    log,
    deploy: async (flow, credentials = {}, type = "full") => {
      const flows = flow.map((node) => {
        const secrets = credentials[node.id];
        // A node without a position would count as a configuration node.
        const placed = "wires" in node ? { x: 100, y: 100, ...node } : node;
        return secrets === undefined ? placed : { ...placed, credentials: secrets };
      });
      if (type === "full") watched.forget();
      const starts = text.split("Started ").length;
      await send("/flows", { flows }, { "node-red-api-version": "v2", "node-red-deployment-type": type });
      await until(() => text.split("Started ").length > starts, "the flow to start after the deploy", { details: log });
    },
    inject: (id, msg) =>
      send(`/inject/${id}`, {
        __user_inject_props__: Object.entries(msg).map(([p, value]) => ({ p, v: JSON.stringify(value), vt: "json" })),
      }),
    messages: (id) => watched.messages.get(id) ?? [],
    status: (id) => watched.statuses.get(id)?.at(-1),
    statuses: (id) => watched.statuses.get(id) ?? [],
    request,
    close: async () => {
      watched.close();
      const start = performance.now();
      child.kill("SIGTERM");
      await within(ended, "Node-RED to end", { details: log });
      if (options.userDir === undefined) await rm(userDir, { recursive: true, force: true });
      return performance.now() - start;
    },
  };
}

const settingsText = (more: string): string => `module.exports = {
  uiHost: "127.0.0.1", uiPort: 0, flowFile: "flows.json", credentialSecret: "invented for a test",
  debugMaxLength: 10_000_000, telemetry: { enabled: false, updateNotification: false },
  externalModules: { palette: { allowInstall: false }, modules: { allowInstall: false } },
  editorTheme: { tours: false, projects: { enabled: false } }, contextStorage: { default: { module: "memory" } },
  logging: { console: { level: "info", metrics: false, audit: false } },
  ${more}
};
`;

const Event = z.object({ topic: z.string(), data: z.unknown() });
/** From a debug node; warnings arrive the same way, as texts. */
const Debug = z.object({ id: z.string(), msg: z.string(), format: z.literal("Object") });

/** Events for the editor: messages at debug nodes, and statuses. */
async function watch(url: string, token: string | undefined, log: () => string) {
  const messages = new Map<string, Record<string, unknown>[]>();
  const statuses = new Map<string, Status[]>();
  const add = <T>(lists: Map<string, T[]>, id: string, item: T): void => {
    lists.set(id, [...(lists.get(id) ?? []), item]);
  };
  const socket = new WebSocket(`${url.replace("http", "ws")}/comms`);
  socket.addEventListener("message", ({ data }) => {
    const events = z.union([z.array(Event), Event.transform((event) => [event])]).safeParse(JSON.parse(String(data)));
    for (const { topic, data } of events.data ?? []) {
      const [, id] = /^status\/(.+)$/.exec(topic) ?? [];
      if (id !== undefined) add(statuses, id, Status.parse(data));
      const debug = Debug.safeParse(data);
      if (topic === "debug" && debug.success)
        add(messages, debug.data.id, z.record(z.string(), z.unknown()).parse(JSON.parse(debug.data.msg)));
    }
  });
  await within(once(socket, "open"), "Node-RED to accept the connection for events", { details: log });
  if (token !== undefined) {
    socket.send(JSON.stringify({ auth: token }));
    await within(once(socket, "message"), "Node-RED to answer the token", { details: log });
  }
  for (const topic of ["debug", "status/#"]) socket.send(JSON.stringify({ subscribe: topic }));
  return {
    messages,
    statuses,
    forget: () => {
      messages.clear();
      statuses.clear();
    },
    close: () => socket.close(),
  };
}
