import type { BulkJob, Command } from "../../../contract/resources.ts";
import type { OwnedRun } from "../../../contract/rules.ts";

/** An entry of the activity: a command to a rig, a run of a rule or schedule, or an action for many rigs. */
export type Entry =
  | { readonly kind: "command"; readonly time: string; readonly command: Command }
  | { readonly kind: "run"; readonly time: string; readonly run: OwnedRun }
  | { readonly kind: "bulk"; readonly time: string; readonly job: BulkJob };

export const kinds = ["command", "run", "bulk"] as const;
export const results = ["done", "failed", "open", "held"] as const;
export type Result = (typeof results)[number];

/** Filters applied by the page; the service already applies the period, and the rig of commands and runs. */
export interface EntryFilters {
  readonly kind: Entry["kind"] | null;
  /** Bulk actions are left out when one rig is chosen. */
  readonly miner: number | null;
  readonly actor: string;
  /** A rule or schedule, such as "rule 3". */
  readonly owner: string;
  readonly result: Result | null;
  /** Epoch ms. */
  readonly since: number;
}

/** The result: `failed` also if it is unknown or only some rigs failed, `open` if it has not ended. */
export function resultOf(entry: Entry): Result {
  if (entry.kind === "run") {
    const { outcome } = entry.run;
    if (outcome === "held") return "held";
    if (outcome === "running") return "open";
    return outcome === "failed" || outcome === "unknown" || outcome === "missed" ? "failed" : "done";
  }
  if (entry.kind === "command") {
    const { state } = entry.command;
    return state === "queued" || state === "sent" ? "open" : state === "done" ? "done" : "failed";
  }
  const { state, failed, unknown } = entry.job;
  if (state === "running") return "open";
  return state === "done" && failed + unknown === 0 ? "done" : "failed";
}

const actorOf = (entry: Entry): string =>
  entry.kind === "command"
    ? entry.command.actor
    : entry.kind === "bulk"
      ? entry.job.actor
      : `${entry.run.kind}:${entry.run.key}`;

/** The rule or schedule of the entry, such as "rule 3". */
export function ownerOf(entry: Entry): string | null {
  if (entry.kind === "run") return `${entry.run.kind} ${entry.run.ownerId}`;
  const cause = entry.kind === "command" ? entry.command.cause : null;
  if (cause === null || cause === undefined || cause.id === undefined) return null;
  if (cause.kind === "schedule") return `schedule ${cause.id}`;
  return cause.kind === "rule" || cause.kind === "manual" ? `rule ${cause.id}` : null;
}

const fits = (entry: Entry, { kind, miner, actor, owner, result, since }: EntryFilters): boolean =>
  (kind === null || entry.kind === kind) &&
  (miner === null ||
    (entry.kind === "command" && entry.command.minerId === miner) ||
    (entry.kind === "run" && entry.run.minerId === miner)) &&
  (actor === "" || actorOf(entry) === actor) &&
  (owner === "" || ownerOf(entry) === owner) &&
  (result === null || resultOf(entry) === result) &&
  Date.parse(entry.time) >= since;

interface Lists {
  readonly commands: readonly Command[];
  readonly runs: readonly OwnedRun[];
  readonly jobs: readonly BulkJob[];
}

/**
 * All entries in one list, newest first. A list with `most` entries reaches back only to its oldest one: older entries
 * of the other lists are left out too, because it would look as if nothing else had happened. `isCut`: entries were
 * left out.
 */
export function feedOf(
  { commands, runs, jobs }: Lists,
  filters: EntryFilters,
  most: number,
): { readonly entries: readonly Entry[]; readonly isCut: boolean } {
  const lists: readonly (readonly Entry[])[] = [
    commands.map((command) => ({ kind: "command", time: command.time, command })),
    runs.map((run) => ({ kind: "run", time: run.time, run })),
    jobs.map((job) => ({ kind: "bulk", time: job.time, job })),
  ];
  const wanted = filters.kind === null ? lists : lists.filter((list) => list[0]?.kind === filters.kind);
  const cut = wanted.filter((list) => list.length >= most);
  const horizon = cut.reduce((latest, list) => Math.max(latest, Date.parse(list.at(-1)?.time ?? "")), 0);
  const entries = wanted
    .flat()
    .filter((entry) => Date.parse(entry.time) >= horizon && fits(entry, filters))
    .sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
  return { entries, isCut: cut.length > 0 };
}
