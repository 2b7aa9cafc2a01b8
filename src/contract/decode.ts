import { z } from "zod";
import { Id } from "./inputs.ts";
import { didYouMean } from "./nearest.ts";
import type { Operation } from "./operations.ts";
import { invalidAll, type Mistake } from "./problems.ts";
import { isRecord } from "./record.ts";
import { messageOf, worded } from "./wording.ts";

/** The query of a request as text. A name that occurs twice, or cannot be decoded, has no value. */
export interface QueryText {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: ReadonlySet<string>;
  readonly broken: ReadonlySet<string>;
}

/** The input of an operation as a request carries it. */
export interface RawInput {
  readonly params: unknown;
  readonly query: QueryText;
  readonly body: unknown;
}

export interface Decoded {
  /** Path parameters, query and body in one flat object. */
  readonly input: object;
  readonly userId: number | undefined;
}

/**
 * Checks and decodes path, query and body together. Throws `input.invalid` with the mistakes of all three. Documented
 * operations ignore unknown query parameters, since existing clients may send any; extensions refuse them, so that a
 * misspelt parameter does not go unnoticed. `views`: those of the operations that share its path. `fixed`: the part of the
 * query that the path implies, which requests do not repeat.
 */
export function inputOf(
  operation: Operation,
  { views = [], fixed = {} }: { views?: readonly string[]; fixed?: Readonly<Record<string, string>> } = {},
): (parts: RawInput) => Decoded {
  const params = operation.params && z.object(operation.params);
  const { query, body } = operation;
  const ofQuery = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const known = [...ofQuery.filter((name) => !Object.hasOwn(fixed, name)), "key", "user_id"];
  if (views.length > 0) known.push("view");

  return (parts) => {
    const mistakes = [
      ...queryMistakes(parts.query, known),
      ...(operation.extension ? unknownIn(parts.query, known) : []),
      ...(views.length > 0 && parts.query.values.has("view") ? [noView(views)] : []),
    ];
    const decode = (schema: z.ZodType | undefined, value: unknown, root: string): object => {
      const result = schema?.safeParse(value, worded);
      if (result?.success === false) mistakes.push(...mistakesOf(result.error.issues, root, mistakes));
      return isRecord(result?.data) ? result.data : {};
    };
    const input = {
      ...decode(query, query && { ...Object.fromEntries(parts.query.values), ...fixed }, "query"),
      ...decode(body, parts.body, "body"),
      ...decode(params, parts.params, "path"),
    };
    const userId = UserId.safeParse(parts.query.values.get("user_id"), worded);
    if (userId.success === false) mistakes.push(...mistakesOf(userId.error.issues, "user_id", mistakes));
    if (mistakes.length > 0) throw invalidAll(mistakes);
    return { input, userId: userId.data };
  };
}

const noView = (views: readonly string[]): Mistake => ({ path: "view", message: `must be ${views.join(" or ")}` });

const UserId = Id.optional();

/** The `user_id` of a request, before anything else of it is read; undefined if it is absent or invalid. */
export const userIdIn = (query: QueryText): number | undefined => UserId.safeParse(query.values.get("user_id")).data;

const queryMistakes = (query: QueryText, known: readonly string[]): Mistake[] =>
  known.flatMap((path) => [
    ...(query.repeated.has(path) ? [{ path, message: "is given more than once" }] : []),
    ...(query.broken.has(path) ? [{ path, message: "has a broken percent-escape" }] : []),
  ]);

const unknownIn = ({ values, repeated, broken }: QueryText, known: readonly string[]): Mistake[] =>
  [...values.keys(), ...repeated, ...broken]
    .filter((path) => !known.includes(path))
    .map((path) => ({ path, message: `is not known; there are ${known.join(", ")}${didYouMean(path, known)}` }));

/** Mistakes by path, without fields that have one already: a parameter that is given twice is not also missing. */
export const mistakesOf = (issues: readonly z.core.$ZodIssue[], root: string, known: readonly Mistake[]): Mistake[] =>
  issues
    .map((issue) => ({ path: issue.path.join(".") || root, ...saidOf(issue) }))
    .filter(({ path }) => !known.some((mistake) => mistake.path === path));

/** A union without a message of its own names every alternative. */
function saidOf(issue: z.core.$ZodIssue): Omit<Mistake, "path"> {
  if (issue.code !== "invalid_union" || issue.errors.length === 0 || issue.message !== "Invalid input")
    return messageOf(issue);
  const all = new Map(issue.errors.flat().map((each) => [saidOf(each).message, saidOf(each)]));
  const [only, another] = all.values();
  return only !== undefined && another === undefined ? only : { message: [...all.keys()].join(", or ") };
}
