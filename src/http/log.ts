import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { RigbridgeError } from "../contract/problems.ts";
import { pathOf } from "./paths.ts";

/** Logs each answer, but never the query, which may contain the key, nor a misplaced query. */
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

/** For invalid input only the fields are named: the sentences may quote the client. */
export function refusalLine(refusal: RigbridgeError | undefined): { readonly code?: string; readonly reason?: string } {
  if (refusal === undefined) return {};
  const { code, message, errors } = refusal;
  const fields = errors.slice(0, maxNamed).map(({ path }) => path);
  const reason = fields.length === 0 ? message : `bad: ${fields.join(", ")}`;
  return { code, reason: reason.slice(0, 200) };
}

/** Most fields named in the line of a refused request. */
const maxNamed = 5;

/** The path up to anything that looks like the start of a query, even an escaped one. */
export const loggable = (target: string): string =>
  (pathOf(target).split(/[;&=]|%3[bdf]|%26/i, 1)[0] ?? "").slice(0, 200);
