import { z } from "zod";
import { type Decoded, inputOf } from "../contract/decode.ts";
import type { Operation } from "../contract/operations.ts";
import { invalidAll } from "../contract/problems.ts";
import { type JsonObject, scalar } from "./values.ts";

/**
 * What an operation takes from one flat object, checked as path, query and body of a request are.
 * Throws `input.invalid` with all mistakes, and names what the operation does not know.
 */
export function flatInput(operation: Operation, given: JsonObject): Decoded {
  const { params = {}, query, body } = operation;
  const names = { params: Object.keys(params), query: fieldsOf(query), body: fieldsOf(body) };
  const known = [...names.params, ...names.query, ...names.body, "user_id"];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw invalidAll(unknown.slice(0, 20).map((path) => ({ path, message: "is not known to this operation" })));
  const texts = (fields: readonly string[]): [string, string][] =>
    fields.flatMap((name) => (given[name] === undefined ? [] : [[name, scalar(given[name], name)]]));
  const inBody = Object.entries(given).filter(([name]) => names.body.includes(name) && !names.params.includes(name));
  return inputOf(operation)({
    params: Object.fromEntries(texts(names.params)),
    query: { values: new Map(texts([...names.query, "user_id"])), repeated: new Set(), broken: new Set() },
    body: Object.fromEntries(inBody),
  });
}

const fieldsOf = (schema: z.ZodType | undefined): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
