import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "../until.ts";
import { HomeController } from "./controller.ts";

// depends on: homebridge/**

const root = join(import.meta.dirname, "../..");
const program = join(root, "node_modules/homebridge/bin/homebridge.js");
const ofWorkspace = join(root, "homebridge");

export interface HomebridgeOptions {
  /** The platform's block of config.json without `platform`; absent = the plugin is there, and has none. */
  readonly platform?: object;
  /** Further blocks of the same platform. */
  readonly others?: readonly object[];
  /** More of the block `bridge`, as `matter`. */
  readonly bridge?: object;
  /** The program of the Node that it runs on; this one's unless given. */
  readonly node?: string;
  /** Folder of the plugin; the workspace's unless given. */
  readonly plugin?: string;
  /** Node's own options, and what stands in the environment beside. */
  readonly options?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunningHomebridge {
  /** Where it keeps everything. */
  readonly folder: string;
  /** Everything it has said. */
  readonly lines: readonly string[];
  /** A line like this, said since the start or later. Rejects when it ends before, or does not say it in time. */
  until(what: RegExp): Promise<string>;
  /** Paired and connected, as the app of a phone. Once for each folder. */
  readonly controller: HomeController;
  /** Ends it as a service manager does; 0 = it ended by itself, within the 5 s that Homebridge gives. */
  stop(): Promise<{ readonly code: number | null }>;
  /** Ends it and starts it anew with the same folder, paired as it was. */
  restart(options: HomebridgeOptions): Promise<RunningHomebridge>;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

/**
 * The real Homebridge as a process of its own with the built plugin. It announces itself on loopback only. Resolves
 * once it serves HomeKit; unpaired at first.
 */
export async function startHomebridge(options: HomebridgeOptions): Promise<RunningHomebridge> {
  if (!existsSync(join(options.plugin ?? ofWorkspace, "dist/index.js")))
    throw new Error("the plugin is not built: tsc -p homebridge");
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-homebridge-"));
  const bytes = Array.from({ length: 5 }, () => randomInt(256).toString(16).padStart(2, "0").toUpperCase());
  const identity = { username: ["0E", ...bytes].join(":"), port: await freePort() };
  return run(folder, identity, options, null);
}

interface Identity {
  readonly username: string;
  readonly port: number;
}

const pin = "031-45-154";

async function run(
  folder: string,
  identity: Identity,
  { platform, others = [], bridge = {}, ...started }: HomebridgeOptions,
  paired: HomeController | null,
): Promise<RunningHomebridge> {
  const config = {
    bridge: { name: `Test ${identity.port}`, pin, bind: ["127.0.0.1"], advertiser: "ciao", ...identity, ...bridge },
    platforms: [...(platform === undefined ? [] : [platform]), ...others].map((block) => ({
      platform: "Rigbridge",
      ...block,
    })),
  };
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  const child = start(folder, started);
  const log = listen(child);
  const controller = paired ?? new HomeController(identity, pin);
  const stop = async () => {
    await controller.disconnect();
    child.kill("SIGTERM");
    return { code: await within(log.ended, "Homebridge to end", { details: log.text }) };
  };
  // Matter says the same of its own port, and earlier.
  await log.until(/\(HAP v.* is running on port/);
  return {
    folder,
    lines: log.lines,
    until: log.until,
    controller,
    stop,
    restart: async (next) => {
      await stop();
      return run(folder, identity, next, controller);
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function start(
  folder: string,
  {
    node = process.execPath,
    plugin = ofWorkspace,
    options = [],
    env = {},
  }: Pick<HomebridgeOptions, "node" | "plugin" | "options" | "env">,
): ChildProcess {
  const base = Object.entries(process.env).filter(([name]) => !/^(RIGBRIDGE_|NODE_OPTIONS|DEBUG)/.test(name));
  const args = ["-U", folder, "-P", plugin, "--strict-plugin-resolution", "-Q", "-T"];
  return spawn(node, [...options, program, ...args], {
    env: { ...Object.fromEntries(base), FORCE_COLOR: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function listen(child: ChildProcess) {
  const lines: string[] = [];
  const text = (): string => lines.join("\n");
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (portion: string) => {
      const parts = `${rest}${portion}`.split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      for (const look of waiting) look();
    });
  }
  const ended = once(child, "close").then(([code]): number | null => (typeof code === "number" ? code : null));
  const until = (what: RegExp): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = (): void => {
      const line = lines.find((each) => what.test(each));
      if (line !== undefined) resolve(line);
    };
    waiting.add(look);
    look();
    void ended.then(() => reject(new Error(`ended before it said ${what}:\n${text()}`)));
    return within(promise, `Homebridge to say ${what}`, { details: text }).finally(() => waiting.delete(look));
  };
  return { lines, text, ended, until };
}

/** One that no outgoing connection is ever given, since Homebridge has to come back to it. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const server = createServer().listen(port);
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** What Homebridge keeps of accessories from one run to the next. */
export const rememberedBy = async (folder: string): Promise<string> =>
  readFile(join(folder, "accessories/cachedAccessories"), "utf8");
