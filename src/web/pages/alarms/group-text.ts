import type { Notification } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { useLoaded } from "../../parts/load.tsx";
import { may } from "../../session.ts";

/** Names of the rules that this user sees; undefined while loading. */
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

/** The common text of a group, from its first member. */
export const headOf = ({ title, ruleId, message }: Notification, ruleNames: RuleNames): string =>
  title ?? ruleNames?.get(ruleId ?? 0) ?? message;

/** The number of rigs concerned; several notifications may concern the same one. */
export function sizeOf(notifications: readonly Notification[]): string {
  const rigCount = new Set(notifications.map(({ minerId, minerName }) => minerId ?? minerName)).size;
  return counted(rigCount, t.alarms.rigs);
}
