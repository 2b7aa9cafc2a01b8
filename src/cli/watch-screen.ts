import { minerStatuses } from "../contract/resources.ts";
import type { MinerRow } from "../contract/rows.ts";
import type { ListedState } from "./colours.ts";
import { rigTable, stateOf } from "./rig-table.ts";
import { counted, cut, printable } from "./table.ts";

/** The rigs of `rigbridge watch`. */
export interface Watched {
  readonly rigs: ReadonlyMap<number, MinerRow>;
  /** Why the service does not answer; null while it does. */
  readonly lost: string | null;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** States in the order of the screen: what needs somebody comes first. */
const order: readonly ListedState[] = [
  ...(["Error", "Disconnected", "Unreachable", "Starting", "Idle", "Mining", "Stopped", "Disabled"] as const),
];

/** The lines of a screen: the sums, as many rigs as there is room for, and how to end. */
export function screen({ rigs, lost }: Watched, { columns, rows }: ScreenSize, coloured: boolean): string[] {
  const all = [...rigs.values()];
  const byState = Map.groupBy(all, stateOf);
  const sorted = order.flatMap((status) => byState.get(status) ?? []);
  // The sums, the heads and the last line take one row each.
  const room = Math.max(1, rows - 3);
  const shown = sorted.slice(0, room);
  const rest = sorted.length - shown.length;
  const end = [...(rest === 0 ? [] : [`${counted(rest, "more rig")}, see rigbridge list`]), "Ctrl-C ends"];
  const last = lost ?? end.join("; ");
  return [
    cut(sums(all, byState), columns),
    ...(shown.length === 0 ? [""] : rigTable(shown, { coloured, columns })),
    cut(printable(last), columns),
  ];
}

function sums(all: readonly MinerRow[], byState: ReadonlyMap<ListedState, readonly MinerRow[]>): string {
  const states = [...minerStatuses, "Unreachable" as const].flatMap((status) => {
    const count = byState.get(status)?.length ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString("en-US")} ${status}`];
  });
  return [counted(all.length, "rig"), states.join(", ")].filter((part) => part !== "").join(": ");
}

/** What has changed between two states of a rig, as a line; null if only its figures did. */
export function changeLine(before: MinerRow | undefined, now: MinerRow | undefined): string | null {
  if (now === undefined) return before === undefined ? null : printable(`${before.name}: removed`);
  const state = stateOf(now);
  if (before === undefined) return printable(`${now.name}: ${state}`);
  const earlier = stateOf(before);
  return earlier === state ? null : printable(`${now.name}: ${state}, was ${earlier}`);
}
