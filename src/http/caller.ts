import type { FastifyRequest } from "fastify";
import { notFound } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";

/**
 * Who asks: the user whose own key came with the request, else the front end, looking through the eyes of `userId`;
 * without a key as somebody who may only look.
 * Throws `not.found` for another user's id beside a user's own key, just as for one that there is not.
 */
export function callerOf({ admitted }: FastifyRequest, userId: number | undefined): Caller {
  const { holder, isKeyless } = admitted;
  if (holder === undefined) return { actor: "http", userId, ...(isKeyless ? { privilege: "view" } : {}) };
  if (userId !== undefined && userId !== holder.id) throw notFound("user", userId);
  return { actor: holder.name, userId: holder.id };
}
