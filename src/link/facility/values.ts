import type { Measured } from "./facility-link.ts";

/** The number in a JSON value, which may be a text; `null` is a value that the device does not have now. */
export function numberOrProblem(value: unknown, where: string): Measured {
  const number =
    typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? { value: number } : { problem: `has no number at ${where}` };
}
