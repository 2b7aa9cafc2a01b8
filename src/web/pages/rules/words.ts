import { call } from "../../api.ts";
import { hashrate, number, percent, power, temperature } from "../../format.ts";
import { language, t } from "../../language.ts";
import { rigs } from "../../live.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";
import { isObject, type Json } from "../../parts/schema-form/schema.ts";
import { may } from "../../session.ts";

/** The names that rules may refer to. */
export interface Names {
  readonly groups: readonly string[];
  readonly pools: readonly string[];
  readonly poolGroups: readonly string[];
  readonly templates: readonly string[];
  readonly rules: readonly string[];
  readonly channels: readonly string[];
}

/** Loads those that this user may see. */
export async function readNames(signal: AbortSignal): Promise<Names> {
  const [groups, pools, poolGroups, templates, rules, channels] = await Promise.all([
    may("listGroups") ? call("listGroups", {}, { signal }) : [],
    may("listPools") ? call("listPools", {}, { signal }) : null,
    may("listPoolGroups") ? call("listPoolGroups", {}, { signal }) : [],
    may("listManagedTemplates") ? call("listManagedTemplates", {}, { signal }) : null,
    may("listRules") ? call("listRules", {}, { signal }) : null,
    may("listChannels") ? call("listChannels", {}, { signal }) : [],
  ]);
  return {
    groups: groups.map(({ name }) => name),
    pools: pools?.list.map(({ description }) => description) ?? [],
    poolGroups: poolGroups.map(({ name }) => name),
    templates: templates?.managedTemplateList.map(({ name }) => name) ?? [],
    rules: rules?.rules.map(({ key }) => key) ?? [],
    channels: ["all", ...channels.map(({ key }) => key)],
  };
}

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

/** The distinct values over all rigs. */
function ofRigs(
  values: (row: Parameters<Parameters<typeof rigs.value.byId.forEach>[0]>[0]) => readonly (string | null | undefined)[],
) {
  const found = new Set<string>();
  for (const row of rigs.value.byId.values())
    for (const each of values(row)) if (each !== null && each !== undefined && each !== "") found.add(each);
  return [...found];
}

/** Maximum suggestions in a browser's list. */
const mostSuggestions = 500;

/** Texts and suggestions for the forms of rules. */
export function ruleWords(names: Names | undefined, readingUnits: Readonly<Record<string, string>>): FormWords {
  const suggested = (key: string, parent: Json): readonly string[] => {
    switch (key) {
      case "groups":
        return names?.groups ?? [];
      case "miners":
        return ofRigs(({ name }) => [name]).slice(0, mostSuggestions);
      case "tags":
        return ofRigs(({ tags }) => tags);
      case "sites":
        return ofRigs(({ location }) => [location?.site]);
      case "racks":
        return ofRigs(({ location }) => [location?.rack]);
      case "pool":
      case "wanted":
        return names?.pools ?? [];
      case "poolGroup":
        return names?.poolGroups ?? [];
      case "template":
        return names?.templates ?? [];
      case "rule":
      case "inhibitedBy":
        return names?.rules ?? [];
      case "notify":
      case "channel":
        return names?.channels ?? [];
      case "value":
        return isObject(parent) && parent.set === "power_target" ? ["best"] : [];
      default:
        return [];
    }
  };
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
    suggestions: suggested,
    unit: (key, parent) => {
      if (!["above", "below", "clear"].includes(key) || !isObject(parent)) return null;
      const unit = typeof parent.reading === "string" ? readingUnits[parent.reading] : undefined;
      return unit?.split(",")[0] ?? null;
    },
    // "parameter of add_pool and change_pool": only for these actions.
    isOffered: (_, { description }, parent) => {
      const isParameter = description?.startsWith("parameter of ") === true;
      if (!isParameter || !isObject(parent)) return true;
      return new RegExp(`\\b${String(parent.action)}\\b`).test(description);
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
