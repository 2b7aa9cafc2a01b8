import { dirname, join, resolve } from "node:path";
import type { Logger } from "pino";
import { Agent, type ServiceReceiver } from "../agent/agent.ts";
import { programDownloads } from "../agent/downloads/program-downloads.ts";
import { GpuReader } from "../agent/gpus/gpu-reader.ts";
import { GpuTuner } from "../agent/gpus/gpu-tuner.ts";
import { platformOf } from "../agent/platform/index.ts";
import { type Config, declaredProgram } from "../config/index.ts";
import type { AgentConnection } from "../contract/agent-connection.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { version } from "../version.ts";

/** The agent of the service's own machine, in this process: the same as elsewhere, without a socket. */
export async function startOwnAgent(
  service: Pick<MiningService, "takeOwnAgent">,
  { agent: settings, store, software }: Pick<Config, "agent" | "store" | "software">,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  if (store.url === ":memory:" && settings.data === undefined)
    throw new RigbridgeError("config.invalid", "agent.data is required where store.url is :memory:");
  const folder = resolve(settings.data ?? join(dirname(store.url), "agent"));
  const platform = platformOf();
  const tell = (text: string): void => log.warn(text);
  const gpuReader = new GpuReader({ log: tell });
  const mirror = settings.mirror ?? null;
  const { folders = [join(folder, "programs")], ...allowed } = settings.allow;
  const agent = new Agent({
    ...{ version, platform, folder, gpuReader, log, own: software.map(declaredProgram) },
    gpuTuner: new GpuTuner({
      ...{ reader: gpuReader, env: process.env, root: "/", timeoutMs: 6_000, log: tell },
      journal: join(folder, "gpu-settings.json"),
    }),
    permissions: { folders, ...allowed },
    rebootCommand: settings.rebootCommand ?? platform.rebootCommand,
    downloads: programDownloads({ folder, mirror }),
  });
  await agent.start();
  const end = pair(agent, (connection) => service.takeOwnAgent?.(connection));
  return {
    close: async () => {
      end();
      await agent.close();
    },
  };
}

/** Connects both in this process. A message arrives in a turn of its own, as over a socket. */
function pair(
  agent: Agent,
  take: (connection: AgentConnection) => ReturnType<NonNullable<MiningService["takeOwnAgent"]>> | undefined,
): () => void {
  let isOpen = true;
  let ofAgent: ServiceReceiver | null = null;
  const later = (work: () => void): void => void setImmediate(() => isOpen && work());
  const ofService = take({
    send: (message) => later(() => ofAgent?.message(message)),
    sendFrame: (channel, bytes) => {
      const copy = Buffer.from(bytes);
      later(() => ofAgent?.frame(channel, copy));
    },
    close: () => end(),
  });
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    ofAgent?.closed();
    ofService?.closed();
  };
  ofAgent = agent.connected({
    send: (message) => later(() => ofService?.message(message)),
    sendFrame: (channel, bytes) => {
      const copy = Buffer.from(bytes);
      later(() => ofService?.frame(channel, copy));
    },
    waiting: 0,
  });
  return end;
}
