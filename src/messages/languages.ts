/** The languages of the dashboard and of notifications, each by its own name. */
export const languages = {
  en: "English",
  de: "Deutsch",
  sv: "Svenska",
  fr: "Français",
  es: "Español",
  ru: "Русский",
  zh: "简体中文",
  fa: "فارسی",
} as const;
export type Language = keyof typeof languages;
export const isLanguage = (code: string): code is Language => Object.hasOwn(languages, code);
