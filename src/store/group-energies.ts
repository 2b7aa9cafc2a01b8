import type { SqliteConnection } from "./sqlite-connection.ts";

/** The id for the energy of all miners. */
export const allMiners = -1;

/** The energy drawn by the miners of each group, subgroups included, by id; 0 = miners in no group. */
export interface GroupEnergies {
  /** Wh. */
  all(): ReadonlyMap<number, number>;
  /** In one transaction. Throws store.full. */
  save(batch: ReadonlyMap<number, number>): void;
  /** Throws store.full. */
  forget(groupId: number): void;
}

export const openGroupEnergies = async (sqlite: SqliteConnection): Promise<GroupEnergies> => {
  const { tables } = sqlite;
  const rows = await tables.selectFrom("group_energy").selectAll().execute();
  const energies = new Map(rows.map(({ group_id, energy }) => [group_id, energy]));
  const upsert = sqlite.prepare(
    "insert into group_energy (group_id, energy) values (?, ?) on conflict do update set energy = excluded.energy",
  );
  return {
    all: () => energies,
    save: (batch) => {
      sqlite.write(() => {
        for (const [groupId, energy] of batch) upsert.run(groupId, energy);
      });
      for (const [groupId, energy] of batch) energies.set(groupId, energy);
    },
    forget: (groupId) => {
      sqlite.free((run) => run(tables.deleteFrom("group_energy").where("group_id", "=", groupId)));
      energies.delete(groupId);
    },
  };
};
