import { minersIn } from "../contract/miners-in.ts";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { Miner, MinerList } from "../contract/resources.ts";
import { indented, table } from "./table.ts";

/**
 * The one miner that is meant by an id, a uid or a name, in that order.
 * Throws `not.found`, and `input.invalid` with those that it could be.
 */
export function findMiner({ groupList }: MinerList, wanted: string): Miner {
  const miners = minersIn(groupList);
  const exact = miners.find(({ id }) => String(id) === wanted) ?? miners.find(({ uid }) => uid === wanted);
  if (exact !== undefined) return exact;
  const named = miners.filter(({ name }) => name === wanted);
  const meant = named.length > 0 ? named : miners.filter(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  const [only, another] = meant;
  if (only !== undefined && another === undefined) return only;
  if (only !== undefined) throw ambiguous(wanted, meant);
  throw notFound("miner", `"${wanted}"; GET /api/miners lists those there are`);
}

function ambiguous(wanted: string, miners: readonly Miner[]): RigbridgeError {
  const rows = miners.map(({ id, uid, name, hostDescription }) => [`${id}`, uid ?? "", name, hostDescription]);
  const list = indented(table(["Id", "Uid", "Name", "Address"], rows));
  return new RigbridgeError("input.invalid", `${miners.length} miners are called "${wanted}"; say its id:\n${list}`);
}
