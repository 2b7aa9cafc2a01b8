import { z } from "zod";
import { isRecord } from "../contract/record.ts";
import type { Path } from "./document.ts";
import { Config } from "./schema.ts";

/** JSON Schema of the configuration file, in draft 7, which editors support. */
export function configSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(Config, {
    io: "input",
    target: "draft-7",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      if (zodSchema._zod.def.type === "undefined") jsonSchema.not = {};
      if (jsonSchema.type === "string" && (jsonSchema.minLength ?? 0) > 1) orVariable(jsonSchema);
    },
  });
  return { ...schema, title: "Rigbridge configuration", patternProperties: { "^x-": {} } };
}

/** A text with a variable, such as ${KEY}, may be shorter than the value of the variable. */
function orVariable(schema: z.core.JSONSchema.BaseSchema): void {
  const { minLength, maxLength, pattern } = schema;
  delete schema.minLength;
  delete schema.maxLength;
  delete schema.pattern;
  const rule = Object.fromEntries(Object.entries({ minLength, maxLength, pattern }).filter(([, v]) => v !== undefined));
  schema.anyOf = [rule, { pattern: "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$" }];
}

let schemaOfAll: Record<string, unknown> | undefined;

/** The keys that the mapping at a path may have. */
export function knownKeys(path: Path): string[] {
  schemaOfAll ??= configSchema();
  const root = schemaOfAll;
  let schema: unknown = root;
  for (const step of path) {
    const inside = follow(root, schema);
    schema = typeof step === "number" ? inside.items : isRecord(inside.properties) && inside.properties[String(step)];
  }
  const { properties } = follow(root, schema);
  return isRecord(properties) ? Object.keys(properties) : [];
}

/** The schema itself, or the one that its `$ref` (`#/definitions/name`) names; alternatives are merged. */
function follow(root: unknown, schema: unknown): Record<string, unknown> {
  if (!isRecord(schema)) return {};
  const { $ref, anyOf, oneOf } = schema;
  const options: unknown = anyOf ?? oneOf;
  if (Array.isArray(options)) return together(options.map((each: unknown) => follow(root, each)));
  if (typeof $ref !== "string") return schema;
  let target = root;
  for (const step of $ref.split("/").slice(1)) target = isRecord(target) ? target[step] : undefined;
  return isRecord(target) ? target : {};
}

/** One schema with the properties of all. */
const together = (schemas: readonly Record<string, unknown>[]): Record<string, unknown> => ({
  ...Object.assign({}, ...schemas),
  properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
});

/** The meaning of a key; null if it is not described. The path leaves out list indexes. */
export function descriptionAt(path: readonly string[]): string | null {
  schemaOfAll ??= configSchema();
  const root = schemaOfAll;
  let [schema, description]: [unknown, unknown] = [root, null];
  for (const step of path) {
    const at = follow(root, schema);
    const inside = isRecord(at.items) ? together([at, follow(root, at.items)]) : at;
    schema = isRecord(inside.properties) ? inside.properties[step] : undefined;
    description = isRecord(schema) ? (schema.description ?? null) : null;
  }
  return typeof description === "string" ? description : null;
}
