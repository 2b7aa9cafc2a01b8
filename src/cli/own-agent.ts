import { dirname, join, resolve } from "node:path";
import type { Logger } from "pino";
import { openAgent } from "../agent/open-agent.ts";
import { type Config, declaredProgram } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { version } from "../version.ts";
import { pairAgent } from "./pair-agent.ts";

/** The agent of the service's own machine. It is the same agent, but runs in this process, without a socket. */
export async function startOwnAgent(
  service: Pick<MiningService, "takeOwnAgent">,
  { agent: settings, store, software }: Pick<Config, "agent" | "software" | "store">,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  if (store.url === ":memory:" && settings.data === undefined)
    throw new RigbridgeError("config.invalid", "agent.data is required where store.url is :memory:");
  const folder = resolve(settings.data ?? join(dirname(store.url), "agent"));
  const { allow, rebootCommand, foreignPrograms, mirror = null } = settings;
  const own = software.map(declaredProgram);
  const agent = openAgent({ folder, version, log, own, mirror, allow, rebootCommand, foreignPrograms });
  await agent.start();
  const end = pairAgent(agent, (connection) => service.takeOwnAgent?.(connection));
  return {
    close: async () => {
      end();
      await agent.close();
    },
  };
}
