import { z } from "zod";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import { indented, table } from "./table.ts";

const MinerName = z.object({
  id: z.int(),
  uid: z.string().nullish(),
  name: z.string(),
  hostDescription: z.string().default(""),
});
export type MinerName = z.infer<typeof MinerName>;

const Group = z.object({
  minerList: z.array(MinerName).default([]),
  get groupList() {
    return z.array(Group).optional();
  },
});
type Group = z.infer<typeof Group>;

/** Of the list of miners, what tells them apart. */
export const MinerNames = z.object({ groupList: z.array(Group) });

/**
 * The one miner that is meant by an id, a uid or a name, in that order.
 * Throws `not.found`, and `input.invalid` with those that it could be.
 */
export function findMiner({ groupList }: z.infer<typeof MinerNames>, wanted: string): MinerName {
  const miners = groupList.flatMap(minersIn);
  const exact = miners.find(({ id }) => String(id) === wanted) ?? miners.find(({ uid }) => uid === wanted);
  if (exact !== undefined) return exact;
  const named = miners.filter(({ name }) => name === wanted);
  const meant = named.length > 0 ? named : miners.filter(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  const [only, another] = meant;
  if (only !== undefined && another === undefined) return only;
  if (only !== undefined) throw ambiguous(wanted, meant);
  throw notFound("miner", `"${wanted}"; GET /api/miners lists those there are`);
}

const minersIn = ({ minerList, groupList = [] }: Group): MinerName[] => [...minerList, ...groupList.flatMap(minersIn)];

function ambiguous(wanted: string, miners: readonly MinerName[]): RigbridgeError {
  const rows = miners.map(({ id, uid, name, hostDescription }) => [`${id}`, uid ?? "", name, hostDescription]);
  const list = indented(table(["Id", "Uid", "Name", "Address"], rows));
  return new RigbridgeError("input.invalid", `${miners.length} miners are called "${wanted}"; say its id:\n${list}`);
}
