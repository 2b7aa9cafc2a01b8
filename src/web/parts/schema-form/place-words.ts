import type { FormWords } from "./context.ts";
import { dotted } from "./schema.ts";

/** The place of a mistake in the words of the form: "Prices by the hour 2 › From". */
export function placeWords(path: string, { label }: Pick<FormWords, "label">): string {
  const words: string[] = [];
  for (const step of dotted(path).split(".")) {
    const last = words.at(-1);
    if (last !== undefined && /^\d+$/.test(step)) words[words.length - 1] = `${last} ${Number(step) + 1}`;
    else words.push(label(step));
  }
  return words.join(" › ");
}
