import { invalid } from "./problems.ts";

/** The words for on that front ends send. */
export const onWords: readonly string[] = ["true", "on", "1"];

/** A trigger can only be set to on. Throws `input.invalid` at `path`. */
export function checkTrigger(key: string, text: string, path: string): void {
  if (!onWords.includes(text.toLowerCase()))
    throw invalid(path, `"${key}" accepts only true: it is a one-time action and cannot be switched off`);
}
