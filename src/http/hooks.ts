import type { FastifyInstance } from "fastify";
import type { MiningService } from "../contract/service.ts";
import { readJsonOrText } from "./body.ts";
import type { HttpLimits } from "./limits.ts";
import { hookIn, hookPath, pathOf } from "./paths.ts";

/** Longest body of a web hook, in bytes. */
const hookBytes = 4_096;

/** The route of incoming web hooks; admission has checked their secret. */
export function addHookRoute(
  app: FastifyInstance,
  { service, limits }: { readonly service: MiningService; readonly limits: HttpLimits },
): void {
  app.route({
    method: "POST",
    url: hookPath,
    handler: async (request, reply) => {
      const payload = await readJsonOrText(reply.raw, { ...limits, body: hookBytes }, request.chargeForBody);
      service.receiveHook?.(hookIn(pathOf(request.url)) ?? "", payload);
      return reply.code(204).send();
    },
  });
}
