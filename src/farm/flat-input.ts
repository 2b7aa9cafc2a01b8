import { z } from "zod";
import { type Decoded, inputOf } from "../contract/decode.ts";
import type { Operation } from "../contract/operations.ts";
import { invalidAll, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { type JsonObject, scalar } from "./values.ts";

/**
 * Reads the input of an operation from one flat object, checked like the path, query and body of a request.
 * Throws `input.invalid` with all mistakes, unknown keys included.
 */
export function flatInput(operation: Operation, input: JsonObject): Decoded {
  const { params = {}, query, body } = operation;
  const names = { params: Object.keys(params), query: fieldsOf(query), body: fieldsOf(body) };
  const keys = [...names.params, ...names.query, ...names.body, "user_id"];
  const unknown = Object.keys(input).filter((name) => !keys.includes(name));
  const mistakes = unknown.map((path) => ({ path, message: "is not known to this operation" }));
  const texts = (fields: readonly string[]): [string, string][] =>
    fields.flatMap((name) => {
      if (input[name] === undefined) return [];
      try {
        return [[name, scalar(input[name], name)]];
      } catch (error) {
        mistakes.push(...mistakesIn(error));
        return [];
      }
    });
  const inBody = Object.entries(input).filter(([name]) => names.body.includes(name) && !names.params.includes(name));
  const parts = {
    params: Object.fromEntries(texts(names.params)),
    query: {
      values: new Map(texts([...names.query, "user_id"])),
      repeated: new Set<string>(),
      broken: new Set<string>(),
    },
    body: Object.fromEntries(inBody),
  };
  try {
    const decoded = inputOf(operation)(parts);
    if (mistakes.length === 0) return decoded;
  } catch (error) {
    // A field with a mistake is not also reported as missing.
    mistakes.push(...mistakesIn(error).filter(({ path }) => !mistakes.some((each) => each.path === path)));
  }
  throw invalidAll(mistakes);
}

/** The mistakes of invalid input; other errors are rethrown. */
function mistakesIn(error: unknown): readonly Mistake[] {
  if (error instanceof RigbridgeError && error.code === "input.invalid") return error.errors;
  throw error;
}

const fieldsOf = (schema: z.ZodType | undefined): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
