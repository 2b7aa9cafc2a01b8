import { z } from "zod";
import { Id } from "./inputs.ts";
import { didYouMean } from "./nearest.ts";
import type { Operation } from "./operations.ts";
import { invalidAll, type Mistake } from "./problems.ts";
import { isRecord } from "./record.ts";
import { wording } from "./wording.ts";

/** The query of a request as text. A name that was given twice, or cannot be decoded, has no value. */
export interface QueryText {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: ReadonlySet<string>;
  readonly broken: ReadonlySet<string>;
}

/** The three places where a request carries what an operation takes. */
export interface RawInput {
  readonly params: unknown;
  readonly query: QueryText;
  readonly body: unknown;
}

export interface Decoded {
  /** Flat: path, query and body together. */
  readonly input: object;
  readonly userId: number | undefined;
}

/**
 * Checks and decodes path, query and body in one go. Throws `input.invalid` with every mistake of all three.
 * Query parameters that a documented operation does not know are ignored, since its clients may send any; of ours they
 * are mistakes, so that a misspelt one is not taken for none.
 */
export function inputOf(operation: Operation): (parts: RawInput) => Decoded {
  const params = operation.params && z.object(operation.params);
  const { query, body } = operation;
  const known = [...(query instanceof z.ZodObject ? Object.keys(query.shape) : []), "key", "user_id"];

  return (parts) => {
    const mistakes = [
      ...queryMistakes(parts.query, known),
      ...(operation.extension ? unknownIn(parts.query, known) : []),
    ];
    const decode = (schema: z.ZodType | undefined, value: unknown, root: string): object => {
      const result = schema?.safeParse(value, { error: wording });
      if (result?.success === false) mistakes.push(...mistakesOf(result.error.issues, root, mistakes));
      return isRecord(result?.data) ? result.data : {};
    };
    const input = {
      ...decode(query, query && Object.fromEntries(parts.query.values), "query"),
      ...decode(body, parts.body, "body"),
      ...decode(params, parts.params, "path"),
    };
    const userId = UserId.safeParse(parts.query.values.get("user_id"), { error: wording });
    if (userId.success === false) mistakes.push(...mistakesOf(userId.error.issues, "user_id", mistakes));
    if (mistakes.length > 0) throw invalidAll(mistakes);
    return { input, userId: userId.data };
  };
}

const UserId = Id.optional();

/** Whose eyes a request looks through, before anything else of it is read; undefined also where `user_id` is none. */
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

/** Mistakes by path, without those of a field that has one already: what is given twice is not missing too. */
const mistakesOf = (issues: readonly z.core.$ZodIssue[], root: string, known: readonly Mistake[]): Mistake[] =>
  issues
    .map((issue) => ({ path: issue.path.join(".") || root, message: sentence(issue) }))
    .filter(({ path }) => !known.some((mistake) => mistake.path === path));

/** Of a union every alternative is named, unless it has a sentence of its own. */
const sentence = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_union" && issue.errors.length > 0 && issue.message === "Invalid input"
    ? [...new Set(issue.errors.flatMap((issues) => issues.map(sentence)))].join(", or ")
    : issue.message;
