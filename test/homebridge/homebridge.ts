import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { within } from "../until.ts";
import { HomeController } from "./controller.ts";

// depends on: homebridge/**

const root = join(import.meta.dirname, "../..");
const program = join(root, "node_modules/homebridge/bin/homebridge.js");
const ofWorkspace = join(root, "homebridge");

export interface HomebridgeOptions {
  /** The platform's block of config.json without `platform`; absent = the plugin is installed without one. */
  readonly platform?: object;
  /** Further blocks of the same platform. */
  readonly others?: readonly object[];
  /** More keys of the block `bridge`, like `matter`. */
  readonly bridge?: object;
  /** The Node.js executable; the present one by default. */
  readonly node?: string;
  /** The plugin's folder; the workspace's by default. */
  readonly plugin?: string;
  /** Options of Node.js, and additional environment variables. */
  readonly options?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunningHomebridge {
  /** Its storage folder. */
  readonly folder: string;
  /** Its whole output. */
  readonly lines: readonly string[];
  /** The first matching line, past or future. Rejects if it stops before that, or on timeout. */
  until(what: RegExp): Promise<string>;
  /** Paired and connected, like the Home app; one per folder. */
  readonly controller: HomeController;
  /** Stops it like a service manager; 0 = it stopped within the 5 s that Homebridge allows. */
  stop(): Promise<{ readonly code: number | null }>;
  /** Restarts it with the same folder and pairing. */
  restart(options: HomebridgeOptions): Promise<RunningHomebridge>;
  /** Stops it and removes its folder. */
  close(): Promise<void>;
}

/**
 * The real Homebridge in its own process, with the built plugin. It announces itself on loopback only. Resolves once it
 * serves HomeKit; initially unpaired.
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
  // Matter logs the same for its own port, earlier.
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
    void ended.then(() => reject(new Error(`Homebridge ended before it logged ${what}:\n${text()}`)));
    return within(promise, `Homebridge to log ${what}`, { details: text }).finally(() => waiting.delete(look));
  };
  return { lines, text, ended, until };
}

/** The accessories that Homebridge keeps between runs. */
export const rememberedBy = async (folder: string): Promise<string> =>
  readFile(join(folder, "accessories/cachedAccessories"), "utf8");
