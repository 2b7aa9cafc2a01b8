import { deferredDelete, unlessFull } from "./deferred-delete.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Tables } from "./tables.ts";

/** A rig that shows ever new pools grows no further than this; its oldest combinations are forgotten. */
const perMiner = 1_000;

/** Ids of the pools on a miner: the same URL and worker keep theirs, and none is given twice. */
export interface ActivePools {
  /**
   * Synchronous, and never fails: what cannot be written now is kept and written with the next. `ordinal` tells
   * apart pools of the same URL and worker, from 0.
   */
  idOf(minerId: number, url: string, worker: string, ordinal: number): number;
  forget(minerId: number): Promise<void>;
  /** Writes what is still unwritten. Throws store.full. */
  flush(): void;
}

interface MinerPools {
  last: number;
  readonly ids: Map<string, number>;
}

const keyOf = (url: string, worker: string, ordinal: number): string => `${ordinal}\n${url}\n${worker}`;

export const openActivePools = async (sqlite: SqliteConnection): Promise<ActivePools> => {
  const { tables } = sqlite;
  const miners = new Map<number, MinerPools>();
  let unwritten: { added: Tables["active_pool"]; dropped: number | undefined }[] = [];

  const poolsOf = (minerId: number): MinerPools => {
    const pools = miners.get(minerId) ?? { last: 0, ids: new Map() };
    miners.set(minerId, pools);
    return pools;
  };

  for (const row of await tables.selectFrom("active_pool").selectAll().orderBy("miner_id").orderBy("id").execute()) {
    const pools = poolsOf(row.miner_id);
    pools.ids.set(keyOf(row.url, row.worker, row.ordinal), row.id);
    pools.last = row.id;
  }

  const removal = deferredDelete(sqlite, (run, minerId) =>
    run(tables.deleteFrom("active_pool").where("miner_id", "=", minerId)),
  );

  const flush = (): void => {
    removal.flush();
    if (unwritten.length === 0) return;
    sqlite.write((run) => {
      for (const { added, dropped } of unwritten) {
        run(tables.insertInto("active_pool").values(added));
        if (dropped !== undefined)
          run(tables.deleteFrom("active_pool").where("miner_id", "=", added.miner_id).where("id", "=", dropped));
      }
    });
    unwritten = [];
  };

  /** The id of the oldest combination when there are too many. */
  const dropOldest = (ids: Map<string, number>): number | undefined => {
    const [oldest] = ids.size > perMiner ? ids : [];
    if (oldest === undefined) return undefined;
    ids.delete(oldest[0]);
    return oldest[1];
  };

  const assignId = (minerId: number, url: string, worker: string, ordinal: number): number => {
    const pools = poolsOf(minerId);
    pools.last += 1;
    pools.ids.set(keyOf(url, worker, ordinal), pools.last);
    const added = { miner_id: minerId, id: pools.last, url, worker, ordinal };
    unwritten.push({ added, dropped: dropOldest(pools.ids) });
    // Kept in `unwritten` otherwise; reading a rig must go on while the disk is full.
    unlessFull(flush);
    return pools.last;
  };

  return {
    idOf: (minerId, url, worker, ordinal) =>
      miners.get(minerId)?.ids.get(keyOf(url, worker, ordinal)) ?? assignId(minerId, url, worker, ordinal),

    forget: async (minerId) => {
      unwritten = unwritten.filter(({ added }) => added.miner_id !== minerId);
      miners.delete(minerId);
      removal.forget(minerId);
    },

    flush,
  };
};
