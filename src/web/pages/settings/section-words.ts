import type { SettingsSection, TopicList } from "../../../contract/settings.ts";
import { Problem } from "../../api.ts";
import { t } from "../../language.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";
import { placeWords } from "../../parts/schema-form/place-words.ts";
import { isObject } from "../../parts/schema-form/schema.ts";

const lookUp = (texts: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

/** Fields that have other names in some sections. Read when it is needed: the module may be evaluated before the texts are there. */
const ofSections = (): Readonly<Record<string, Readonly<Record<string, string>>>> => t.serviceSettings.sectionFields;

/**
 * Mistakes as the form of a section shows them: the service names places in the whole configuration by their keys, the
 * form begins inside the section and has words.
 */
export const atFields =
  (section: SettingsSection) =>
  (error: unknown): never => {
    if (!(error instanceof Problem)) throw error;
    const words = sectionLabels(section);
    // Such as `heating[0].name`.
    const sections = Object.keys(t.settings.sectionNames).join("|");
    const paths = new RegExp(String.raw`\b(?:${sections})(?:\[\d+\]|\.[a-zA-Z]+)+`, "g");
    const inWords = (text: string): string =>
      text.replace(paths, (path) => `“${placeWords(within(section, path), words)}”`);
    const mistakes = error.mistakes.map(({ path, message }) => ({
      path: within(section, path),
      message: inWords(message),
    }));
    throw new Problem(error.status, error.code, inWords(error.message), mistakes);
  };

const within = (section: string, path: string): string =>
  path.startsWith(`${section}.`) ? path.slice(section.length + 1) : path;

/** The names of the fields of a section. */
export function sectionLabels(section: SettingsSection): Pick<FormWords, "label"> {
  const own = ofSections()[section] ?? {};
  return {
    // The keys of programs and graphics cards are terms of the trade.
    label: (key) =>
      key === section
        ? t.settings.sectionNames[section]
        : (lookUp(own, key) ?? lookUp(t.serviceSettings.fields, key) ?? lookUp(t.settings.sectionNames, key) ?? key),
  };
}

/** Texts and suggestions for the form of a section. */
export function sectionWords(
  section: SettingsSection,
  known: {
    readonly groups: readonly string[];
    readonly miners: readonly string[];
    /** Keys of the curtailment plans. */
    readonly plans: readonly string[];
    readonly topics: TopicList["topics"];
  },
): FormWords {
  return {
    ...sectionLabels(section),
    exactlyOne: [
      ["group", "miner"],
      ["topic", "url", "api"],
    ],
    choice: () => t.form.choose,
    option: (key, value) =>
      lookUp(key === "privilege" ? t.settings.privilege : t.serviceSettings.words, value) ?? value,
    member: (name) => lookUp(t.serviceSettings.words, name) ?? lookUp(t.settings.words, name) ?? name,
    suggestions: (key, parent) => {
      if (key === "group" || key === "groups") return known.groups;
      if (key === "miner" || key === "order") return known.miners;
      if (key === "plan") return known.plans;
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
