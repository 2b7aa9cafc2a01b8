import { isLanguage, type Language } from "../messages/languages.ts";
import type { Messages } from "../messages/messages.ts";
import { callable, joined, type Texts } from "../messages/texts.ts";

type LoadTexts = () => Promise<{ readonly default: Texts }>;

/** The build completes each file with the English texts that it lacks, and leaves the texts of the first page in it. */
const firstTexts: Record<Language, LoadTexts> = {
  en: () => import("../messages/en.json", { with: { type: "json" } }),
  de: () => import("../messages/de.json", { with: { type: "json" } }),
  sv: () => import("../messages/sv.json", { with: { type: "json" } }),
  fr: () => import("../messages/fr.json", { with: { type: "json" } }),
  es: () => import("../messages/es.json", { with: { type: "json" } }),
  ru: () => import("../messages/ru.json", { with: { type: "json" } }),
  zh: () => import("../messages/zh.json", { with: { type: "json" } }),
  fa: () => import("../messages/fa.json", { with: { type: "json" } }),
};

/** The texts of all other pages. */
const otherTexts: Record<Language, LoadTexts> = {
  en: () => import("virtual:texts/en"),
  de: () => import("virtual:texts/de"),
  sv: () => import("virtual:texts/sv"),
  fr: () => import("virtual:texts/fr"),
  es: () => import("virtual:texts/es"),
  ru: () => import("virtual:texts/ru"),
  zh: () => import("virtual:texts/zh"),
  fa: () => import("virtual:texts/fa"),
};

/**
 * Texts in the language of the page. Those of the first page are set before the first component is rendered, the others
 * before a component of another page is.
 */
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
let loadingOthers: Promise<void> | undefined;
let first: Texts;

/** Resolves when the texts of the first page are there. */
export function loadLanguage(): Promise<void> {
  loading ??= loadFirst();
  return loading;
}

/** Resolves when the texts of all pages are there; rejects if they cannot be loaded. */
export function loadAllTexts(): Promise<void> {
  const started = loadLanguage();
  loadingOthers ??= loadOthers(started);
  return loadingOthers;
}

async function loadFirst(): Promise<void> {
  language = wanted();
  locale = navigator.languages.find((tag) => baseOf(tag) === language) ?? language;
  first = (await firstTexts[language]()).default;
  t = callable(first) as Messages;
  document.documentElement.lang = language;
  document.documentElement.dir = language === "fa" ? "rtl" : "ltr";
}

async function loadOthers(started: Promise<void>): Promise<void> {
  const [others] = await Promise.all([otherTexts[language](), started]);
  t = callable(joined(first, others.default)) as Messages;
}

/** Reloads the page, because every text changes. */
export function chooseLanguage(code: Language): void {
  localStorage.setItem(storageKey, code);
  location.reload();
}
