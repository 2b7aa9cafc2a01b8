import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type CsvOptions, csvOf } from "../contract/csv.ts";
import { inputOf, userIdIn } from "../contract/decode.ts";
import { ignoredKeys, ignoredKeysHeader, ignoredKeysName } from "../contract/ignored-keys.ts";
import { withRequestedFields } from "../contract/miner-fields.ts";
import {
  fixedFormsOf,
  type Operation,
  type OperationName,
  operationNames,
  operations,
  viewsOf,
} from "../contract/operations.ts";
import { ActionReply } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { sendDone, sendEncoded, sendRead, sendTable } from "./answers.ts";
import { isCsv, readCsv, readJson, skipBody } from "./body.ts";
import { callerOf, idempotencyOf, withActor } from "./caller.ts";
import type { HttpLimits } from "./limits.ts";
import { pathsOf } from "./paths.ts";
import type { PendingAnswers } from "./pending-answers.ts";

interface Serving {
  readonly service: MiningService;
  readonly limits: HttpLimits;
  readonly pending: PendingAnswers;
}

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** A route for each operation of the table; those that share one are told apart by the `view` of the request. */
export function addRoutes(app: FastifyInstance, serving: Serving): void {
  for (const name of operationNames) {
    const operation: Operation = operations[name];
    if (operation.kind === "stream") continue;
    const method = operation.method === "GET" ? ["GET", "HEAD"] : operation.method;
    for (const { path, fixed } of fixedFormsOf(operation))
      app.route({ method, url: path, handler: answer(name, operation, serving, { fixed }) });
    if (operation.view !== undefined) continue;
    const views = new Map([...viewsOf(operation)].map(([view, its]) => [view, answer(its, operations[its], serving)]));
    const plain = answer(name, operation, serving, { views: [...views.keys()] });
    const handler: Answer = (request, reply) =>
      (views.get(request.queryText.values.get("view") ?? "") ?? plain)(request, reply);
    for (const url of pathsOf(operation)) app.route({ method, url, handler });
  }
}

function answer(
  name: OperationName,
  operation: Operation,
  { service, limits, pending }: Serving,
  forms: Parameters<typeof inputOf>[1] = {},
): Answer {
  const decode = inputOf(operation, forms);
  const reads = operation.method === "GET";
  const type = operation.media;

  return async (request, reply) => {
    // Before the body: a request without the required access is refused without reading it.
    service.checkAccess?.(name, callerOf(request.admitted, userIdIn(request.queryText)));
    const idempotency = reads ? undefined : idempotencyOf(request, reply);
    const body = await bodyOf(operation, request, reply.raw, limits);
    const { input, userId } = decode({ params: request.params, query: request.queryText, body });
    const client = withActor(callerOf(request.admitted, userId), request);
    const caller = idempotency === undefined ? client : { ...client, idempotency };
    const ask = () => service.encoded?.(name, input, caller);
    const preparing = reads ? service.prepare?.(name, input, caller) : undefined;
    if (preparing !== undefined) await preparing;
    const encoded = reads ? ask() : undefined;
    if (encoded !== undefined) return sendEncoded(request, reply, encoded, { pending, type, again: ask });
    // The operation's own schemas produced the input, which the types of a table cannot express.
    const value: unknown = await Reflect.apply(service[name], service, [input, caller]);
    if (operation.body !== undefined) nameIgnoredKeys(reply, ignoredKeys(operation.body, body));
    if (operation.csv !== undefined && "format" in input && input.format === "csv")
      return sendTable(request, reply, csvOf(Reflect.apply(operation.csv, undefined, [value]), csvOptions(input)));
    return reads
      ? sendRead(request, reply, withRequestedFields(name, input, value), type)
      : sendDone(reply, statusOf(operation, value), value);
  };
}

function nameIgnoredKeys(reply: FastifyReply, paths: readonly string[]): void {
  if (paths.length > 0) reply.header(ignoredKeysName, ignoredKeysHeader(paths));
}

async function bodyOf(
  operation: Operation,
  { chargeForBody }: FastifyRequest,
  response: ServerResponse,
  usual: HttpLimits,
): Promise<unknown> {
  if (operation.method === "GET") return undefined;
  const limits = limitsFor(operation, usual);
  if (operation.body === undefined) return skipBody(response, limits, chargeForBody);
  const { csvBody } = operation;
  return csvBody !== undefined && isCsv(response.req)
    ? { [csvBody]: await readCsv(response, limits, chargeForBody) }
    : readJson(response, csvBody === undefined ? limits : { ...limits, characters: limits.body }, chargeForBody);
}

/** A longer body has as many pieces more. */
const limitsFor = ({ longestBody }: Operation, limits: HttpLimits): HttpLimits =>
  longestBody === undefined
    ? limits
    : { ...limits, body: longestBody, pieces: Math.ceil((limits.pieces * longestBody) / limits.body) };

/** 202 for an action that the rig has not accepted yet. */
function statusOf(operation: Operation, value: unknown): number {
  if (operation.status !== undefined) return operation.status;
  const pending =
    operation.reply === ActionReply &&
    typeof value === "object" &&
    value !== null &&
    "state" in value &&
    !("taken" in value) &&
    (value.state === "sent" || value.state === "queued");
  return pending ? 202 : 200;
}

/** The table options of a request. */
const csvOptions = (input: object): CsvOptions => ({
  units: "units" in input && input.units === true,
  bom: "bom" in input && input.bom === true,
});
