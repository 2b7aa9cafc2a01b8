import { invalid } from "../contract/problems.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A value as text, as controls and actions take it. Throws `input.invalid`. */
export function scalar(value: unknown, path: string): string {
  if (typeof value === "string" && value.length <= 1000) return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalid(path, "must be a text, a number, true or false");
}
