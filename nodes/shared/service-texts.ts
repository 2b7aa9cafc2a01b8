import { existsSync, readFileSync } from "node:fs";
import { type CodedText, detailFrom, type RigbridgeError } from "rigbridge";

/** By code. */
type Texts = Readonly<Record<string, string>>;

const read = new Map<string, Texts>();

/** The service's texts in an editor's language, such as "de" or "zh-CN"; empty for a language without a file. */
function textsIn(language: unknown): Texts {
  const [, base = ""] = typeof language === "string" ? (/^([a-z]{2})(-|$)/.exec(language) ?? []) : [];
  const known = read.get(base);
  if (known !== undefined) return known;
  const file = new URL(`../service/texts/${base}.json`, import.meta.url);
  const texts: Texts = base !== "" && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  read.set(base, texts);
  return texts;
}

/** The message of an error in the editor's language if the service sent its code; otherwise in English. */
export function messageFor({ message, coded, errors }: RigbridgeError, language: unknown): string {
  const texts = textsIn(language);
  const text = (each: string, code: CodedText | null | undefined): string => (code && detailFrom(texts, code)) ?? each;
  if (errors.every((each) => each.coded === undefined)) return text(message, coded);
  return errors.map(({ path, ...each }) => `${path}: ${text(each.message, each.coded)}`).join("; ");
}

/** A rig's word, such as the name of a mode, in the editor's language; undefined for an unknown one. */
export const wordFor = (word: string, language: unknown): string | undefined =>
  detailFrom(textsIn(language), { code: `mode.${word}`, values: {} });
