import { existsSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../agent/agent.ts";
import { Connection } from "../agent/connection.ts";
import { programDownloads } from "../agent/downloads/program-downloads.ts";
import { GpuReader } from "../agent/gpus/gpu-reader.ts";
import { GpuTuner } from "../agent/gpus/gpu-tuner.ts";
import { platformOf } from "../agent/platform/index.ts";
import { type AgentOverrides, readAgentSettings } from "../agent/settings.ts";
import { version } from "../version.ts";
import { defaultAgentFile } from "./agent.ts";
import { openLog } from "./log.ts";
import { Shutdown } from "./shutdown.ts";

export interface RunAgentOptions extends AgentOverrides {
  readonly config?: string;
  readonly endPrograms?: true;
}

/** Starts the agent and returns; the process then runs until a signal stops it. Programs run on. */
export async function runAgent({ config, endPrograms, ...overrides }: RunAgentOptions): Promise<void> {
  const file = config ?? (existsSync(defaultAgentFile) ? defaultAgentFile : null);
  const settings = await readAgentSettings(file, overrides);
  const log = await openLog();
  for (const warning of settings.warnings) log.warn(warning);
  const shutdown = new Shutdown();
  const { own, mirror } = settings;
  const platform = platformOf();
  const tell = (text: string) => log.warn(text);
  const gpuReader = new GpuReader({ log: tell });
  const gpuTuner = new GpuTuner({
    ...{ reader: gpuReader, env: process.env, root: "/", timeoutMs: 6_000, log: tell },
    journal: join(settings.folder, "gpu-settings.json"),
  });
  const agent = new Agent({
    ...{ version, platform, gpuReader, gpuTuner, log, own },
    folder: settings.folder,
    permissions: settings.permissions,
    rebootCommand: settings.rebootCommand ?? platform.rebootCommand,
    downloads: programDownloads({ folder: settings.folder, mirror }),
  });
  shutdown.add("agent", () => agent.close());
  if (endPrograms) {
    await agent.endPrograms();
    await shutdown.close(log);
    return;
  }
  shutdown.takeSignals(log);
  await agent.start();
  const connection = new Connection({ ...settings, log }, (link) => agent.connected(link));
  shutdown.add("connection", async () => connection.close());
  log.info(`The agent of this host is ready; it connects to ${settings.service.origin}`);
}
