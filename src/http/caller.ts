import type { FastifyRequest } from "fastify";
import { notFound } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";

/**
 * Who asks: the user whose own key came with the request, else the front end, looking through the eyes of `userId`.
 * Throws `not.found` for another user's id beside a user's own key, just as for one that there is not.
 */
export function callerOf({ holder }: FastifyRequest, userId: number | undefined): Caller {
  if (holder === undefined) return { actor: "http", userId };
  if (userId !== undefined && userId !== holder.id) throw notFound("user", userId);
  return { actor: holder.name, userId: holder.id };
}
