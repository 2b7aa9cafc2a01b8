import { isRecord } from "../contract/record.ts";

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

const inLists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf"]);
const single: ReadonlySet<string> = new Set(["items", "additionalProperties", "propertyNames", "not"]);

/** A JSON Schema with `change` applied to it and to every schema in it, the innermost first. */
export function mapSchema(schema: Json, change: (schema: Json) => Json): Json {
  const inside = (each: unknown) => (isRecord(each) ? mapSchema(each, change) : each);
  return change(
    mapValues(schema, (value, key) => {
      if (single.has(key)) return inside(value);
      if (inLists.has(key) && Array.isArray(value)) return value.map(inside);
      return key === "properties" && isRecord(value) ? mapValues(value, inside) : value;
    }),
  );
}

/** A document with `change` applied to each schema in it. */
export function mapSchemas(document: Json, change: (schema: Json) => Json): Json {
  return mapValues(document, (value, key) => {
    if (!isRecord(value))
      return Array.isArray(value) ? value.map((each) => (isRecord(each) ? mapSchemas(each, change) : each)) : value;
    if (key === "schema") return mapSchema(value, change);
    return key === "schemas"
      ? mapValues(value, (each) => (isRecord(each) ? mapSchema(each, change) : each))
      : mapSchemas(value, change);
  });
}

export const mapValues = (object: Json, change: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
