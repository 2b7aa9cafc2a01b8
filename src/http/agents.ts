import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { agentPath, FromAgent, leaseHeader } from "../contract/agent.ts";
import type { ActingLease } from "../contract/lease.ts";
import type { MiningService } from "../contract/service.ts";
import { addInwardRoute } from "./inward-sockets.ts";

/**
 * An agent with 20 programs that are read every second sends less than 100 messages a second; a host reports 12 GPUs in
 * 6 kB.
 */
const limits = { writeBurst: 5_000, writesPerSecond: 1_000, bytesPerMessage: 10_000 };

interface Options {
  readonly service: Pick<MiningService, "takeAgent">;
  readonly log: FastifyBaseLogger;
  /** Null: the service has its store alone. */
  readonly lease: ActingLease | null;
}

/** The WebSocket of host agents. */
export function addAgentRoute(app: FastifyInstance, { service, log, lease }: Options): void {
  addInwardRoute(app, {
    path: agentPath,
    whose: "a host's agent",
    limits,
    message: FromAgent,
    headers: lease === null ? [] : [`${leaseHeader}: ${lease.store} ${lease.epoch} ${lease.since}`],
    tokenOf: ({ admitted }) => admitted.agent,
    take: (token, connection) => service.takeAgent?.(token, connection),
    tooMuch: (limit) => log.warn(`The agent of a host sends too much: ${limit}; its connection is ended`),
    failed: (reason) => log.info({ reason }, "an agent's connection failed"),
  });
}
