import { z } from "zod";
import { idempotencyHeader } from "../contract/idempotency.ts";
import { type OperationName, operationNames, operations } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { type ErrorContext, garbled, isPage, jsonOf, problemIn, refusal, succeeded, tryJson } from "./answers.ts";
import type { Answer, Wire } from "./wire.ts";

/** The kind of a server, and how it expects the key. */
export interface Server {
  readonly kind: "rigbridge" | "foreign";
  readonly wire: Wire;
  readonly features: ReadonlySet<OperationName>;
  /** Whether a write may be repeated with its `Idempotency-Key`. */
  readonly takesKeys: boolean;
  /** Whether it has GET /api/session. */
  readonly describesCallers: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** Bytes. The OpenAPI document of a Rigbridge, or a summary. */
const maxBytes = 8_000_000;

export interface Probe {
  readonly wire: Wire;
  readonly key: string | undefined;
  /** ms */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Identifies a server. A Rigbridge gets the key in the header; any other server that answers like a mining service gets it
 * in the query, the only place that the documented API has for it. Throws `service.unreachable`, `service.garbled`,
 * `service.refused`, and the server's own refusals, for example `key.wrong`.
 */
export async function identifyServer(place: Probe): Promise<Server> {
  return (await probeRigbridge(place)) ?? (await probeForeign(place));
}

const OpenApi = z.object({
  info: z.object({ "x-rigbridge": z.literal(true) }),
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z
    .object({ parameters: z.record(z.string(), z.unknown()) })
    .optional()
    .catch(undefined),
});

async function probeRigbridge(place: Probe): Promise<Server | undefined> {
  const path = "/openapi.json";
  const headers = place.key === undefined ? {} : { "x-api-key": place.key };
  const context = { wire: place.wire, request: `GET ${path}` };
  let answer = await get(place, path, {}, {});
  const problem = problemIn(answer, context);
  if (problem?.status === 401 && place.key !== undefined) answer = await get(place, path, headers, {});
  if (succeeded(answer)) {
    const document = OpenApi.safeParse(tryJson(answer.body)).data;
    if (document === undefined) return undefined;
    const describesCallers = Object.hasOwn(document.paths, "/api/session");
    const takesKeys = Object.hasOwn(document.components?.parameters ?? {}, idempotencyHeader);
    const features = featuresIn(document.paths);
    return { kind: "rigbridge", wire: place.wire, features, takesKeys, describesCallers, headers, query: {} };
  }
  if (problem !== undefined || redirects(answer) || isGatewayError(answer)) throw refusal(answer, context);
  return undefined;
}

const redirects = ({ status }: Answer): boolean => status >= 300 && status < 400;

/** The answer of a proxy, or of a server that is starting, does not identify the server. */
const isGatewayError = ({ status }: Answer): boolean => status === 502 || status === 503 || status === 504;

function featuresIn(paths: z.infer<typeof OpenApi>["paths"]): ReadonlySet<OperationName> {
  const ids = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(operationIds)));
  return new Set(operationNames.filter((name) => ids.has(name)));
}

/** Of an operation and of those that share its path. */
function operationIds(entry: unknown): unknown[] {
  if (!isRecord(entry)) return [];
  const { operationId, "x-rigbridge-views": views } = entry;
  return [operationId, ...(isRecord(views) ? Object.values(views) : [])];
}

/** The documented operations, events derived from comparing polls, and rows derived from miners. */
const derived: ReadonlySet<OperationName> = new Set(["watchEvents", "listMinerRows", "watchMinerRows"]);

const documented: ReadonlySet<OperationName> = new Set(
  operationNames.filter((name) => !("extension" in operations[name]) || derived.has(name)),
);

const Summary = z.object({ totalCount: z.number(), coinList: z.array(z.unknown()) });

async function probeForeign(place: Probe): Promise<Server> {
  const { wire, key } = place;
  const { path } = operations.getSummary;
  const context = { wire, request: `GET ${path}` };
  const query = key === undefined ? {} : { key };
  const lacks = { takesKeys: false, describesCallers: false, headers: {} } as const;
  const server = { kind: "foreign", wire, features: documented, ...lacks, query } as const;
  const open = await get(place, path, {}, {});
  if (isSummary(open, context)) return server;
  if (isNotService(open) || key === undefined) throw notTheApi(open, context);
  const keyed = await get(place, path, {}, query);
  if (isSummary(keyed, context)) return server;
  throw notTheApi(keyed, context);
}

/** A server that is certainly not a mining service never receives the key. */
const isNotService = (answer: Answer): boolean =>
  answer.status === 404 || redirects(answer) || isGatewayError(answer) || (succeeded(answer) && isPage(answer));

const isSummary = (answer: Answer, context: ErrorContext): boolean =>
  succeeded(answer) && !isPage(answer) && Summary.safeParse(jsonOf(answer, context)).success;

function notTheApi(answer: Answer, context: ErrorContext): RigbridgeError {
  const { wire, request } = context;
  if (answer.status === 404)
    return garbled(`What answers at ${wire.origin} has no ${request}: it is not a mining service`);
  if (!succeeded(answer)) return refusal(answer, context);
  if (!isPage(answer)) return garbled(`${wire.origin} answers ${request}, but not with a dashboard summary`);
  return garbled(`${wire.origin} answers ${request} with a web page: it is not a mining service`);
}

const get = (
  { wire, timeoutMs, signal }: Probe,
  path: string,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): Promise<Answer> => wire.exchange({ method: "GET", path, query, headers, timeoutMs: timeoutMs, maxBytes, signal });

/** The error for something that a server does not support. */
export const unsupported = (what: string, { wire }: Pick<ErrorContext, "wire">, { kind }: Server): RigbridgeError =>
  new RigbridgeError(
    "service.unsupported",
    kind === "rigbridge"
      ? `The Rigbridge at ${wire.origin} does not offer ${what}; it has another version`
      : `The service at ${wire.origin} is not a Rigbridge and does not offer ${what}`,
  );
