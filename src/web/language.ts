import { isLanguage, type Language } from "../messages/languages.ts";
import type { Messages } from "../messages/messages.ts";
import { callable, type Texts } from "../messages/texts.ts";

/** The build adds English texts where a file lacks them. */
const load: Record<Language, () => Promise<{ readonly default: Texts }>> = {
  en: () => import("../messages/en.json", { with: { type: "json" } }),
  de: () => import("../messages/de.json", { with: { type: "json" } }),
  sv: () => import("../messages/sv.json", { with: { type: "json" } }),
  fr: () => import("../messages/fr.json", { with: { type: "json" } }),
  es: () => import("../messages/es.json", { with: { type: "json" } }),
  ru: () => import("../messages/ru.json", { with: { type: "json" } }),
  zh: () => import("../messages/zh.json", { with: { type: "json" } }),
  fa: () => import("../messages/fa.json", { with: { type: "json" } }),
};

/** Texts in the page's language; set before the first component is rendered. */
export let t: Messages;
export let language: Language = "en";
/** The locale of numbers and times: the browser's own if it belongs to the language. */
export let locale = "en";

const storageKey = "rigbridge.language";
const baseOf = (tag: string): string => tag.toLowerCase().split("-")[0] ?? "";

/** The chosen language, otherwise the first of the browser's that the dashboard has, otherwise English. */
function wanted(): Language {
  const chosen = localStorage.getItem(storageKey) ?? "";
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map(baseOf).find(isLanguage) ?? "en";
}

let loading: Promise<void> | undefined;

/** Resolves once the texts are loaded. */
export function loadLanguage(): Promise<void> {
  loading ??= loadTexts();
  return loading;
}

async function loadTexts(): Promise<void> {
  language = wanted();
  locale = navigator.languages.find((tag) => baseOf(tag) === language) ?? language;
  t = callable((await load[language]()).default) as Messages;
  document.documentElement.lang = language;
  document.documentElement.dir = language === "fa" ? "rtl" : "ltr";
}

/** Reloads the page, because every text changes. */
export function chooseLanguage(code: Language): void {
  localStorage.setItem(storageKey, code);
  location.reload();
}
