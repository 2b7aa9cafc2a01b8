import { invalidAll, type Mistake } from "../contract/problems.ts";

/**
 * What is wrong with a call, in words of these tools: a client may follow them. Whatever somebody else chose is marked in
 * them. All other errors count as text from rigs.
 */
export class Advice extends Error {
  override readonly name = "Advice";
  readonly mistakes: readonly Mistake[];

  /** `unnamed` mistakes are only counted. */
  constructor(mistakes: readonly Mistake[], unnamed = 0) {
    const { message, errors } = invalidAll(mistakes, unnamed);
    super(message);
    this.mistakes = errors;
  }
}

/** A single mistake; its path is an argument. */
export const advice = (path: string, message: string): Advice => new Advice([{ path, message }]);
