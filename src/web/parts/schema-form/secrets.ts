import { isObject, type Json, optionOf, type Schema, shapeOf } from "./schema.ts";

/** A value whose secrets are empty texts. */
export type Masked = Json;

/** A copy without secrets, for a view that bystanders could read. */
export const masked = (value: Json, schema: Schema): Masked => withSecrets(value, undefined, schema, schema, () => "");

/** A masked value with the secrets of `before` in the fields that are still empty. */
export const unmasked = (value: Masked, before: Json, schema: Schema): Json =>
  withSecrets(value, before, schema, schema, (now, then) => (now === "" && typeof then === "string" ? then : now));

type Replace = (value: Json, before: Json) => Json;

function withSecrets(value: Json, before: Json, schema: Schema, root: Schema, replace: Replace): Json {
  const shape = shapeOf(schema, root);
  const inner = (each: Json, then: Json, of: Schema) => withSecrets(each, then, of, root, replace);
  if (shape.kind === "text") return shape.secret ? replace(value, before) : value;
  if (shape.kind === "list" && Array.isArray(value))
    return value.map((each: Json, index) =>
      inner(each, Array.isArray(before) ? before[index] : undefined, shape.items),
    );
  if (shape.kind === "union") {
    const option = optionOf(value, shape.options, root);
    return option === undefined ? value : inner(value, before, option);
  }
  if (!isObject(value)) return value;
  const then = isObject(before) ? before : {};
  const schemaOf = (key: string): Schema =>
    shape.kind === "object" ? (shape.properties[key] ?? {}) : shape.kind === "record" ? shape.values : {};
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(each, then[key], schemaOf(key))]));
}
