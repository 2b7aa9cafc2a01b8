import { dirname, join, resolve } from "node:path";
import type { Logger } from "pino";
import type { Agent, ServiceReceiver } from "../agent/agent.ts";
import { openAgent } from "../agent/open-agent.ts";
import { type Config, declaredProgram } from "../config/index.ts";
import type { AgentConnection } from "../contract/agent-connection.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { version } from "../version.ts";

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
  const end = pair(agent, (connection) => service.takeOwnAgent?.(connection));
  return {
    close: async () => {
      end();
      await agent.close();
    },
  };
}

/** Connects agent and service. Each message is delivered in a later turn of the event loop, as over a socket. */
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
