import type { ExportedMiner } from "../../contract/imports.ts";
import type { StoredMiner } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { groupPaths } from "../miners/groups.ts";
import type { MinerContext } from "../miners/miners.ts";
import type { MinerFacts } from "../miners/present-miner.ts";
import { chainOf } from "../places/place-book.ts";
import type { Placement } from "../places/placing.ts";
import type { Access } from "../users/access.ts";
import { tagsCell } from "./plan.ts";

/** The rigs that this access sees as rows of a list of rigs. */
export function exported(
  { registry, store, places }: Pick<MinerContext, "registry" | "store" | "places">,
  access: Access,
  placementOf: (rig: { readonly row: StoredMiner; readonly facts: MinerFacts }) => Placement,
): ExportedMiner[] {
  const paths = groupPaths(store.groups, access);
  return enabled(store.miners).flatMap((row) => {
    const entry = registry.visible(row.id, access);
    if (entry === undefined) return [];
    const { state } = entry.rig;
    const { placeId, position, slot } = placementOf({ row, facts: entry.facts });
    const { site, building, row: inRow, rack } = chainOf(places.get(placeId));
    return {
      uid: state.uid,
      mac: state.identity?.mac ?? null,
      serial: state.identity?.serial ?? null,
      address: row.address,
      name: row.name,
      group: paths.get(row.groupId) ?? null,
      site,
      container: building,
      row: inRow,
      rack,
      slot,
      rackRow: position?.row ?? null,
      rackColumn: position?.column ?? null,
      tags: tagsCell(row.tags),
      driver: row.driver,
      interval: row.interval,
      login: row.login === "" ? null : row.login,
      nameplate: row.powerNameplate,
    };
  });
}
