import { readFileSync } from "node:fs";
import { textIn } from "./coded.ts";
import type { CodedText } from "./coded-text.ts";
import { englishOf } from "./detail.ts";
import english from "./en.json" with { type: "json" };
import type { Language } from "./languages.ts";
import type { Messages } from "./messages.ts";
import { callable, completed, type Texts } from "./texts.ts";

/** What notifications say, in a language. */
export type ServiceTexts = Pick<Messages["service"], "over" | "notices" | "channel">;

/** A text in a language; one without a code is as a user wrote it. */
export const textOf = (text: string | CodedText, language: Language): string =>
  typeof text === "string" ? text : (textIn(serviceTexts(language), text, englishOf) ?? englishOf(text) ?? text.code);

const read = new Map<Language, ServiceTexts>();

/** The texts of a language, with the English ones that it lacks; read once from its file. */
export function serviceTexts(language: Language): ServiceTexts {
  const known = read.get(language);
  if (known !== undefined) return known;
  const { service } = JSON.parse(readFileSync(new URL(`./${language}.json`, import.meta.url), "utf8")) as {
    service?: Texts;
  };
  const texts = callable(completed(service, english.service)) as ServiceTexts;
  read.set(language, texts);
  return texts;
}
