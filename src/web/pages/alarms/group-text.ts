import type { Notification } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { useLoaded } from "../../parts/load.tsx";
import { may } from "../../session.ts";

/** Of the rules that this user sees; undefined while they are read. */
export type RuleNames = ReadonlyMap<number, string> | undefined;

/** The names of rules, if any of these come from one. */
export function useRuleNames(all: readonly Notification[]): RuleNames {
  const hasRules = may("listRules") && all.some(({ ruleId }) => ruleId !== null && ruleId !== undefined);
  const rules = useLoaded(
    async (signal) =>
      new Map(hasRules ? (await call("listRules", {}, { signal })).rules.map(({ id, name }) => [id, name]) : []),
    [hasRules],
  );
  return rules.value;
}

/** What a group says at once of all its members, by the first of them. */
export const headOf = ({ title, ruleId, message }: Notification, ruleNames: RuleNames): string =>
  title ?? ruleNames?.get(ruleId ?? 0) ?? message;

/** How many rigs they concern; several may concern one. */
export function sizeOf(notifications: readonly Notification[]): string {
  const rigCount = new Set(notifications.map(({ minerId, minerName }) => minerId ?? minerName)).size;
  return counted(rigCount, t.alarms.rigs);
}
