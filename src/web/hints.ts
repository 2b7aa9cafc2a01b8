import type { Language } from "../messages/languages.ts";
import { language } from "./language.ts";

type Hints = Readonly<Record<string, string>>;

/** English hints are the descriptions of the schemas themselves. */
const load: Record<Exclude<Language, "en">, () => Promise<{ readonly default: Hints }>> = {
  de: () => import("virtual:hints/de"),
  sv: () => import("virtual:hints/sv"),
  fr: () => import("virtual:hints/fr"),
  es: () => import("virtual:hints/es"),
  ru: () => import("virtual:hints/ru"),
  zh: () => import("virtual:hints/zh"),
  fa: () => import("virtual:hints/fa"),
};

/** The hints of forms in the page's language, by their English text. */
export let hints: Hints = {};

/** The schemas of a form, once the hints are loaded too. */
export async function withHints<Schemas>(schemas: Promise<Schemas>): Promise<Schemas> {
  if (language !== "en") hints = (await load[language]()).default;
  return schemas;
}
