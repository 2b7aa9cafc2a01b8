import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { stringify } from "yaml";
import { within } from "../until.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** ms from the first byte sent to the last one that came. */
  readonly ms: number;
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** A local address to ask from. */
  readonly from?: string;
}

/** `rigbridge serve` as a process of its own, over a configuration in a folder of its own. */
export interface ServiceProcess {
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  /** What it has said so far. */
  stdout(): string;
  stderr(): string;
  ask(method: string, target: string, what?: Ask): Promise<Answer>;
  /** Bytes, as /metrics says. */
  memory(): Promise<number>;
  /** Ends the process; its exit code. */
  stop(): Promise<number | null>;
  /** Ends the process by SIGKILL, and leaves the folder. */
  kill(): Promise<void>;
  /** Ends the process if it still runs, and removes the folder. */
  close(): Promise<void>;
}

interface Options {
  readonly config: { readonly http: { readonly key: string; readonly [setting: string]: unknown } } & Record<
    string,
    unknown
  >;
  readonly env?: Record<string, string>;
  /** Node's own options. */
  readonly node?: readonly string[];
  /** That of a process before; a new one without it. */
  readonly folder?: string | undefined;
}

/** `npm run torture` builds first and says so here; else it is the sources. */
export const main = new URL(
  process.env.RIGBRIDGE_BUILT === "true" ? "../../dist/cli/main.js" : "../../src/cli/main.ts",
  import.meta.url,
).pathname;
/** ms; many miners take their time. */
const patience = 60_000;
const ready = /is ready at http:\/\/127\.0\.0\.1:(\d+)/;

/** Resolves once it is ready; rejects with what it said when it ends before. */
export async function startProcess({ config, env = {}, node = [], ...place }: Options): Promise<ServiceProcess> {
  const folder = place.folder ?? (await mkdtemp(join(tmpdir(), "rigbridge-process-")));
  const file = join(folder, "rigbridge.yaml");
  await writeFile(file, stringify({ ...config, http: { port: 0, ...config.http } }), { mode: 0o600 });
  const base = Object.entries(process.env).filter(([name]) => !/^(RIGBRIDGE_|LOG_LEVEL|NODE_OPTIONS)/.test(name));
  const options = ["--disable-warning=ExperimentalWarning", ...node, main, "serve", "--config", file];
  const child = spawn(process.execPath, options, {
    cwd: folder,
    env: { ...Object.fromEntries(base), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const said = { stdout: collected(child.stdout), stderr: collected(child.stderr) };
  const details = () => said.stdout() + said.stderr();
  const waited = within(portOf(child, said), "the service to be ready", { timeoutMs: patience, details });
  const port = await waited.catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  const agents = new Map<string, Agent>();
  const ask = (method: string, target: string, { headers = {}, body, from = "127.0.0.1" }: Ask = {}) => {
    const agent = agents.get(from) ?? new Agent({ keepAlive: true });
    agents.set(from, agent);
    const sent = { "x-api-key": config.http.key, ...headers };
    return exchange({ host: "127.0.0.1", port, method, path: target, headers: sent, localAddress: from, agent }, body);
  };
  const stop = async () => {
    for (const agent of agents.values()) agent.destroy();
    child.kill("SIGTERM");
    return within(ended, "the service to end", { timeoutMs: patience });
  };
  return {
    port,
    pid: child.pid ?? 0,
    folder,
    ...said,
    ask,
    memory: async () => {
      const { text } = await ask("GET", "/metrics");
      return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
    },
    stop,
    kill: async () => {
      for (const agent of agents.values()) agent.destroy();
      child.kill("SIGKILL");
      await within(ended, "the killed service to end", { timeoutMs: patience });
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

function collected(stream: Readable | null): () => string {
  const parts: string[] = [];
  stream?.setEncoding("utf8").on("data", (part: string) => parts.push(part));
  return () => parts.join("");
}

interface Said {
  stdout(): string;
  stderr(): string;
}

function portOf(child: ChildProcess, { stdout, stderr }: Said): Promise<number> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const port = ready.exec(stdout())?.[1];
      if (port === undefined) return;
      child.stdout?.off("data", look);
      resolve(Number(port));
    };
    child.stdout?.on("data", look);
    child.once("close", () => reject(new Error(`it ended before it was ready: ${stdout()}${stderr()}`)));
  });
}

function exchange(options: Parameters<typeof request>[1] & object, body: string | Buffer | undefined): Promise<Answer> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers: { ...options.headers, ...lengthOf(body) } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        // A stream has no end: what it begins with is enough.
        if (response.headers["content-type"]?.startsWith("text/event-stream")) response.destroy();
      });
      response.on("close", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, ms: performance.now() - start }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const lengthOf = (body: string | Buffer | undefined) =>
  body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
