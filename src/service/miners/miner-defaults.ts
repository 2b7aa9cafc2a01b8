import { rigDefaults } from "../../config/rig-defaults.ts";
import type { Config } from "../../config/schema.ts";
import { storedAddress } from "../../link/address.ts";
import type { Store } from "../../store/index.ts";
import { lineOf } from "../nested-groups.ts";
import type { PlaceBook } from "../places/place-book.ts";
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
  const names = lineOf(miner.groupId, groups).flatMap((id) => groups.get(id)?.name ?? []);
  const { login, interval, location } = rigDefaults(entries, storedAddress(miner.address).host, new Set(names));
  const isPlaced = miner.placeId !== null || miner.slot !== null || location === undefined;
  return {
    ...miner,
    login: miner.login ?? login ?? null,
    interval: miner.interval ?? interval ?? null,
    ...(isPlaced ? {} : { placeId: places.at(location)[0]?.row.id ?? null, slot: location.slot }),
  };
}
