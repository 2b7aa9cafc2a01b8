import { z } from "zod";

const secrets = z.registry<{ readonly isSecret: true }>();

/**
 * Marks a field of an input, a reply or the configuration that holds a password, token or key. No other list of such
 * fields exists. The mark is on a copy, since other fields may share the schema.
 */
export const secret = <T extends z.ZodType>(schema: T): T => {
  const own = schema.clone(undefined, { parent: true });
  secrets.add(own, { isSecret: true });
  return own;
};

export const isSecret = (schema: z.core.$ZodType): boolean => secrets.get(schema)?.isSecret === true;

/** A reply with "" in place of every secret of its schema; a reply without secrets is returned unchanged. */
export function withoutSecrets(schema: z.core.$ZodType, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (isSecret(schema)) return "";
  if (!holdsSecrets(schema)) return value;
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((each) => withoutSecrets(schema.element, each));
  if (typeof value === "object" && (schema instanceof z.ZodObject || schema instanceof z.ZodRecord))
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const field = fieldOf(schema, name);
        return [name, field === undefined ? each : withoutSecrets(field, each)];
      }),
    );
  // Each part of a union removes its own secrets.
  return partsOf(schema).reduce((rest: unknown, part) => withoutSecrets(part, rest), value);
}

function fieldOf(schema: z.ZodObject | z.ZodRecord, name: string): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
}

const known = new WeakMap<z.core.$ZodType, boolean>();

/** Whether a schema is a secret or contains one at any depth. */
export function holdsSecrets(schema: z.core.$ZodType): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const seen = new Set<z.core.$ZodType>([schema]);
  // The set grows during iteration; a recursive schema is in it once.
  for (const each of seen) for (const part of partsOf(each)) seen.add(part);
  const holds = [...seen].some(isSecret);
  known.set(schema, holds);
  return holds;
}

/** The schemas that a schema consists of. */
function partsOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return Object.values(schema.shape);
  if (schema instanceof z.ZodArray) return [schema.element];
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out];
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return [schema.def.innerType];
  return [];
}
