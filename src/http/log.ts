import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { RigbridgeError } from "../contract/problems.ts";
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
    else log.info({ ...line, address: request.ip, ...refusalLine(request.refusal) }, "refused");
    done();
  });
}

/** Of bad input only the fields are named: the sentences may quote what a client sent. */
export function refusalLine(refusal: RigbridgeError | undefined): { readonly code?: string; readonly reason?: string } {
  if (refusal === undefined) return {};
  const { code, message, errors } = refusal;
  const fields = errors.slice(0, maxNamed).map(({ path }) => path);
  const reason = fields.length === 0 ? message : `bad: ${fields.join(", ")}`;
  return { code, reason: reason.slice(0, 200) };
}

/** Fields of a refused request in its line. */
const maxNamed = 5;

/** The path up to whatever looks like the beginning of a query, also where a client escaped it. */
export const loggable = (target: string): string =>
  (pathOf(target).split(/[;&=]|%3[bdf]|%26/i, 1)[0] ?? "").slice(0, 200);
