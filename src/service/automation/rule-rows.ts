import { resolveRule } from "../../config/rule-resolution.ts";
import type { RuleSettings } from "../../contract/rules.ts";
import type { StoredRule } from "../../store/index.ts";

/** The row of a rule. `do` and `manual` are what it does in the end, also of a ready-made one. */
export function ruleRow(settings: RuleSettings, makerId: number | null): StoredRule {
  const { rule } = resolveRule(settings);
  return {
    name: rule?.name ?? settings.name ?? "",
    do: rule?.do ?? null,
    // Without conditions it is for people, unless it says otherwise.
    manual: rule?.manual ?? rule?.when === undefined,
    makerId,
    definition: { ...settings },
  };
}

/** The key by which a rule or schedule is named. */
export function keyOf({
  key,
  name,
  definition,
}: {
  key: string | null;
  name: string;
  definition?: object | null | undefined;
}): string {
  const own: unknown[] =
    definition == null
      ? []
      : [Reflect.get(definition, "key"), Reflect.get(definition, "name"), Reflect.get(definition, "use")];
  return key ?? own.find((each) => typeof each === "string") ?? name;
}
