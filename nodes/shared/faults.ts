import { type ProblemCode, RigbridgeError } from "rigbridge";

/** What stands in for `__name__` in a text. */
export type Words = Readonly<Record<string, string | number>>;

/** A text of the catalogue that all nodes share, in the language of Node-RED. */
export type Say = (key: string, words?: Words) => string;

/** A mistake that the nodes themselves find: said in the language of Node-RED where it leaves a node. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: ProblemCode;
  /** Under `fault` in the catalogue of `rigbridge-service`. */
  readonly key: string;
  /** A word that begins with `=` is the key of a text itself, as the label of a field: `=field.miners`. */
  readonly words: Words;

  constructor(code: ProblemCode, key: string, words: Words = {}, options: { readonly cause?: unknown } = {}) {
    super(`${key} ${JSON.stringify(words)}`, options);
    this.code = code;
    this.key = key;
    this.words = words;
  }
}

/** The mistake of one field, which the text names. */
export const fieldFault = (field: string, key: string, words: Words = {}): Fault =>
  new Fault("input.invalid", key, { field: `=field.${field}`, ...words });

/** As it leaves a node: with a code, in words for people. A fault of the program is one too. */
export function spoken(error: unknown, say: Say): RigbridgeError {
  if (error instanceof RigbridgeError) return error;
  if (!(error instanceof Fault))
    return new RigbridgeError("internal", say("fault.internal", { why: String(error) }), { cause: error });
  const words = Object.entries(error.words).map(([name, word]) => [
    name,
    typeof word === "string" && word.startsWith("=") ? say(word.slice(1)) : word,
  ]);
  const { cause } = error;
  return new RigbridgeError(error.code, say(`fault.${error.key}`, Object.fromEntries(words)), {
    ...(cause === undefined ? {} : { cause }),
  });
}
