import { z } from "zod";
import type { Operation } from "../contract/operations.ts";
import { type Mistake, notFound, RigbridgeError } from "../contract/problems.ts";
import { wording } from "../contract/wording.ts";

/** The parts of a request. */
export interface RequestParts {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: object | undefined;
}

/**
 * Splits an operation's flat input into path, query and body, according to its entry in the table.
 * Throws `input.invalid` for invalid input before anything is sent.
 */
export function requestOf({ path, params, query, body }: Operation, input: object): RequestParts {
  const values = new Map<string, unknown>(Object.entries(input));
  const mistakes: Mistake[] = [];
  const texts = (fields: Readonly<Record<string, z.core.$ZodType>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, schema]) => {
        const text = textOf(schema, values.get(name), name, mistakes);
        return text === undefined ? [] : [[name, text]];
      }),
    );
  const names = texts(params ?? {});
  const request = {
    path: path.replace(/:(\w+)/g, (_, name: string) => segment(name, names[name] ?? "")),
    query: texts(fieldsOf(query)),
    body: body && Object.fromEntries(Object.keys(fieldsOf(body)).map((name) => [name, values.get(name)])),
  };
  if (mistakes.length === 0) return request;
  const detail = mistakes.map((mistake) => `${mistake.path}: ${mistake.message}`).join("; ");
  throw new RigbridgeError("input.invalid", detail, { errors: mistakes });
}

const fieldsOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> =>
  schema instanceof z.ZodObject ? schema.shape : {};

/** The value as its codec encodes it; values with a transform instead (times, ids or uids) become plain text. */
function textOf(schema: z.core.$ZodType, value: unknown, path: string, mistakes: Mistake[]): string | undefined {
  if (value === undefined) return undefined;
  try {
    const encoded = z.safeEncode(schema, value, { error: wording });
    if (encoded.success) return String(encoded.data);
    mistakes.push(...encoded.error.issues.map(({ message }) => ({ path, message })));
    return undefined;
  } catch (error) {
    if (error instanceof z.core.$ZodEncodeError) return String(value);
    throw error;
  }
}

/** A path segment cannot be `.` or `..`, which URLs remove. */
function segment(name: string, text: string): string {
  if (/^\.{0,2}$/.test(text)) throw notFound(name, `"${text}"`);
  return encodeURIComponent(text);
}
