import { language, t } from "../../language.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";
import { isObject } from "../../parts/schema-form/schema.ts";
import { directoryOf, type References } from "./references.ts";
import { lookUp, type NameOf, optionText } from "./sentence/words.ts";

/** The label of a key of rules. */
export const labelOf = (key: string): string => lookUp(t.rules.fields, key) ?? key;

export const memberText = (name: string, all: readonly string[]): string =>
  lookUp(
    all.includes("reading") ? t.rules.conditions : all.includes("set") ? t.rules.actions : t.rules.members,
    name,
  ) ?? name;

/** The names of rigs and rules, for pages without other names. */
export const namesOf =
  (rules: readonly { readonly key: string; readonly name: string }[]): NameOf =>
  (of, value) =>
    (of === "miner"
      ? directoryOf({}, of, {})?.nameOf(value)
      : of === "rule"
        ? rules.find(({ key }) => key === value)?.name
        : undefined) ?? value;

/** The names in a form. */
export const namesIn =
  (words: FormWords): NameOf =>
  (of, value, parent) =>
    words.directory(of, parent)?.nameOf(value) ?? value;

/** Texts and suggestions for the forms of rules. */
export function ruleWords(references: References, readingUnits: Readonly<Record<string, string>>): FormWords {
  return {
    exactlyOne: [
      ["all", "any"],
      ["above", "below", "equals"],
      ["above", "below"],
      ["weekly", "cron", "price"],
    ],
    label: labelOf,
    choice: ([first = ""]) => lookUp(t.rules.choices, first) ?? t.form.choose,
    option: optionText,
    member: memberText,
    suggestions: (key, parent) =>
      key === "value" && isObject(parent) && parent.set === "power_target" ? ["best"] : [],
    directory: (of, parent) => directoryOf(references, of, parent),
    unit: (key, parent) => {
      if (!["above", "below", "clear"].includes(key) || !isObject(parent)) return null;
      const unit = typeof parent.reading === "string" ? readingUnits[parent.reading] : undefined;
      return unit?.split(",")[0] ?? null;
    },
  };
}

interface ReadyMade {
  readonly key: string;
  readonly name: string;
  readonly description: string;
}

/** Name and description of a ready-made rule, and the language that they are in. */
export function readyMadeWords({ key, name, description }: ReadyMade): Omit<ReadyMade, "key"> & { lang: string } {
  const texts: Readonly<Record<string, Omit<ReadyMade, "key">>> = t.service.readyMade;
  const own = Object.hasOwn(texts, key) ? texts[key] : undefined;
  return own === undefined ? { name, description, lang: "en" } : { ...own, lang: language };
}
