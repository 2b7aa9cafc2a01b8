import type { Messages } from "./messages/en/index.ts";

/** The languages of the dashboard, each by its own name. */
export const languages = { en: "English", de: "Deutsch", sv: "Svenska", fa: "فارسی" } as const;
export type Language = keyof typeof languages;

const load: Record<Language, () => Promise<{ readonly messages: Messages }>> = {
  en: () => import("./messages/en/index.ts"),
  de: () => import("./messages/de/index.ts"),
  sv: () => import("./messages/sv/index.ts"),
  fa: () => import("./messages/fa/index.ts"),
};

/** Texts in the language of the page; set before the first component is rendered. */
export let t: Messages;
export let language: Language = "en";
/** The locale of numbers and times: the browser's own one where it belongs to the language. */
export let locale = "en";

const storageKey = "rigbridge.language";
const isLanguage = (code: string): code is Language => Object.hasOwn(languages, code);
const baseOf = (tag: string): string => tag.toLowerCase().split("-")[0] ?? "";

/** The chosen language, else the first of the browser's that the dashboard has, else English. */
function wanted(): Language {
  const chosen = localStorage.getItem(storageKey) ?? "";
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map(baseOf).find(isLanguage) ?? "en";
}

let loading: Promise<void> | undefined;

/** Resolves when the texts are there. */
export function loadLanguage(): Promise<void> {
  loading ??= loadTexts();
  return loading;
}

async function loadTexts(): Promise<void> {
  language = wanted();
  locale = navigator.languages.find((tag) => baseOf(tag) === language) ?? language;
  t = (await load[language]()).messages;
  document.documentElement.lang = language;
  document.documentElement.dir = language === "fa" ? "rtl" : "ltr";
}

/** Reloads the page, since every text changes. */
export function chooseLanguage(code: Language): void {
  localStorage.setItem(storageKey, code);
  location.reload();
}
