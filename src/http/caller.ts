import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type Idempotency,
  idempotencyHeader,
  idempotencyKeyIn,
  keyWording,
  replayedHeader,
} from "../contract/idempotency.ts";
import { mcpActor } from "../contract/mcp-actor.ts";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import type { Admitted } from "./credentials.ts";

/**
 * The caller of a request: the user whose API key or session came with it, else the front end with the access of `userId`, limited
 * to view without a key. Throws `not.found` if a user's own key comes with another `user_id`, as for an unknown one.
 */
export function callerOf({ holder, isKeyless }: Admitted, userId: number | undefined): Caller {
  if (holder === undefined) return { actor: "http", userId, ...(isKeyless ? { privilege: "view" } : {}) };
  if (userId !== undefined && userId !== holder.id) throw notFound("user", userId);
  return { actor: holder.name, userId: holder.id };
}

/** The caller under the name of the MCP client for which `rigbridge mcp` sends the request, if it does. */
export const withMcpClient = (caller: Caller, client: string | readonly string[] | undefined): Caller =>
  typeof client === "string" ? { ...caller, actor: mcpActor(client) } : caller;

/** The key of a write, which marks the answer if it is one again; undefined if it has none. Throws `input.invalid`. */
export function idempotencyOf({ headers }: FastifyRequest, reply: FastifyReply): Idempotency | undefined {
  const value = headers[idempotencyHeader.toLowerCase()];
  if (value === undefined) return undefined;
  const key = typeof value === "string" ? idempotencyKeyIn(value) : undefined;
  if (key === undefined) throw new RigbridgeError("input.invalid", `The header ${idempotencyHeader} ${keyWording}`);
  return { key, replayed: () => reply.header(replayedHeader, "true") };
}
