import type { DefinitionKind } from "../contract/owned.ts";
import { isRecord } from "../contract/record.ts";
import type { SiteCopy } from "../contract/rules.ts";
import type { CallName } from "../contract/service.ts";

/** The operations about definitions, which may be for other sites too. */
const kinds: Partial<Record<CallName, DefinitionKind>> = {
  listRules: "rule",
  addRule: "rule",
  changeRule: "rule",
  deleteRule: "rule",
  listSchedules: "schedule",
  addSchedule: "schedule",
  changeSchedule: "schedule",
  deleteSchedule: "schedule",
  listMaintenance: "maintenance",
  addMaintenance: "maintenance",
  deleteMaintenance: "maintenance",
};

/** Whether an operation is about definitions. */
export const isAboutDefinitions = (name: CallName): boolean => kinds[name] !== undefined;

/** A reply of the centre's own, in which each definition says where else it is. */
export function withCopies(
  name: CallName,
  reply: unknown,
  copiesOf: (kind: DefinitionKind, definition: Readonly<Record<string, unknown>>) => SiteCopy[],
): unknown {
  const kind = kinds[name];
  if (kind === undefined) return reply;
  const withSites = (each: unknown): unknown =>
    isRecord(each) && isRecord(each.definition) && each.definition.runsAt !== undefined
      ? { ...each, sites: copiesOf(kind, each.definition) }
      : each;
  if (Array.isArray(reply)) return reply.map(withSites);
  if (isRecord(reply) && Array.isArray(reply.rules)) return { ...reply, rules: reply.rules.map(withSites) };
  return withSites(reply);
}
