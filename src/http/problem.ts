import type { CodedText } from "../contract/coded-text.ts";
import { type Mistake, problems, type RigbridgeError } from "../contract/problems.ts";
import { codeOf } from "../messages/detail.ts";

export const problemType = "application/problem+json; charset=utf-8";

/** RFC 9457, with a stable code and, for invalid input, every mistake. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  /** The detail by code, for clients that show it in another language. */
  readonly coded?: CodedText;
  readonly errors?: readonly Mistake[];
}

/** Schemas contain messages as text; those without values still have a code. */
function withCode(mistake: Mistake): Mistake {
  const coded = mistake.coded ?? codeOf(mistake.message);
  return coded === undefined ? mistake : { ...mistake, coded };
}

export const problemDocument = (error: RigbridgeError): ProblemDocument => ({
  type: `urn:rigbridge:problem:${error.code}`,
  title: problems[error.code].title,
  status: error.status,
  detail: error.message,
  code: error.code,
  ...(error.coded === null ? {} : { coded: error.coded }),
  ...(error.errors.length > 0 ? { errors: error.errors.map(withCode) } : {}),
});
