import { allMiners } from "../../store/index.ts";
import type { PlaceBook, PlaceNode } from "../places/place-book.ts";

/** Places have their samples beside those of groups, under numbers that no group has. */
export const seriesOfPlace = (placeId: number): number => allMiners - placeId;

/** Sites, buildings and rows have a history of their own; there are too many racks for one each minute. */
export const hasSeries = ({ row }: PlaceNode): boolean => row.kind !== "rack";

/** The series that a miner in this place counts for. */
export function seriesAround(placeId: number | null, places: PlaceBook): readonly number[] {
  const series: number[] = [];
  for (let node = places.get(placeId); node !== undefined; node = node.parent ?? undefined)
    if (hasSeries(node)) series.push(seriesOfPlace(node.row.id));
  return series;
}
