import { z } from "zod";
import { isSecret } from "./secrets.ts";

/**
 * A text with its own notation and form field: "2m", "80%", or ["mon-fri"]; a `line` may be long, but never has a
 * second line.
 */
export type FormKind = "duration" | "share" | "line" | "days";

/** What a value names. A form offers those that exist; `poolId` is the id of a pool, or of a pool group beside `pool_type: group`. */
export type Reference =
  | "miner"
  | "group"
  | "tag"
  | "site"
  | "runsAt"
  | "rack"
  | "pool"
  | "poolId"
  | "poolGroup"
  | "channel"
  | "template"
  | "rule"
  | "control"
  | "software"
  | "algorithm";

/** A key that a form offers only beside one of these values of another key. */
export interface OnlyWith {
  readonly key: string;
  readonly values: readonly string[];
}

interface FormKeywords {
  readonly kind?: FormKind;
  readonly names?: Reference;
  readonly onlyWith?: OnlyWith;
}

const keywords = z.registry<FormKeywords>();

const marked = <T extends z.ZodType>(schema: T, own: FormKeywords): T => {
  const copy = schema.clone(undefined, { parent: true });
  keywords.add(copy, own);
  return copy;
};

/** Tells forms which field a schema needs, so that they need not know its pattern. */
export const asked = <T extends z.ZodType>(kind: FormKind, schema: T): T => marked(schema, { kind });

/** Says what the values of a schema name, so that forms let people choose. */
export const naming = <T extends z.ZodType>(names: Reference, schema: T): T => marked(schema, { names });

/** Says beside which values of another key forms offer this one. */
export const onlyWith = <T extends z.ZodType>(key: string, values: readonly string[], schema: T): T =>
  marked(schema, { onlyWith: { key, values } });

/**
 * Adds to a JSON schema what forms need to know beside its types: `x-kind`, `x-names`, `x-only-with`, and
 * `format: password` of a secret.
 */
export function addFormKeywords({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  if (isSecret(zodSchema)) jsonSchema.format = "password";
  const { kind, names, onlyWith: beside } = keywords.get(zodSchema) ?? {};
  if (kind !== undefined) jsonSchema["x-kind"] = kind;
  if (names !== undefined) jsonSchema["x-names"] = names;
  if (beside !== undefined) jsonSchema["x-only-with"] = beside;
}
