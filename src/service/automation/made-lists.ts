import { type ResolvedRule, resolveRule } from "../../config/rule-resolution.ts";
import { RuleSettings, ScheduleSettings } from "../../contract/rules.ts";
import { runsHere } from "../../contract/runs-at.ts";
import type { Store, Stored, StoredRule } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Links } from "../links.ts";
import type { Made } from "./rights.ts";
import { runsRowHere } from "./rule-rows.ts";

/** A rule, schedule or template with the targets of its steps. */
export interface Naming extends Made {
  readonly links?: Links | undefined;
  readonly centre?: string | undefined;
}

/** All parts of a rule, schedule or template that can name something. */
export type StepLists = Partial<
  Pick<ResolvedRule, "do" | "onClear" | "onGiveUp" | "inhibitedBy"> & Pick<ScheduleSettings, "onEnd">
>;

/** A rule, schedule or template with all its steps. */
export interface MadeList {
  readonly kind: "rule" | "schedule" | "template";
  readonly row: Naming & { readonly id: number; readonly name: string };
  readonly lists: StepLists;
  /** The list is disabled. */
  readonly isOff: boolean;
}

/** All rules, schedules and templates that act here. Rows that this version cannot read have no steps. */
export function madeLists({
  rules,
  schedules,
  templates,
}: Pick<Store, "rules" | "schedules" | "templates">): MadeList[] {
  return [
    ...enabled(rules).filter(runsRowHere).map(ruleList),
    ...enabled(schedules)
      .filter(runsRowHere)
      .map((row): MadeList => {
        const { data } = ScheduleSettings.safeParse(row.definition);
        return { kind: "schedule", row, lists: data ?? {}, isOff: data?.enabled === false };
      }),
    ...enabled(templates)
      .filter(({ runsAt }) => runsHere(runsAt))
      .map((row): MadeList => ({ kind: "template", row, lists: { do: row.do ?? [] }, isOff: false })),
  ];
}

function ruleList(row: Stored<StoredRule>): MadeList {
  const { data } = RuleSettings.safeParse(row.definition ?? { name: row.name });
  const rule = data === undefined ? null : resolveRule(data).rule;
  return { kind: "rule", row, lists: { ...rule, do: row.do ?? [] }, isOff: rule?.enabled === false };
}
