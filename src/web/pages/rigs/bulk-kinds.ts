import type { BulkJob } from "../../../contract/resources.ts";
import type { CallName } from "../../../contract/service.ts";
import type { IconName } from "../../parts/icon.tsx";
import { may } from "../../session.ts";

/** An action for the selected rigs. */
export interface BulkKind {
  readonly icon: IconName;
  readonly needs: CallName;
  /** What its form lists. */
  readonly lists?: CallName;
  /** In the bar itself; the others are in its menu. */
  readonly isFirst?: true;
  readonly isDangerous?: true;
  /** The service's own action, with a pace and a dry run. */
  readonly isAction?: true;
}

export const bulkKinds = {
  restart: { icon: "restart", needs: "startBulkAction", isFirst: true, isAction: true },
  start: { icon: "start", needs: "startBulkAction", isFirst: true, isAction: true },
  stop: { icon: "stop", needs: "startBulkAction", isFirst: true, isAction: true, isDangerous: true },
  reboot: { icon: "power", needs: "startBulkAction", isFirst: true, isAction: true, isDangerous: true },
  change_pool: { icon: "pools", needs: "startBulkAction", isAction: true },
  set: { icon: "settings", needs: "startBulkAction", isAction: true },
  apply_template: { icon: "rules", needs: "startBulkAction", isAction: true },
  acknowledge: { icon: "bell", needs: "notificationAction" },
  tag: { icon: "bookmark", needs: "changeMiner" },
  group: { icon: "home", needs: "changeMiner" },
  place: { icon: "rack", needs: "changeMiner", lists: "listPlaces" },
  delete: { icon: "trash", needs: "deleteMiner", isDangerous: true },
} as const satisfies Readonly<Record<string, BulkKind>>;
export type BulkName = keyof typeof bulkKinds;
export const bulkNames = Object.keys(bulkKinds).filter((name): name is BulkName => Object.hasOwn(bulkKinds, name));

const kinds: Readonly<Record<BulkName, BulkKind>> = bulkKinds;
export const kindOf = (name: BulkName): BulkKind => kinds[name];

/** Whether this user may run it; services without bulk actions receive one call per rig. */
export function mayDo(name: BulkName): boolean {
  const { needs, lists = needs, isAction = false } = kindOf(name);
  return (may(needs) && may(lists)) || (isAction && may("minerAction"));
}

export type BulkParameters = BulkJob["parameters"];
/** Sets the values of a form; null: not complete yet. */
export type SetParameters = (parameters: BulkParameters | null) => void;
