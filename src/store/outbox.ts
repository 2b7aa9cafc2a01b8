import type { Selectable } from "kysely";
import type { Database, Statement } from "./database.ts";
import { unlessFull } from "./deferred-delete.ts";
import { rowsFlusher } from "./flusher.ts";
import type { NewOutboxRow, OutboxRow } from "./resources.ts";
import type { Tables } from "./tables.ts";

/** Rows kept, in memory and on disk. */
export const outboxLimit = 10_000;

export interface OutboxLog {
  /** Oldest first. */
  rows(): Iterable<OutboxRow>;
  /** Adds rows, and drops those over the limit; failed writes are kept in memory and repeated later. */
  add(rows: readonly NewOutboxRow[]): Promise<void>;
  /** Replaces rows that exist, in one transaction: at once in memory, and stored when it resolves. */
  change(rows: readonly OutboxRow[]): Promise<void>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): Promise<void>;
}

export const openOutbox = async (database: Database): Promise<OutboxLog> => {
  const { tables } = database;
  const stored = await tables.selectFrom("outbox").selectAll().orderBy("id").execute();
  const all = new Map(stored.map((row) => [row.id, fromRow(row)]));
  let last = await database.lastId("outbox");
  const unwritten = new Set<number>();
  const dropped = new Set<number>();

  const upsert = (row: OutboxRow): Statement => {
    const values = toRow(row);
    return tables
      .insertInto("outbox")
      .values(values)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(values));
  };

  const flush = rowsFlusher(database, "outbox", { all, unwritten, dropped, upsert, last: () => last });

  const put = (row: OutboxRow): void => {
    all.set(row.id, row);
    unwritten.add(row.id);
  };

  /** Finished rows go first, then the least urgent, then the oldest. */
  const limit = (): void => {
    const excess = all.size - outboxLimit;
    if (excess <= 0) return;
    const rank = ({ state, severity }: OutboxRow): number => {
      if (state === "sending") return 3;
      if (state !== "waiting") return 0;
      return severity === "info" ? 1 : 2;
    };
    const least = [...all.values()].sort((a, b) => rank(a) - rank(b) || a.id - b.id).slice(0, excess);
    for (const { id } of least) {
      all.delete(id);
      unwritten.delete(id);
      dropped.add(id);
    }
  };

  return {
    rows: () => all.values(),
    add: async (rows) => {
      for (const row of rows) {
        last += 1;
        put({ ...row, id: last, over: null, batch: null, state: "waiting", tries: 0, ended: null, error: null });
      }
      limit();
      await unlessFull(flush);
    },
    change: async (rows) => {
      for (const row of rows) if (all.has(row.id)) put(row);
      await unlessFull(flush);
    },
    flush,
  };
};

const fromRow = ({ miner_group: group, alarm_time: alarmTime, ...row }: Selectable<Tables["outbox"]>): OutboxRow => ({
  ...row,
  group,
  alarmTime,
});

const toRow = ({ group, alarmTime, ...row }: OutboxRow) => ({ ...row, miner_group: group, alarm_time: alarmTime });
