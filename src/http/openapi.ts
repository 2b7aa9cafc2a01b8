import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { Id, userIdDescription } from "../contract/inputs.ts";
import { type Operation, type OperationName, operationNames, operations, viewsOf } from "../contract/operations.ts";
import { pages } from "./openapi-pages.ts";
import {
  contractSchemas,
  type Json,
  parameterSchemas,
  problemResponse,
  problemSchema,
  reference,
} from "./openapi-schemas.ts";
import { description, marked, problemCodes, streamDescription, tags } from "./openapi-text.ts";

/** The OpenAPI 3.1 document of the whole interface, made from the table of operations. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const name of operationNames) {
    const operation: Operation = operations[name];
    if (operation.view !== undefined) continue;
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: entry(name, operation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Rigbridge",
      version,
      description,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      "x-rigbridge": true,
    },
    servers: [{ url: "/" }],
    security: [{ keyInQuery: [] }, { keyInHeader: [] }, {}],
    tags,
    paths: { ...paths, ...pages },
    components: {
      schemas: { ...contractSchemas(), Problem: problemSchema },
      parameters: { user_id: userIdParameter },
      responses: Object.fromEntries(
        statuses.map((status) => [`Problem${status}`, problemResponse(problemCodes(status))]),
      ),
      securitySchemes: {
        keyInQuery: { type: "apiKey", in: "query", name: "key", description: "The service's key or a user's own key" },
        keyInHeader: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: marked("The same key as a header"),
        },
      },
    },
  };
}

/** Operations that wait for a rig's answer. */
const atTheRig: ReadonlySet<OperationName> = new Set(["minerAction", "minerPoolAction", "pollMiner"]);

/** Operations that wait for the agent of a host, or for a channel. */
const elsewhere: ReadonlySet<OperationName> = new Set([
  "saveManagedMiner",
  "getManagedMinerCommand",
  "confirmManagedMinerDownload",
  "testChannel",
]);

/** Reads that may answer 409. */
const conflicting: ReadonlySet<OperationName> = new Set(["getHostSystemInfo", "getManagedMinerCommand"]);

function entry(name: OperationName, operation: Operation): Json {
  const { kind, method, extension, summary, body, alias } = operation;
  const { privilege, scope } = operation.access;
  const isStream = kind === "stream";
  const views = viewsOf(operation);
  const inViews = [...views.values()].map((its): Operation => operations[its]);
  const paragraphs = [
    ...(isStream ? [streamDescription] : []),
    ...(extension ? ["A Rigbridge extension: not part of the documented API."] : []),
    ...[...views].map(([view, its]) => viewDescription(view, operations[its])),
    ...(alias === undefined ? [] : [`Also available at \`${alias}\`.`]),
    `Requires the privilege \`${privilege}\`${scope === "all" ? " and a user who sees all groups and pools" : ""}.`,
  ];
  return {
    operationId: name,
    tags: [tagOf(operation.path)],
    summary: extension ? marked(summary) : summary,
    description: paragraphs.join("\n\n"),
    ...(extension ? { "x-rigbridge-addition": true } : {}),
    "x-rigbridge-needs": privilege,
    ...(views.size === 0 ? {} : { "x-rigbridge-views": Object.fromEntries(views) }),
    parameters: [
      ...parametersOf(operation.params && z.object(operation.params), "path"),
      ...queryParameters([operation, ...inViews]),
      { $ref: "#/components/parameters/user_id" },
      ...(isStream ? [lastEventId] : method === "GET" ? [ifNoneMatch] : []),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: reference(body) } } } }),
    responses: {
      ...(isStream ? streamed(operation, inViews) : answered(operation, inViews, atTheRig.has(name))),
      ...Object.fromEntries(
        statusesOf(name, operation).map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
      default: problemResponse("Any other error"),
    },
  };
}

const viewDescription = (view: string, { summary, media }: Operation): string =>
  `With \`view=${view}\` (Rigbridge extension): ${summary}${media === undefined ? "" : `, as \`${media}\``}.`;

/** The tag of a path is its resource, with two exceptions. */
function tagOf(path: string): string {
  const resource = path.split("/")[2] ?? "";
  return { user: "users", version: "service" }[resource] ?? resource;
}

/** Each parameter once. One that a view has, too, but with other values, has no pattern, and both descriptions. */
function queryParameters([operation, ...views]: readonly Operation[]): Json[] {
  const all = parametersOf(operation?.query, "query");
  for (const each of views.flatMap(({ query }) => parametersOf(query, "query"))) {
    const place = all.findIndex(({ name }) => name === each.name);
    const own = all[place];
    const optional = { ...each, required: false };
    if (own === undefined) all.push(optional);
    else if (!isDeepStrictEqual(own, each)) {
      const { pattern: _, ...schema } = z.record(z.string(), z.unknown()).parse(own.schema);
      all[place] = { ...own, description: `${own.description}; with \`view\`: ${each.description}`, schema };
    }
  }
  return all;
}

function parametersOf(schema: z.ZodType | undefined, place: "path" | "query"): Json[] {
  if (schema === undefined) return [];
  const { properties, required } = parameterSchemas(schema);
  return Object.entries(properties).map(([name, value]) => {
    const { description: words, ...rest } = z.record(z.string(), z.unknown()).parse(value);
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(words === undefined ? {} : { description: words }),
      schema: rest,
    };
  });
}

const userIdParameter: Json = {
  name: "user_id",
  in: "query",
  required: false,
  description: userIdDescription,
  schema: parameterSchemas(z.object({ id: Id.meta({ examples: [1] }) })).properties.id,
};

const ifNoneMatch: Json = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The `ETag` of the client's copy",
  schema: { type: "string", examples: ['"2f1c"'] },
};

const lastEventId: Json = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "Resume after this event; browsers send this header automatically",
  schema: { type: "integer", minimum: 0, examples: [1204] },
};

/** The successful answers of a call. */
function answered(operation: Operation, views: readonly Operation[], atRig: boolean): Json {
  const table = operation.csv === undefined ? {} : { "text/csv": { schema: { type: "string" } } };
  const others = views.map(({ media = "", reply }) => [media, { schema: reference(reply) }]);
  const content = {
    "application/json": { schema: reference(operation.reply) },
    ...table,
    ...Object.fromEntries(others),
  };
  if (operation.method === "GET")
    return {
      200: { description: "The requested resource", headers: { ETag: { schema: { type: "string" } } }, content },
      304: { description: "The client's copy is current" },
    };
  const pending = atRig && operation.query !== undefined;
  return {
    [operation.status ?? 200]: { description: "Done", content },
    ...(pending ? { 202: { description: "Sent to the rig, which has not answered yet", content } } : {}),
  };
}

const streamed = ({ reply }: Operation, views: readonly Operation[]): Json => ({
  200: {
    description: "Events, until the client disconnects",
    content: {
      "text/event-stream": {
        schema: { type: "string", contentMediaType: "text/event-stream" },
        "x-rigbridge-event": reference(reply),
        ...(views.length === 0
          ? {}
          : {
              "x-rigbridge-event-by-view": Object.fromEntries(views.map((each) => [each.view, reference(each.reply)])),
            }),
      },
    },
  },
});

/** The statuses with which this operation may fail. */
function statusesOf(name: OperationName, { method, body }: Operation): number[] {
  return [
    ...[400, 401, 403, 404],
    ...(method === "GET" && !conflicting.has(name) ? [] : [409]),
    ...(body === undefined ? [] : [413, 415]),
    429,
    ...(atTheRig.has(name) || elsewhere.has(name) ? [502, 504] : []),
    ...(method === "GET" ? [] : [507]),
  ];
}

const statuses = [400, 401, 403, 404, 409, 413, 415, 429, 502, 504, 507];
