import type { Database } from "./database.ts";
import { upsert } from "./upsert.ts";

/** The id for the energy of all miners. */
export const allMiners = -1;

/** The energy drawn by the miners of each group, subgroups included, by id; 0 = miners in no group. */
export interface GroupEnergies {
  /** Wh. */
  all(): ReadonlyMap<number, number>;
  /** In one transaction. Throws store.full. */
  save(batch: ReadonlyMap<number, number>): Promise<void>;
  /** Throws store.full. */
  forget(groupId: number): Promise<void>;
}

const energyRows = upsert("group_energy", { group_id: "integer", energy: "real" }, ["group_id"]);

export const openGroupEnergies = async (database: Database): Promise<GroupEnergies> => {
  const { tables } = database;
  const rows = await tables.selectFrom("group_energy").selectAll().execute();
  const energies = new Map(rows.map(({ group_id, energy }) => [group_id, energy]));
  return {
    all: () => energies,
    save: async (batch) => {
      await database.write([energyRows([...batch])]);
      for (const [groupId, energy] of batch) energies.set(groupId, energy);
    },
    forget: async (groupId) => {
      await database.free([tables.deleteFrom("group_energy").where("group_id", "=", groupId)]);
      energies.delete(groupId);
    },
  };
};
