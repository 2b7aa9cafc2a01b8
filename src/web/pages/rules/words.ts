import { hashrate, number, percent, power, temperature } from "../../format.ts";
import { language, t } from "../../language.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";
import { isObject } from "../../parts/schema-form/schema.ts";
import { directoryOf, type References } from "./references.ts";

const lookUp = (texts: object, key: string): string | undefined => {
  const found: unknown = Object.entries(texts).find(([each]) => each === key)?.[1];
  return typeof found === "string" ? found : undefined;
};

/** The label of a key of rules. */
export const labelOf = (key: string): string => lookUp(t.rules.fields, key) ?? key;

const statuses: ReadonlyMap<string, string> = new Map(
  ["Mining", "Idle", "Stopped", "Starting", "Disconnected", "Disabled", "Error"].map((each) => [
    each.toLowerCase(),
    each,
  ]),
);

export function optionText(key: string, value: string): string {
  if (key === "state") return lookUp(t.status, statuses.get(value) ?? "") ?? value;
  if (key === "reason") return lookUp(t.reason, value) ?? value;
  if (key === "severity") return lookUp(t.severity, value) ?? value;
  return lookUp(t.rules.words, value) ?? value;
}

export const memberText = (name: string, all: readonly string[]): string =>
  lookUp(
    all.includes("reading") ? t.rules.conditions : all.includes("set") ? t.rules.actions : t.rules.members,
    name,
  ) ?? name;

function amountText(of: string, value: number): string {
  if (/^(?:pool)?hashrate/i.test(of)) return hashrate(value);
  if (/temperature/i.test(of)) return temperature(value, 1);
  if (/^power/.test(of)) return power(value);
  return /^fan(?:Percent)?$/.test(of) ? percent(value / 100) : number(value, 6);
}

/** Words for the summary of a rule in a list. */
export const shortWords = {
  label: labelOf,
  option: optionText,
  step: (kind: string): string => lookUp(t.rules.actions, kind) ?? kind,
  amount: amountText,
};

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
