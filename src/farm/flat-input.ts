import { z } from "zod";
import { type Decoded, inputOf } from "../contract/decode.ts";
import type { Operation } from "../contract/operations.ts";
import { invalidAll, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { type JsonObject, scalar } from "./values.ts";

/**
 * What an operation takes from one flat object, checked as path, query and body of a request are.
 * Throws `input.invalid` with all mistakes; what the operation does not know is one.
 */
export function flatInput(operation: Operation, given: JsonObject): Decoded {
  const { params = {}, query, body } = operation;
  const names = { params: Object.keys(params), query: fieldsOf(query), body: fieldsOf(body) };
  const known = [...names.params, ...names.query, ...names.body, "user_id"];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const mistakes = unknown.map((path) => ({ path, message: "is not known to this operation" }));
  const texts = (fields: readonly string[]): [string, string][] =>
    fields.flatMap((name) => {
      if (given[name] === undefined) return [];
      try {
        return [[name, scalar(given[name], name)]];
      } catch (error) {
        mistakes.push(...mistakesIn(error));
        return [];
      }
    });
  const inBody = Object.entries(given).filter(([name]) => names.body.includes(name) && !names.params.includes(name));
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
    // What has a mistake already is not missing too.
    mistakes.push(...mistakesIn(error).filter(({ path }) => !mistakes.some((each) => each.path === path)));
  }
  throw invalidAll(mistakes);
}

/** Of bad input; anything else is thrown on. */
function mistakesIn(error: unknown): readonly Mistake[] {
  if (error instanceof RigbridgeError && error.code === "input.invalid") return error.errors;
  throw error;
}

const fieldsOf = (schema: z.ZodType | undefined): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
