import { ownWords } from "./details.ts";
import { t } from "./language.ts";

const words = (): Readonly<Record<string, string>> => t.rig.words;

/** A driver's word, such as the name of a mode; an unknown one is shown as the rig reports it. */
export const wordText = (word: string): string =>
  Object.hasOwn(words(), word) ? (words()[word] ?? word) : ownWords(word, { code: `mode.${word}`, values: {} });
