import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { pathOf } from "./paths.ts";

/** A line for each answer: never the query, where the key stands, nor what a client wrote in its place. */
export function logAnswers(app: FastifyInstance, log: FastifyBaseLogger): void {
  app.addHook("onResponse", (request, reply, done) => {
    const line = {
      method: request.method,
      path: loggable(request.url),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    if (reply.statusCode < 400) log.debug(line, "answered");
    else log.info(line, "refused");
    done();
  });
}

/** The path up to whatever looks like the beginning of a query, also where a client escaped it. */
export const loggable = (target: string): string =>
  (pathOf(target).split(/[;&=]|%3[bdf]|%26/i, 1)[0] ?? "").slice(0, 200);
