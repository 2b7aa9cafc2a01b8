import type { DefinitionKind, SiteCopy } from "../contract/owned.ts";
import { isRecord } from "../contract/record.ts";
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
  listPools: "pool",
  getPool: "pool",
  savePool: "pool",
  deletePool: "pool",
  listPoolGroups: "poolGroup",
  savePoolGroup: "poolGroup",
  deletePoolGroup: "poolGroup",
  listManagedTemplates: "template",
  saveManagedTemplate: "template",
  deleteManagedTemplate: "template",
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
  const withSites = (each: unknown): unknown => {
    if (!isRecord(each)) return each;
    const definition = isRecord(each.definition) ? each.definition : each;
    return definition.runsAt === undefined ? each : { ...each, sites: copiesOf(kind, definition) };
  };
  if (Array.isArray(reply)) return reply.map(withSites);
  for (const list of ["rules", "list", "managedTemplateList"]) {
    const listed = isRecord(reply) ? reply[list] : undefined;
    if (isRecord(reply) && Array.isArray(listed)) return { ...reply, [list]: listed.map(withSites) };
  }
  return withSites(reply);
}
