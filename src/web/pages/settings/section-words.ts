import type { SettingsSection, TopicList } from "../../../contract/settings.ts";
import { t } from "../../language.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";
import { isObject } from "../../parts/schema-form/schema.ts";

const lookUp = (texts: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

/** Fields that have other names in some sections. */
/** Read when it is needed: the module may be evaluated before the texts are there. */
const ofSections = (): Readonly<Record<string, Readonly<Record<string, string>>>> => t.serviceSettings.sectionFields;

/** Texts and suggestions for the form of a section. */
export function sectionWords(
  section: SettingsSection,
  known: {
    readonly groups: readonly string[];
    readonly miners: readonly string[];
    readonly topics: TopicList["topics"];
  },
): FormWords {
  const own = ofSections()[section] ?? {};
  return {
    exactlyOne: [
      ["group", "miner"],
      ["topic", "url", "api"],
    ],
    // The keys of programs and graphics cards are terms of the trade.
    label: (key) =>
      key === section
        ? t.settings.sectionNames[section]
        : (lookUp(own, key) ?? lookUp(t.serviceSettings.fields, key) ?? key),
    choice: () => t.form.choose,
    option: (_, value) => lookUp(t.serviceSettings.words, value) ?? value,
    member: (name) => lookUp(t.serviceSettings.words, name) ?? lookUp(t.settings.words, name) ?? name,
    suggestions: (key, parent) => {
      if (key === "group" || key === "groups") return known.groups;
      if (key === "miner" || key === "order") return known.miners;
      if (key === "topic") return known.topics.map(({ topic }) => topic);
      if (key === "path") {
        const chosen = isObject(parent) ? known.topics.find(({ topic }) => topic === parent.topic) : undefined;
        return chosen?.numbers.flatMap(({ path }) => path ?? []) ?? [];
      }
      if (key === "currency") return Intl.supportedValuesOf("currency");
      return key === "timeZone" ? Intl.supportedValuesOf("timeZone") : [];
    },
    unit: () => null,
    directory: () => null,
  };
}
