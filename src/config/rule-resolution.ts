import { readyMadeRules } from "../catalogue/ready-made-rules.ts";
import { didYouMean } from "../contract/nearest.ts";
import type { Mistake } from "../contract/problems.ts";
import { RuleSettings } from "../contract/rules.ts";
import { wording } from "../contract/wording.ts";

/** A rule with all its parts: a ready-made one is filled in. */
export interface ResolvedRule extends Omit<RuleSettings, "use" | "with" | "key" | "name"> {
  readonly key: string;
  readonly name: string;
}

export const resolveRule = (
  settings: RuleSettings,
): { readonly rule: ResolvedRule | null; readonly mistakes: Mistake[] } => {
  const { use, with: given = {}, key, name, ...own } = settings;
  if (use === undefined) {
    const named = { key: key ?? name ?? "", name: name ?? key ?? "" };
    return { rule: { ...own, ...named }, mistakes: [] };
  }
  const readyMade = readyMadeRules.find((each) => each.key === use);
  if (readyMade === undefined) {
    const known = readyMadeRules.map((each) => each.key);
    const hint = didYouMean(use, known) || `; there are ${known.join(", ")}`;
    return { rule: null, mistakes: [{ path: "use", message: `there is no ready-made rule "${use}"${hint}` }] };
  }
  const known = Object.keys(readyMade.values);
  const values = { ...readyMade.values, ...given };
  const mistakes = [
    ...Object.keys(given)
      .filter((each) => !known.includes(each))
      .map((each) => ({
        path: `with.${each}`,
        message: `is not known${didYouMean(each, known) || `; there are ${known.join(", ")}`}`,
      })),
    ...known
      .filter((each) => values[each] === null)
      .map((each) => ({ path: `with.${each}`, message: `is required for ${use}` })),
  ];
  if (mistakes.length > 0) return { rule: null, mistakes };
  const filledIn = substituted(readyMade.rule, values);
  const parsed = RuleSettings.safeParse(
    { ...(filledIn as object), key: use, name: readyMade.name },
    { error: wording },
  );
  if (!parsed.success)
    return {
      rule: null,
      mistakes: parsed.error.issues.map(({ message }) => ({
        path: "with",
        message: `does not fit ${use}: ${message}`,
      })),
    };
  const overrides = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const { use: _, with: __, ...whole } = parsed.data;
  return { rule: { ...whole, ...overrides, key: key ?? name ?? use, name: name ?? readyMade.name }, mistakes: [] };
};

/** A copy in which a text like "$temperature" is the value of that name. */
function substituted(part: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof part === "string") return part.startsWith("$") ? values[part.slice(1)] : part;
  if (Array.isArray(part)) return part.map((each) => substituted(each, values));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, substituted(value, values)]));
}
