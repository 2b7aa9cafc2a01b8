import { z } from "zod";
import { isRecord } from "./record.ts";

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

/**
 * A value with "", or what `mark` makes of it, in place of every secret of its schema; a value without secrets is returned
 * unchanged.
 */
export function withoutSecrets(
  schema: z.core.$ZodType,
  value: unknown,
  mark: (secret: unknown) => unknown = () => "",
): unknown {
  if (value === undefined || value === null) return value;
  if (isSecret(schema)) return mark(value);
  if (!holdsSecrets(schema)) return value;
  if (schema instanceof z.ZodArray)
    return Array.isArray(value) ? value.map((each) => withoutSecrets(schema.element, each, mark)) : value;
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) {
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const field = fieldOf(schema, name);
        return [name, field === undefined ? each : withoutSecrets(field, each, mark)];
      }),
    );
  }
  // Each part of a union removes its own secrets.
  return partsOf(schema).reduce((rest: unknown, part) => withoutSecrets(part, rest, mark), value);
}

/** Stands for a secret that is set. */
const secretIsSet = { set: true } as const;

/** Marks a set secret; a marked one, and an empty text, stay as they are. */
export const markSecret = (value: unknown): unknown => (value === "" || isMarked(value) ? value : secretIsSet);

export const isMarked = (value: unknown): boolean => isRecord(value) && value.set === true;

/** The fields that a secret belongs to: it does not move to another place. */
const placeKeys = ["type", "url", "address", "tokenUrl"] as const;

/**
 * A new value with the earlier secrets where it has none, or a mark, if they are for the same type and address; null
 * removes a secret. List entries match by name, key or type, otherwise by place.
 */
export function withSecretsOf(schema: z.core.$ZodType, value: unknown, before: unknown): unknown {
  if (isSecret(schema)) {
    if (value === undefined || isMarked(value)) return before;
    return value === null ? undefined : value;
  }
  if (!holdsSecrets(schema)) return value;
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return value;
    // A single value may have become a list.
    const earlier: unknown[] = Array.isArray(before) ? before : [before];
    return value.map((each, index) => withSecretsOf(schema.element, each, sameEntry(each, index, earlier)));
  }
  if (schema instanceof z.ZodRecord || schema instanceof z.ZodObject) {
    if (!isRecord(value)) return value;
    const earlier = isRecord(before) && placeKeys.every((key) => before[key] === value[key]) ? before : {};
    const names = new Set([...Object.keys(value), ...(schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])]);
    return Object.fromEntries(
      [...names].flatMap((name) => {
        const field = fieldOf(schema, name);
        const kept = field === undefined ? value[name] : withSecretsOf(field, value[name], earlier[name]);
        return kept === undefined ? [] : [[name, kept]];
      }),
    );
  }
  // A value fits one part of a union; the others leave it as it is.
  return partsOf(schema).reduce((rest: unknown, part) => withSecretsOf(part, rest, before), value);
}

/** The fields that identify the entries of a list. */
const marksOfEntries = ["name", "key", "type", "model"] as const;

function sameEntry(entry: unknown, index: number, earlier: readonly unknown[]): unknown {
  if (!isRecord(entry)) return earlier[index];
  const mark = marksOfEntries.find((each) => typeof entry[each] === "string");
  if (mark === undefined) return earlier[index];
  const isSame = (each: unknown): boolean => isRecord(each) && each[mark] === entry[mark];
  return isSame(earlier[index]) ? earlier[index] : earlier.find(isSame);
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
