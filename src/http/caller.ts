import type { FastifyReply, FastifyRequest } from "fastify";
import { centreActorHeader, centreActorIn } from "../contract/centre-actor.ts";
import {
  type Idempotency,
  idempotencyHeader,
  idempotencyKeyIn,
  keyWording,
  replayedHeader,
} from "../contract/idempotency.ts";
import { mcpActor, mcpClientHeader } from "../contract/mcp-actor.ts";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import type { Admitted } from "./credentials.ts";

/**
 * The caller of a request: the user whose API key or session came with it, else the front end with the access of `userId`, limited
 * to view without a key. Throws `not.found` if a user's own key comes with another `user_id`, as for an unknown one.
 */
export function callerOf({ holder, isKeyless, centre }: Admitted, userId: number | undefined): Caller {
  if (centre !== undefined) {
    const { name, privilege } = centre;
    return { actor: name, userId, privilege, ...(userId === undefined ? { centre: name } : {}) };
  }
  if (holder === undefined) return { actor: "http", userId, ...(isKeyless ? { privilege: "view" } : {}) };
  if (userId !== undefined && userId !== holder.id) throw notFound("user", userId);
  return { actor: holder.name, userId: holder.id };
}

/**
 * The caller under the name of whom the request is sent for: the MCP client that `rigbridge mcp` names, or the person that
 * a centre names, over the site's own connection to it or with a key that is marked as its own.
 */
export function withActor(caller: Caller, { headers, admitted: { holder, centre } }: FastifyRequest): Caller {
  const client = headers[mcpClientHeader];
  if (typeof client === "string") return { ...caller, actor: mcpActor(client) };
  const person = headers[centreActorHeader];
  if (centre !== undefined && typeof person === "string")
    return { ...caller, actor: `${centreActorIn(person)} for ${centre.name}` };
  if (holder?.centre !== true || typeof person !== "string") return caller;
  return { ...caller, actor: centreActorIn(person) };
}

/** The key of a write, which marks the answer if it is one again; undefined if it has none. Throws `input.invalid`. */
export function idempotencyOf({ headers }: FastifyRequest, reply: FastifyReply): Idempotency | undefined {
  const value = headers[idempotencyHeader.toLowerCase()];
  if (value === undefined) return undefined;
  const key = typeof value === "string" ? idempotencyKeyIn(value) : undefined;
  if (key === undefined) throw new RigbridgeError("input.invalid", `The header ${idempotencyHeader} ${keyWording}`);
  return { key, replayed: () => reply.header(replayedHeader, "true") };
}
