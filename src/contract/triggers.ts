import { invalid } from "./problems.ts";

/** Words for on, in whatever a front end sends. */
export const onWords: readonly string[] = ["true", "on", "1"];

/** What is done once can only be asked for: there is no off. Throws `input.invalid` at `path`. */
export function checkTrigger(key: string, text: string, path: string): void {
  if (!onWords.includes(text.toLowerCase()))
    throw invalid(path, `"${key}" takes true alone: it is done once, and cannot be switched off`);
}
