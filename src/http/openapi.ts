import { z } from "zod";
import { idempotencyHeader } from "../contract/idempotency.ts";
import { ignoredKeysName } from "../contract/ignored-keys.ts";
import { Id, userIdDescription } from "../contract/inputs.ts";
import {
  fixedFormsOf,
  type Operation,
  type OperationName,
  operationNames,
  operations,
  viewsOf,
} from "../contract/operations.ts";
import { pages } from "./openapi-pages.ts";
import type { Json } from "./openapi-schema-walk.ts";
import { contractSchemas, parameterSchemas, problemResponse, problemSchema, reference } from "./openapi-schemas.ts";
import { description, marked, problemCodes, streamDescription, tags } from "./openapi-text.ts";

/** The OpenAPI 3.1 document of the whole interface, generated from the table of operations. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const name of operationNames) {
    for (const form of documentedForms(name)) {
      const path = form.path.replaceAll(/:(\w+)/g, "{$1}");
      paths[path] = { ...paths[path], [operations[name].method.toLowerCase()]: entry(name, form) };
    }
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
      parameters: { user_id: userIdParameter, [idempotencyHeader]: idempotencyKey },
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

/** A documented path of an operation: each path answers with one type, as generated clients need it. */
interface Form {
  readonly path: string;
  /** Query parameters of the operation that do not apply to this path. */
  readonly without: readonly string[];
  readonly isTable: boolean;
}

function documentedForms(name: OperationName): readonly Form[] {
  const operation: Operation = operations[name];
  const further = fixedFormsOf(operation).map(({ path, fixed }) => ({
    path,
    without: Object.keys(fixed),
    isTable: operation.view === undefined,
  }));
  if (operation.view !== undefined) return further;
  return [{ path: operation.path, without: further.flatMap(({ without }) => without), isTable: false }, ...further];
}

function entry(name: OperationName, { path, without, isTable }: Form): Json {
  const operation: Operation = operations[name];
  const { kind, method, extension, summary, body, alias } = operation;
  const { privilege, scope } = operation.access;
  const isStream = kind === "stream";
  const isPlain = path === operation.path;
  const paragraphs = [
    ...(isStream ? [streamDescription] : []),
    ...(extension ? ["A Rigbridge extension: not part of the documented API."] : []),
    ...(isPlain ? furtherForms(operation) : []),
    ...(alias === undefined ? [] : [`Also available at \`${alias}\`.`]),
    `Requires the privilege \`${privilege}\`${scope === "all" ? " and a user who sees all groups and pools" : ""}.`,
  ];
  const title = isTable ? `${summary}; as a table (RFC 4180)` : summary;
  return {
    operationId: isTable ? `${name}Csv` : name,
    tags: [tagOf(operation.path)],
    summary: extension ? marked(title) : title,
    description: paragraphs.join("\n\n"),
    ...(extension ? { "x-rigbridge-addition": true } : {}),
    "x-rigbridge-needs": privilege,
    parameters: [
      ...parametersOf(operation.params && z.object(operation.params), "path"),
      ...parametersOf(operation.query, "query").filter((each) => !without.includes(String(each.name))),
      { $ref: "#/components/parameters/user_id" },
      ...(isStream
        ? [lastEventId]
        : method === "GET"
          ? [ifNoneMatch]
          : [{ $ref: `#/components/parameters/${idempotencyHeader}` }]),
    ],
    ...(body === undefined
      ? {}
      : {
          // A second type, such as text/csv, makes some generators leave the operation out.
          requestBody: { required: true, content: { "application/json": { schema: reference(body) } } },
        }),
    responses: {
      ...(isStream ? streamed(operation) : answered(operation, isTable, atTheRig.has(name))),
      ...Object.fromEntries(
        statusesOf(name, operation).map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
      default: problemResponse("Any other error"),
    },
  };
}

/** The other replies that requests to an operation's plain path can ask for. */
function furtherForms(operation: Operation): string[] {
  const views = [...viewsOf(operation).values()].flatMap((name) => fixedFormsOf(operations[name]));
  return [...views, ...fixedFormsOf(operation)].flatMap(({ path, fixed }) =>
    Object.entries(fixed).map(
      ([key, value]) => `With \`${key}=${value}\` (Rigbridge extension), this path answers as \`${path}\` does.`,
    ),
  );
}

/** The tag of a path is its resource, with two exceptions. */
function tagOf(path: string): string {
  const resource = path.split("/")[2] ?? "";
  return { user: "users", version: "service" }[resource] ?? resource;
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

const idempotencyKey: Json = {
  name: idempotencyHeader,
  in: "header",
  required: false,
  description: marked(
    "Chosen by the client for this request, which is done once however often it is sent with this key",
  ),
  schema: {
    type: "string",
    minLength: 1,
    maxLength: 255,
    pattern: "^[!#-~][!-~]*$",
    examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
  },
};

const lastEventId: Json = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "Resume after this event; browsers send this header automatically",
  schema: { type: "integer", format: "int64", minimum: 0, examples: [1204] },
};

/** The successful answers of a call. */
function answered(
  { method, status, query, body, reply, media = "application/json" }: Operation,
  isTable: boolean,
  atRig: boolean,
): Json {
  const content = isTable ? { "text/csv": { schema: { type: "string" } } } : { [media]: { schema: reference(reply) } };
  if (method === "GET")
    return {
      200: { description: "The requested resource", headers: { ETag: { schema: { type: "string" } } }, content },
      304: { description: "The client's copy is current" },
    };
  const pending = atRig && query !== undefined;
  return {
    [status ?? 200]: { description: "Done", ...(body === undefined ? {} : { headers: ignoredKeysHeader }), content },
    ...(pending ? { 202: { description: "Sent to the rig, which has not answered yet", content } } : {}),
  };
}

const ignoredKeysHeader: Json = {
  [ignoredKeysName]: {
    schema: { type: "string" },
    description: "Keys of the body that were ignored, as paths separated by commas; at most 20, then `...`",
  },
};

const streamed = ({ reply }: Operation): Json => ({
  200: {
    description: "Events, until the client disconnects",
    content: {
      "text/event-stream": {
        schema: { type: "string", contentMediaType: "text/event-stream" },
        "x-rigbridge-event": reference(reply),
      },
    },
  },
});

/** The statuses with which this operation may fail. */
function statusesOf(name: OperationName, { method, body }: Operation): number[] {
  return [
    400,
    401,
    403,
    404,
    ...(method === "GET" && !conflicting.has(name) ? [] : [409]),
    ...(body === undefined ? [] : [413, 415]),
    429,
    ...(atTheRig.has(name) || elsewhere.has(name) ? [502, 504] : []),
    ...(method === "GET" ? [] : [507]),
  ];
}

const statuses = [400, 401, 403, 404, 409, 413, 415, 429, 502, 504, 507];
