import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { text } from "node:stream/consumers";
import { within } from "../until.ts";

// depends on: homebridge/**, test/homebridge/page-host.html

/**
 * Stands in for homebridge-config-ui-x around a settings page; the real one is too large to install for these tests.
 * What the plugin touches is the same: its process is forked with the same environment and used over IPC; the page is
 * in the same document, under the same Content-Security-Policy, with the real `ui.js`; the host answers `ui.js` by
 * postMessage and, like the real one, merges configurations into those that it has instead of replacing them. What
 * differs: the host's appearance, that it closes after saving, and that pages use one process of the plugin, one after another.
 */
const root = join(import.meta.dirname, "../..");
const pluginFolder = join(root, "homebridge");
const uiScript = join(root, "node_modules/@homebridge/plugin-ui-utils/dist/ui.js");

export interface HostOptions {
  /** The plugin's blocks of config.json. */
  readonly blocks?: readonly object[];
  readonly isDark?: boolean;
  /** The host's CSS files, like Bootstrap's. */
  readonly styles?: readonly string[];
  /** Answers to some requests in place of the plugin's process. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Homebridge's folder; a temporary one by default. */
  readonly storage?: string;
}

export interface PageHost {
  readonly url: string;
  /** Saved configurations, the newest last. */
  readonly saved: readonly unknown[];
  /** The output of the plugin's process since the page was opened. */
  printed(): string;
  close(): Promise<void>;
}

/** A process of the plugin for settings pages, which keeps nothing of one page for the next. */
interface PluginProcess {
  readonly child: ChildProcess;
  /** That it is ready, which it says once. */
  readonly ready: Promise<unknown>;
  printed(): string;
  /** Fails unless it ends by itself, as it must when the page is closed. */
  close(): Promise<void>;
}

/** Started with the first page, because a start takes longer than most tests; its storage folder stays empty. */
let shared: Promise<PluginProcess> | null = null;

/** Ends the process of the pages that were opened without a storage folder. */
export async function closeSharedProcess(): Promise<void> {
  const ending = shared;
  shared = null;
  await (await ending)?.close();
}

function sharedProcess(): Promise<PluginProcess> {
  shared ??= startShared();
  return shared;
}

async function startShared(): Promise<PluginProcess> {
  const storage = await mkdtemp(join(tmpdir(), "rigbridge-page-"));
  const started = startProcess(storage);
  const close = async (): Promise<void> => {
    await started.close();
    await rm(storage, { recursive: true, force: true });
  };
  return { ...started, close };
}

function startProcess(storage: string): PluginProcess {
  const child = forked(storage);
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  return {
    child,
    ready: once(child, "message").then(([message]: unknown[]) => message),
    printed: () => printed,
    close: async () => {
      const ended = once(child, "exit");
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (child.connected) child.disconnect();
      await within(ended, "the settings page's process to end", { details: () => printed });
    },
  };
}

/** A host that shows the plugin's settings page, on its own loopback address. */
export async function startPageHost(options: HostOptions = {}): Promise<PageHost> {
  if (!existsSync(join(pluginFolder, "dist/page/server.js")))
    throw new Error("the plugin is not built: tsc -p homebridge");
  const saved: unknown[] = [];
  const plugin = options.storage === undefined ? await sharedProcess() : startProcess(options.storage);
  const { child } = plugin;
  const from = plugin.printed().length;
  const start = async (listener: ServerResponse): Promise<void> => {
    listener.writeHead(200, { "Content-Type": "text/event-stream" });
    const tell = (message: unknown): void => void listener.write(`data: ${JSON.stringify(message)}\n\n`);
    tell(await plugin.ready);
    child.on("message", tell);
    listener.on("close", () => child.off("message", tell));
    answerInstead = ({ path, requestId }) =>
      tell({ action: "response", payload: { requestId, success: true, data: options.answers?.[path] } });
  };
  let answerInstead = (_request: { path: string; requestId: string }): void => {};
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const { pathname } = new URL(request.url ?? "", "http://host");
    if (pathname === "/messages") return start(response);
    if (request.method === "POST") {
      const given = JSON.parse(await text(request));
      if (pathname === "/save") saved.push(given);
      else if (options.answers !== undefined && given.path in options.answers) answerInstead(given);
      else child.send(given);
      return response.end();
    }
    const found = await fileFor(pathname, options);
    if (found === null) return response.writeHead(404).end();
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (pathname.endsWith("index.html")) response.setHeader("Content-Security-Policy", policy);
    return response.writeHead(200, { "Content-Type": types[extname(pathname)] ?? "text/html" }).end(found);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`,
    saved,
    printed: () => plugin.printed().slice(from),
    close: async () => {
      server.closeAllConnections();
      server.close();
      if (options.storage !== undefined) await plugin.close();
    },
  };
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
};

/** That of homebridge-config-ui-x 5. */
const policy =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
  "img-src * data:; connect-src *; font-src 'self' data:; frame-ancestors 'self'; frame-src 'self'";

function forked(storage: string): ChildProcess {
  const base = Object.entries(process.env).filter(([name]) => !/^(NODE_OPTIONS|DEBUG)/.test(name));
  return fork(join(pluginFolder, "homebridge-ui/server.js"), [], {
    silent: true,
    execArgv: [],
    env: {
      ...Object.fromEntries(base),
      HOMEBRIDGE_STORAGE_PATH: storage,
      HOMEBRIDGE_CONFIG_PATH: join(storage, "config.json"),
      HOMEBRIDGE_UI_VERSION: "5.0.0",
    },
  });
}

async function fileFor(pathname: string, options: HostOptions): Promise<string | null> {
  const read = (file: string) => readFile(file, "utf8").catch(() => null);
  const name = basename(pathname);
  if (pathname === "/") return hostPage(options);
  if (pathname === "/assets/plugin-ui-utils/ui.js") return read(uiScript);
  if (pathname.startsWith("/styles/")) return read(options.styles?.[Number(name.replace(".css", ""))] ?? "");
  if (!pathname.startsWith("/plugins/settings-ui/homebridge-rigbridge/")) return null;
  const file = await read(join(pluginFolder, "homebridge-ui/public", name));
  return name === "index.html" && file !== null ? inDocument(file) : file;
}

async function hostPage({ blocks = [], isDark = false, styles = [] }: HostOptions): Promise<string> {
  const schema = JSON.parse(await readFile(join(pluginFolder, "config.schema.json"), "utf8"));
  const host = {
    blocks,
    schema,
    alias: schema.pluginAlias,
    isDark,
    styles: styles.map((_, index) => `/styles/${index}.css`),
  };
  const page = await readFile(join(import.meta.dirname, "page-host.html"), "utf8");
  return page.replace("<script>", `<script>window.host = ${JSON.stringify(host)};</script>\n    <script>`);
}

/** The document that contains a plugin's page. */
const inDocument = (body: string): string => `<!doctype html>
<html>
  <head>
    <meta charset="utf-8">
    <title>homebridge-rigbridge</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <script>window._homebridge = { plugin: { name: "homebridge-rigbridge" }, serverEnv: { env: {} } };</script>
    <script src="/assets/plugin-ui-utils/ui.js"></script>
    <script>addEventListener("load", () => parent.postMessage({ action: "loaded" }, "*"));</script>
  </head>
  <body style="display: none">${body}</body>
</html>`;
