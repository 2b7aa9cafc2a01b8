import type { Notification, Severity } from "../../../contract/resources.ts";

export const states = ["open", "unseen", "closed", "all"] as const;
export type State = (typeof states)[number];
const severityRank: Record<Severity, number> = { critical: 0, warning: 1, info: 2 };
export const severities = ["critical", "warning", "info"] as const satisfies readonly Severity[];

/** The filters of the page, stored in its address. */
export interface Filters {
  readonly state: State;
  readonly severity: Severity | null;
  readonly source: string | null;
  /** Id of a miner. */
  readonly rig: number | null;
  readonly text: string;
}

const longestText = 200;

export function filtersIn(query: Readonly<Record<string, string>>): Filters {
  const rig = Number(query.rig ?? "");
  return {
    state: states.find((each) => each === query.state) ?? "open",
    severity: severities.find((each) => each === query.severity) ?? null,
    source: query.source ?? null,
    rig: Number.isSafeInteger(rig) && rig > 0 ? rig : null,
    text: (query.q ?? "").slice(0, longestText),
  };
}

/** The query of the page's address, with its question mark; empty for the default filters. */
export function queryOf({ state, severity, source, rig, text }: Filters): string {
  const query = new URLSearchParams();
  if (state !== "open") query.set("state", state);
  if (severity !== null) query.set("severity", severity);
  if (source !== null) query.set("source", source);
  if (rig !== null) query.set("rig", String(rig));
  if (text !== "") query.set("q", text);
  return query.size === 0 ? "" : `?${query}`;
}

/** Unseen: open and unacknowledged. */
function isIn(state: State, { closedUtc, isAcknowledged }: Notification): boolean {
  if (state === "all") return true;
  if (state === "closed") return closedUtc !== null;
  return closedUtc === null && (state === "open" || !isAcknowledged);
}

export function filtered(all: readonly Notification[], filters: Filters): Notification[] {
  const text = filters.text.trim().toLowerCase();
  return all.filter(
    (each) =>
      isIn(filters.state, each) &&
      (filters.severity === null || each.severity === filters.severity) &&
      (filters.source === null || each.source === filters.source) &&
      (filters.rig === null || each.minerId === filters.rig) &&
      (text === "" ||
        [each.message, each.title ?? "", each.minerName, each.source].some((part) =>
          part.toLowerCase().includes(text),
        )),
  );
}

/** Equal notifications about several rigs. */
export interface Group {
  readonly key: string;
  readonly severity: Severity;
  /** By severity, unacknowledged before acknowledged, newest first. */
  readonly notifications: readonly Notification[];
}

/** Minimum members of a group; fewer are listed separately. */
const leastInGroup = 3;

const lastOf = ({ lastUtc, closedUtc }: Notification): string => closedUtc ?? lastUtc;

/** Times in ISO 8601; comparing by locale would take a second for the whole list. */
const laterFirst = (one: string, other: string): number => (one === other ? 0 : one < other ? 1 : -1);

const byUrgency = (one: Notification, other: Notification): number =>
  Number(one.closedUtc !== null) - Number(other.closedUtc !== null) ||
  (one.closedUtc === null ? severityRank[one.severity] - severityRank[other.severity] : 0) ||
  (one.closedUtc === null ? Number(one.isAcknowledged) - Number(other.isAcknowledged) : 0) ||
  laterFirst(lastOf(one), lastOf(other)) ||
  other.id - one.id;

/** The common properties of a group's members. */
const kindOf = ({ closedUtc, severity, source, ruleId, title, message }: Notification): string =>
  JSON.stringify([closedUtc === null, severity, source, ruleId ?? title ?? message]);

/**
 * Open ones first, by severity, unacknowledged before acknowledged, then newest first; a group stands at the place of
 * its first member.
 */
export function grouped(all: readonly Notification[]): Group[] {
  const sorted = [...all].sort(byUrgency);
  const keys = sorted.map(kindOf);
  const kinds = Map.groupBy(sorted, (_, index) => keys[index] ?? "");
  const made = new Set<string>();
  return sorted.flatMap((each, index): Group[] => {
    const key = keys[index] ?? "";
    const members = kinds.get(key) ?? [];
    const { id, severity } = each;
    if (members.length < leastInGroup) return [{ key: String(id), severity, notifications: [each] }];
    if (made.has(key)) return [];
    made.add(key);
    return [{ key, severity, notifications: members }];
  });
}

/** When the first of them began, and their number of occurrences. */
export function spanOf(notifications: readonly Notification[]): { readonly first: string; readonly count: number } {
  let first = notifications[0]?.timeUtc ?? "";
  let count = 0;
  for (const each of notifications) {
    if (each.timeUtc < first) first = each.timeUtc;
    count += each.count;
  }
  return { first, count };
}
