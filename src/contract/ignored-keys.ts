import { z } from "zod";
import { isRecord } from "./record.ts";

/** The paths of the keys in a valid input that its schema does not know and drops, like `steps` or `do[2].waits`. */
export function ignoredKeys(schema: z.core.$ZodType, value: unknown, path = ""): string[] {
  // Most of an input is leaves: a bulk action may name 100,000 ids.
  if (typeof value !== "object" || value === null) return [];
  const inner = innerOf(schema, value);
  if (inner !== undefined) return ignoredKeys(inner, value, path);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.flatMap((each, index) => ignoredKeys(schema.def.element, each, `${path}[${index}]`));
  if (!isRecord(value)) return [];
  const at = (key: string) => (path === "" ? key : `${path}.${key}`);
  if (schema instanceof z.ZodRecord)
    return Object.entries(value).flatMap(([key, each]) => ignoredKeys(schema.def.valueType, each, at(key)));
  if (!(schema instanceof z.ZodObject)) return [];
  const { shape, catchall } = schema.def;
  return Object.entries(value).flatMap(([key, each]) => {
    const known = Object.hasOwn(shape, key) ? shape[key] : catchall;
    return known === undefined ? [at(key)] : ignoredKeys(known, each, at(key));
  });
}

/** The schema inside a wrapper, or the option of a union that accepts the value. */
function innerOf(schema: z.core.$ZodType, value: unknown): z.core.$ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    return schema.def.innerType;
  if (schema instanceof z.ZodPipe) return schema.def.in;
  if (schema instanceof z.ZodLazy) return schema.def.getter();
  if (!(schema instanceof z.ZodUnion)) return undefined;
  return schema.def.options.find((option) => z.safeParse(option, value).success);
}

/** The header of an answer to a request whose body had such keys. */
export const ignoredKeysName = "X-Ignored-Keys";

/** Maximum paths in a header; further ones become "...". */
const mostPaths = 20;
/** Characters of one path. */
const longestPath = 80;

/** Paths as the value of a header: separated by commas, in printable ASCII, everything else percent-encoded. */
export function ignoredKeysHeader(paths: readonly string[]): string {
  const shown = paths.slice(0, mostPaths).map((path) =>
    path
      .slice(0, longestPath)
      .toWellFormed()
      .replaceAll(/[^\w.[\]-]/gu, encodeURIComponent),
  );
  return [...shown, ...(paths.length > mostPaths ? ["..."] : [])].join(", ");
}
