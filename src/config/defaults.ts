import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "./environment.ts";
import { Config } from "./schema.ts";

/** What holds without a configuration file; the store is in the user's data folder. */
export function defaultConfig(env: Environment = process.env): Config {
  const config = Config.parse({});
  return { ...config, store: { url: join(dataFolder(env), "rigbridge.db") } };
}

/** Where a user's data lives (XDG Base Directory Specification); a relative path there is to be ignored. */
function dataFolder(env: Environment): string {
  const base = env.XDG_DATA_HOME;
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".local", "share"), "rigbridge");
}
