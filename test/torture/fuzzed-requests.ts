import fc from "fast-check";
import { z } from "zod";
import { type Operation, type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import { openApiDocument } from "../../src/http/openapi.ts";

export interface FuzzedRequest {
  readonly operation: OperationName;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What the fuzz may name, so that it finds things and leaves this machine alone. */
export interface Ground {
  /** Ids of things that are there, beside small numbers. */
  readonly ids: readonly number[];
  /** Where rigs are, or nothing is; nothing else is ever named as an address. */
  readonly addresses: readonly string[];
  /** Networks to search, likewise. */
  readonly networks: readonly string[];
}

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  /** Of texts: words that they may be among others. */
  examples: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  minimum: z.number().optional(),
});
const Parameter = z.object({ name: z.string().optional(), in: z.string().optional(), schema: z.unknown().optional() });
const Entry = z.object({
  parameters: z.array(Parameter),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
  responses: z.record(z.string(), z.unknown()),
});
const document = z
  .object({
    paths: z.record(z.string(), z.record(z.string(), z.unknown())),
    components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  })
  .parse(openApiDocument("0"));

/** Where the document describes an operation. */
const documentedPath = ({ path, ownPath = path }: Operation): string => ownPath;

const entries = new Map(operationNames.map((name) => [name, entryOf(operations[name])]));

function entryOf(operation: Operation): z.infer<typeof Entry> {
  const item = document.paths[documentedPath(operation).replaceAll(/:(\w+)/g, "{$1}")];
  return Entry.parse(item?.[operation.method.toLowerCase()]);
}

/** Statuses that the document names for an operation. */
export const documented = (name: OperationName, status: number): boolean =>
  entries.get(name)?.responses[status] !== undefined;

/** Words that have broken one program or another. */
const odd = fc.constantFrom(
  ...["", "0", "-1", "1e3", "0x10", "1,5", "9007199254740993", "NaN", "Infinity", "１", "null", "true", "[]", "{}"],
  ...["__proto__", "constructor", "toString", "../../etc/passwd", "%00", "%zz", "'; --", "$(id)", "\u202e", "\ud800"],
  ...["a\nb", "😀", "x".repeat(5_000), "<script>", "\0"],
);
const usual = fc.constantFrom("new", "anna", "alpha", "stratum+tcp://pool.example:1", "BTC", "sha256", "cgminer");
const anyText = fc.oneof(odd, fc.string({ maxLength: 40 }), fc.string({ unit: "binary", maxLength: 20 }));
const anyValue = fc.oneof(anyText, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.maxSafeInteger());

/** Mostly what fits, now and then something else. */
const or = <A, B>(fits: fc.Arbitrary<A>, otherwise: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof({ weight: 30, arbitrary: fits }, { weight: 1, arbitrary: otherwise });

/** Requests to every operation as the OpenAPI document describes them, and such as it does not. */
export function fuzzedRequests(ground: Ground): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(...operationNames.map((name) => requestsOf(name, ground)));
}

function requestsOf(operation: OperationName, ground: Ground): fc.Arbitrary<FuzzedRequest> {
  const { method }: Operation = operations[operation];
  const path = documentedPath(operations[operation]);
  const { parameters, requestBody } = entries.get(operation) ?? entryOf(operations[operation]);
  const text = (name: string, schema: unknown) => or(anyOfSchema(name, schema, ground).map(String), anyText);
  const inPath = parameters.filter((each) => each.in === "path");
  const inQuery = parameters.filter((each) => each.in === "query");
  const places = fc.record(Object.fromEntries(inPath.map(({ name = "", schema }) => [name, text(name, schema)])));
  const asked = fc.record(Object.fromEntries(inQuery.map(({ name = "", schema }) => [name, text(name, schema)])), {
    requiredKeys: inQuery.flatMap(({ name = "" }) => (name === "action" ? [name] : [])),
  });
  const none = fc.constant<(readonly [string, string])[]>([]);
  const more = or(none, fc.array(fc.tuple(anyText, anyText), { maxLength: 3 }));
  const user = or(
    none,
    fc.constantFrom("1", "2", "77", "x").map((id) => [["user_id", id] as const]),
  );
  const [type = "application/json", content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = content === undefined ? fc.constant(undefined) : bodies(content.schema, ground);
  const types = or(fc.constant(type), fc.constantFrom("text/plain", "application/json; charset=latin1", "x"));
  return fc.tuple(places, asked, more, user, body, types).map(([places, asked, more, user, body, type]) => {
    const pairs = [...Object.entries(asked), ...more, ...user];
    const query = pairs.map(([name, value]) => `${escaped(name)}=${escaped(String(value))}`).join("&");
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => escaped(String(places[name] || " ")));
    return {
      operation,
      method,
      target: query === "" ? filled : `${filled}?${query}`,
      headers: body === undefined ? {} : { "content-type": type },
      body,
    };
  });
}

/** Escaped where it must be; what looks like an escape stays, broken ones too. Longer than a line may be is cut. */
const escaped = (text: string): string =>
  encodeURIComponent(text.toWellFormed().slice(0, 2_000)).replaceAll(/%25(00|zz)/g, "%$1");

const bodies = (schema: unknown, ground: Ground): fc.Arbitrary<string> =>
  or(
    anyOfSchema("", schema, ground).map((value) => JSON.stringify(value)),
    fc.oneof(
      fc.json(),
      anyText,
      fc.constantFrom("", "{", "null", "[1]", '{"__proto__":{"polluted":1}}', "[".repeat(5_000)),
      anyOfSchema("", schema, ground).map((value) => JSON.stringify(value).slice(0, -2)),
    ),
  );

/** Values that a schema describes, in which a part is something else now and then. */
function anyOfSchema(name: string, written: unknown, ground: Ground): fc.Arbitrary<unknown> {
  const schema = Schema.parse(written);
  if (name === "address") return fc.constantFrom(...ground.addresses, "", "169.254.169.254", "a b", "x://y");
  if (name === "networks")
    return fc.array(fc.constantFrom(...ground.networks, "nonsense", ""), { minLength: 1, maxLength: 2 });
  if (name === "yes") return fc.constant(false);
  if (name === "cron") return or(fc.constantFrom("0 3 1 1 *", "30 2 29 2 *"), anyText);
  if (schema.$ref !== undefined)
    return anyOfSchema(name, document.components.schemas[schema.$ref.split("/").at(-1) ?? ""], ground);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return fc.oneof(...choices.map((each) => anyOfSchema(name, each, ground)));
  switch (schema.type) {
    case "integer":
      return fc.oneof(fc.constantFrom(...ground.ids), fc.integer({ min: schema.minimum ?? 0, max: 5 }));
    case "number":
      return fc.oneof(fc.constantFrom(0, 1, 60, 1e-9, 86_400), fc.double({ min: schema.minimum ?? 0, noNaN: true }));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(or(anyOfSchema("", schema.items, ground), anyValue), { maxLength: 4 });
    case "object":
      return objectOf(schema, ground);
    default:
      if (schema.format === "date-time")
        return or(fc.constantFrom("2026-01-31T12:00:00Z", "2100-01-01T00:00:00Z"), anyText);
      if (schema.examples !== undefined) return fc.oneof(fc.constantFrom(...schema.examples), usual, anyText);
      return fc.oneof(usual, anyText);
  }
}

/** With a few of its optional fields, or with any number of them. */
function objectOf({ properties = {}, required = [] }: z.infer<typeof Schema>, ground: Ground): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(
    ([name, value]) => [name, guarded(name, anyOfSchema(name, value, ground))] as const,
  );
  const needed = fields.filter(([name]) => required.includes(name));
  const optional = fields.filter(([name]) => !required.includes(name));
  const subset = fc.oneof(fc.subarray(optional, { maxLength: Math.min(2, optional.length) }), fc.subarray(optional));
  return subset.chain((chosen) => fc.record(Object.fromEntries([...needed, ...chosen])));
}

/** Where a value steers what is called, nothing but what the ground allows may stand. */
const guarded = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  ["address", "networks", "yes"].includes(name) ? value : or(value, anyValue);
