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
 * differs: the host's appearance, and that it closes after saving.
 */
const root = join(import.meta.dirname, "../..");
const plugin = join(root, "homebridge");
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
  /** The whole output of the plugin's process. */
  printed(): string;
  close(): Promise<void>;
}

/** A host that shows the plugin's settings page, on its own loopback address. */
export async function startPageHost(options: HostOptions = {}): Promise<PageHost> {
  if (!existsSync(join(plugin, "dist/page/server.js"))) throw new Error("the plugin is not built: tsc -p homebridge");
  const storage = options.storage ?? (await mkdtemp(join(tmpdir(), "rigbridge-page-")));
  const saved: unknown[] = [];
  let child: ChildProcess | undefined;
  let printed = "";
  const start = (listener: ServerResponse): void => {
    listener.writeHead(200, { "Content-Type": "text/event-stream" });
    child = forked(storage);
    child.on("message", (message) => listener.write(`data: ${JSON.stringify(message)}\n\n`));
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    listener.on("close", () => child?.connected && child.disconnect());
    answerInstead = ({ path, requestId }) => {
      const message = { action: "response", payload: { requestId, success: true, data: options.answers?.[path] } };
      listener.write(`data: ${JSON.stringify(message)}\n\n`);
    };
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
      else child?.send(given);
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
    printed: () => printed,
    close: async () => {
      server.closeAllConnections();
      server.close();
      if (child !== undefined && child.exitCode === null && child.signalCode === null)
        await within(once(child, "exit"), "the settings page's process to end", { details: () => printed });
      if (options.storage === undefined) await rm(storage, { recursive: true, force: true });
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
  return fork(join(plugin, "homebridge-ui/server.js"), [], {
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
  const file = await read(join(plugin, "homebridge-ui/public", name));
  return name === "index.html" && file !== null ? inDocument(file) : file;
}

async function hostPage({ blocks = [], isDark = false, styles = [] }: HostOptions): Promise<string> {
  const schema = JSON.parse(await readFile(join(plugin, "config.schema.json"), "utf8"));
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
