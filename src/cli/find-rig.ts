import { nearest } from "../contract/nearest.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MinerRow } from "../contract/rows.ts";
import type { MiningService } from "../contract/service.ts";
import { caller } from "./service-options.ts";
import { indented, table } from "./table.ts";

/**
 * The rig with this id, uid or name, in that order, with its address.
 * Throws `not.found` with the nearest name, and `input.invalid` with the candidates if several have the name.
 */
export async function findRig(service: MiningService, wanted: string): Promise<MinerRow> {
  const { miners } = await service.listMinerRows({ view: "list", fields: ["name", "uid", "address"] }, caller);
  return rigNamed(miners, wanted);
}

export function rigNamed(miners: readonly MinerRow[], wanted: string): MinerRow {
  const exact = miners.find(({ id }) => String(id) === wanted) ?? miners.find(({ uid }) => uid === wanted);
  if (exact !== undefined) return exact;
  const named = miners.filter(({ name }) => name === wanted);
  const candidates =
    named.length > 0 ? named : miners.filter(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  const [only, another] = candidates;
  if (only !== undefined && another === undefined) return only;
  if (only !== undefined) throw ambiguous(wanted, candidates);
  const meant = nearest(
    wanted,
    miners.map(({ name }) => name),
  );
  const advice = meant === undefined ? "`rigbridge list` lists them" : `did you mean "${meant}"?`;
  throw new RigbridgeError("not.found", `There is no miner "${wanted}"; ${advice}`);
}

function ambiguous(wanted: string, miners: readonly MinerRow[]): RigbridgeError {
  const rows = miners.map(({ id, uid, name, address }) => [`${id}`, uid ?? "", name, address ?? ""]);
  const list = indented(table(["Id", "Uid", "Name", "Address"], rows));
  return new RigbridgeError(
    "input.invalid",
    `${miners.length} miners are named "${wanted}"; use an id instead:\n${list}`,
  );
}
