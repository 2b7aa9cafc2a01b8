import { t } from "../../language.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";

const lookUp = (texts: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

/** Texts and suggestions for the form of a channel. */
export function channelWords(groups: readonly string[]): FormWords {
  return {
    exactlyOne: [],
    label: (key) => lookUp(t.settings.fields, key) ?? key,
    choice: () => t.form.choose,
    option: (_, value) => lookUp(t.severity, value) ?? lookUp(t.settings.words, value) ?? value,
    member: (name) => lookUp(t.settings.words, name) ?? name,
    suggestions: (key) => {
      if (key === "groups" || key === "sharedWith") return groups;
      return key === "timeZone" ? Intl.supportedValuesOf("timeZone") : [];
    },
    unit: () => null,
    directory: () => null,
  };
}
