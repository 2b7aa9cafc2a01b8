import { existsSync } from "node:fs";
import { join } from "node:path";
import { Connection } from "../agent/connection.ts";
import { openAgent } from "../agent/open-agent.ts";
import { SeenLease } from "../agent/seen-lease.ts";
import { type AgentOverrides, readAgentSettings } from "../agent/settings.ts";
import { version } from "../version.ts";
import { defaultAgentFile } from "./default-files.ts";
import { openLog } from "./log.ts";
import { Shutdown } from "./shutdown.ts";

export interface RunAgentOptions extends AgentOverrides {
  readonly config?: string;
  readonly endPrograms?: true;
}

/** Starts the agent and returns; the process then runs until a signal stops it. Programs continue to run. */
export async function runAgent({ config, endPrograms, ...overrides }: RunAgentOptions): Promise<void> {
  const file = config ?? (existsSync(defaultAgentFile) ? defaultAgentFile : null);
  const settings = await readAgentSettings(file, overrides);
  const log = await openLog();
  for (const warning of settings.warnings) log.warn(warning);
  const shutdown = new Shutdown();
  const agent = openAgent({ ...settings, version, log });
  shutdown.add("agent", () => agent.close());
  if (endPrograms) {
    await agent.endPrograms();
    await shutdown.close(log);
    return;
  }
  shutdown.takeSignals(log);
  await agent.start();
  const lease = new SeenLease(join(settings.folder, "service.lease"));
  const connection = new Connection({ ...settings, log }, lease, (link) => agent.connected(link));
  shutdown.add("connection", async () => connection.close());
  const places = settings.services.map(({ origin }) => origin).join(" or ");
  log.info(`The agent of this host is ready; it connects to ${places}`);
}
