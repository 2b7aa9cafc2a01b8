import { resolveRule } from "../../config/rule-resolution.ts";
import type { RuleSettings } from "../../contract/rules.ts";
import { runsHere } from "../../contract/runs-at.ts";
import type { StoredRule } from "../../store/index.ts";

/** The row of a rule. `do` and `manual` are the resolved values, also of a ready-made rule. */
export function ruleRow(settings: RuleSettings, makerId: number | null): StoredRule {
  const { rule } = resolveRule(settings);
  return {
    name: rule?.name ?? settings.name ?? "",
    do: rule?.do ?? null,
    // A rule without conditions is manual by default.
    manual: rule?.manual ?? rule?.when === undefined,
    makerId,
    definition: { ...settings },
  };
}

/** Whether a rule, schedule or window acts here, and not at other sites alone. */
export function runsRowHere({ definition }: { definition?: object | null | undefined }): boolean {
  const names: unknown = definition == null ? undefined : Reflect.get(definition, "runsAt");
  return runsHere(Array.isArray(names) ? names.map(String) : undefined);
}

/** The key of a rule or schedule. */
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
