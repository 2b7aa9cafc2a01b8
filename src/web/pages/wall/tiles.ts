import type { Group } from "../../../contract/resources.ts";
import { byName } from "../../format.ts";
import { groupName } from "../../groups.ts";
import type { Row } from "../../live.ts";
import { type Sums, sumsOf } from "../../sums.ts";

/** What each tile represents. */
export const subjects = ["group", "site", "container", "rack", "rig"] as const;
export type Subject = (typeof subjects)[number];

export interface WallTile {
  /** "" for rigs without a group or place. */
  readonly name: string;
  readonly sums: Sums;
  /** °C of the hottest rig; null if unknown. */
  readonly hottest: number | null;
  /** Rigs that should mine and do not: offline, or with an error. */
  readonly failing: number;
}

/** The tiles by name; those of rigs without a group or place last. */
export function tilesOf(rows: Iterable<Row>, by: Subject, groups: readonly Group[]): readonly WallTile[] {
  const names = new Map(groups.map(({ id }) => [id, groupName(groups, id)]));
  const nameOf = (row: Row): string => {
    if (by === "rig") return row.name;
    return (by === "group" ? names.get(row.group) : row.location?.[by]) ?? "";
  };
  const parts = Map.groupBy(rows, (row) => (by === "rig" ? String(row.id) : nameOf(row)));
  return [...parts.values()]
    .map((list) => ({
      name: list[0] === undefined ? "" : nameOf(list[0]),
      sums: sumsOf(list),
      hottest: list.reduce<number | null>(hotter, null),
      failing: list.filter(({ status, repair }) => repair === null && (status === "Disconnected" || status === "Error"))
        .length,
    }))
    .sort((one, other) => Number(one.name === "") - Number(other.name === "") || byName(one.name, other.name));
}

/** A rig with outdated readings does not count as hot. */
const hotter = (most: number | null, { temperature, readAt }: Row): number | null =>
  temperature === null || readAt !== null || (most !== null && most >= temperature) ? most : temperature;

/** Number of tiles that fit on a wall, at least one; px. */
export const roomFor = (width: number, height: number): number =>
  Math.max(1, Math.floor((width + gap) / (tileWidth + gap))) *
  Math.max(1, Math.floor((height + gap) / (tileHeight + gap)));
export const [tileWidth, tileHeight, gap] = [320, 210, 16];
