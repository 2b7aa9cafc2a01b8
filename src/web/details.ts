import { signal } from "@preact/signals";
import { type CodedText, detailFrom } from "../messages/coded-text.ts";
import type { Language } from "../messages/languages.ts";
import { language } from "./language.ts";

/** By code. */
type Details = Readonly<Record<string, string>>;

/** English needs none: the service's own texts are shown. */
const load: Record<Exclude<Language, "en">, () => Promise<{ readonly default: Details }>> = {
  de: () => import("virtual:details/de"),
  sv: () => import("virtual:details/sv"),
  fr: () => import("virtual:details/fr"),
  es: () => import("virtual:details/es"),
  ru: () => import("virtual:details/ru"),
  zh: () => import("virtual:details/zh"),
  fa: () => import("virtual:details/fa"),
};

/** Null until loaded, by the first text in another language than English. */
const details = signal<Details | null>(null);
let loading: Promise<void> | undefined;

/** Resolves when the details are loaded, or cannot be. */
export function loadDetails(): Promise<void> {
  if (language === "en") return Promise.resolve();
  loading ??= load[language]().then(
    (file) => {
      details.value = file.default;
    },
    () => {
      loading = undefined;
    },
  );
  return loading;
}

/**
 * A detail of the service in the page's language. Undefined in English, for a detail of a newer service, and until
 * the texts are loaded, when the component renders again.
 */
export function detailText(coded: CodedText): string | undefined {
  if (language === "en") return undefined;
  if (details.value === null) void loadDetails();
  return details.value === null ? undefined : detailFrom(details.value, isRightToLeft() ? isolated(coded) : coded);
}

const isRightToLeft = (): boolean => document.documentElement.dir === "rtl";

/** Addresses and names within right-to-left words keep their own order (first strong isolate, Unicode UAX 9). */
const isolated = ({ code, values }: CodedText): CodedText => ({
  code,
  values: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "object" ? isolated(value) : typeof value === "string" ? `\u2068${value}\u2069` : value,
    ]),
  ),
});

/** The same, or else the English text; `coded` is missing where a text has no code, and in what older services send. */
export const ownWords = (english: string, coded: CodedText | null | undefined): string =>
  (coded && detailText(coded)) ?? english;
