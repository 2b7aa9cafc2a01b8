import { type Database, plain } from "./database.ts";
import { deferredDelete } from "./deferred-delete.ts";
import { flusher } from "./flusher.ts";
import { StandbyRows } from "./standby-rows.ts";
import type { Tables } from "./tables.ts";
import { upsert } from "./upsert.ts";
import { writeSoon } from "./write-soon.ts";

/** Bounds a rig that keeps reporting new pools; the oldest combinations are dropped. */
const perMiner = 1_000;

/** Ids of the pools on a miner: the same URL and worker keep their id, and no id is reused. */
export interface ActivePools {
  /**
   * Synchronous, and never throws: new ones are written together at the end of this turn of the event loop, and failed
   * writes are repeated later. `ordinal` distinguishes pools with the same URL and worker, from 0.
   */
  idOf(minerId: number, url: string, worker: string, ordinal: number): number;
  forget(minerId: number): Promise<void>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): Promise<void>;
}

interface MinerPools {
  last: number;
  readonly ids: Map<string, number>;
}

const poolRows = upsert(
  "active_pool",
  { miner_id: "integer", id: "integer", url: "text", worker: "text", ordinal: "integer" },
  ["miner_id", "id"],
);

const keyOf = (url: string, worker: string, ordinal: number): string => `${ordinal}\n${url}\n${worker}`;

type PoolRow = Tables["active_pool"];

/** For a service that waits. */
export const activePoolRows = () =>
  new StandbyRows({ from: "active_pool", key: "miner_id || ' ' || id", read: (row: PoolRow) => row });

const inOrder = (one: PoolRow, other: PoolRow): number => one.miner_id - other.miner_id || one.id - other.id;

export const openActivePools = async (
  database: Database,
  standby?: ReturnType<typeof activePoolRows>,
): Promise<ActivePools> => {
  const { tables } = database;
  const miners = new Map<number, MinerPools>();
  let unwritten: { added: Tables["active_pool"]; dropped: number | undefined }[] = [];

  const poolsOf = (minerId: number): MinerPools => {
    const pools = miners.get(minerId) ?? { last: 0, ids: new Map() };
    miners.set(minerId, pools);
    return pools;
  };

  const stored = tables.selectFrom("active_pool").selectAll().orderBy("miner_id").orderBy("id");
  for (const row of standby?.take()?.toSorted(inOrder) ?? (await stored.execute())) {
    const pools = poolsOf(row.miner_id);
    pools.ids.set(keyOf(row.url, row.worker, row.ordinal), row.id);
    pools.last = row.id;
  }

  const drop = "delete from active_pool where miner_id = ? and id = ?";

  const removal = deferredDelete(database, (minerId) => [
    tables.deleteFrom("active_pool").where("miner_id", "=", minerId),
  ]);

  const flushRows = flusher(
    (statements) => database.write(statements),
    () => {
      const rows = unwritten;
      if (rows.length === 0) return null;
      unwritten = [];
      return {
        statements: [
          poolRows(
            rows.map(({ added: { miner_id, id, url, worker, ordinal } }) => [miner_id, id, url, worker, ordinal]),
          ),
          ...rows.flatMap(({ added, dropped }) =>
            dropped === undefined ? [] : [plain(drop, added.miner_id, dropped)],
          ),
        ],
        failed: () => {
          unwritten = [...rows.filter(({ added }) => miners.has(added.miner_id)), ...unwritten];
        },
      };
    },
  );

  const flush = async (): Promise<void> => {
    await removal.flush();
    await flushRows();
  };

  // Rigs are read even while their pools cannot be written.
  const flushSoon = writeSoon(flush);

  /** Drops the oldest combination if there are too many; returns its id. */
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
    flushSoon();
    return pools.last;
  };

  return {
    idOf: (minerId, url, worker, ordinal) =>
      miners.get(minerId)?.ids.get(keyOf(url, worker, ordinal)) ?? assignId(minerId, url, worker, ordinal),

    forget: async (minerId) => {
      unwritten = unwritten.filter(({ added }) => added.miner_id !== minerId);
      miners.delete(minerId);
      await removal.forget(minerId);
    },

    flush,
  };
};
