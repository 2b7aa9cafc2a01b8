import { rigDefaults } from "../../config/rig-defaults.ts";
import type { Config } from "../../config/schema.ts";
import type { Location } from "../../contract/resources.ts";
import { storedAddress } from "../../link/address.ts";
import type { Store } from "../../store/index.ts";
import { lineOf } from "../nested-groups.ts";
import type { PlaceBook } from "../places/place-book.ts";
import type { Placement } from "../places/placing.ts";
import type { Row } from "./declared-miner.ts";

/**
 * The miner with the configured defaults in place of what it does not set. A location is taken as a whole. A managed miner
 * has no defaults.
 */
export function withDefaults(
  miner: Row,
  entries: Config["defaults"],
  groups: Store["groups"],
  places: Pick<PlaceBook, "at">,
): Row {
  if (entries.length === 0 || miner.program !== undefined) return miner;
  const { login, interval, location } = defaultsFor(miner, entries, groups);
  const isPlaced = miner.placeId !== null || miner.slot !== null;
  return {
    ...miner,
    login: miner.login ?? login ?? null,
    interval: miner.interval ?? interval ?? null,
    ...(isPlaced ? {} : placementAt(location, places)),
  };
}

/** Where the defaults put a miner that has no place of its own. */
export const defaultPlacement = (
  miner: Pick<Row, "address" | "groupId">,
  entries: Config["defaults"],
  groups: Store["groups"],
  places: Pick<PlaceBook, "at">,
): Placement => ({ position: null, ...placementAt(defaultsFor(miner, entries, groups).location, places) });

function defaultsFor(
  { address, groupId }: Pick<Row, "address" | "groupId">,
  entries: Config["defaults"],
  groups: Store["groups"],
) {
  const names = lineOf(groupId, groups).flatMap((id) => groups.get(id)?.name ?? []);
  return rigDefaults(entries, storedAddress(address).host, new Set(names));
}

const placementAt = (location: Location | undefined, places: Pick<PlaceBook, "at">) => ({
  placeId: location === undefined ? null : (places.at(location)[0]?.row.id ?? null),
  slot: location?.slot ?? null,
});
