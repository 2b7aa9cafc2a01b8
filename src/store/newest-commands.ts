import type { SQLOutputValue, StatementSync } from "node:sqlite";
import type { NewestCommands } from "./database.ts";

/** A connection of SQLite. */
interface Reader {
  prepare(sql: string): StatementSync;
  read<T>(work: () => T): T;
}

/** A miner and its newest command that is not in the result yet. */
interface Head {
  readonly minerId: number;
  readonly id: number;
}

/**
 * Merges the commands of several miners from the ends of their ranges in an index: however many commands of others lie
 * between, a call costs one index look-up per miner and one or two per command returned.
 */
export function newestCommands(sqlite: Reader): NewestCommands {
  const prepare = (sql: string) => sqlite.prepare(sql);
  /** By the index command_miner, or command_actor. */
  const lookups = (actor: string) => {
    const ofMiner = (miner: string) => `miner_id = ${miner} ${actor} and id > $after`;
    const last = (miner: string, bound: string) =>
      `select id from command where ${ofMiner(miner)} ${bound} order by id desc limit 1`;
    return {
      heads: prepare(
        `select miner, id from (select value as miner, (${last("value", "")}) as id from json_each($miners))
          where id is not null order by id desc limit $limit`,
      ),
      run: prepare(`select id from command where ${ofMiner("$miner")} and id <= $head order by id desc limit $limit`),
      below: prepare(last("$miner", "and id <= $floor")),
    };
  };
  const ofAnybody = lookups("");
  const ofActor = lookups("and actor = $actor");
  const minersOfActor = prepare(
    `with recursive leap(value) as (
      select min(miner_id) from command where actor = $actor
      union all
      select (select min(miner_id) from command where actor = $actor and miner_id > leap.value)
        from leap where leap.value is not null
    )
    select value as miner from leap where value is not null`,
  );
  const lastBefore = prepare("select id from command where time < ? order by time desc, id desc limit 1");
  const ofAll = prepare("select id from command where id > ? order by id desc limit ?");

  const merged = (minerIds: readonly number[], actor: string | undefined, since: number, limit: number): number[] => {
    const { heads: headsOf, run, below } = actor === undefined ? ofAnybody : ofActor;
    const whose = actor === undefined ? {} : { actor };
    const heads = headsOf
      .all({ ...whose, after: since, miners: JSON.stringify(minerIds), limit })
      .map((row): Head => ({ minerId: integer(row.miner), id: integer(row.id) }));
    const ids: number[] = [];
    for (let head = heads.shift(); head !== undefined && ids.length < limit; head = heads.shift()) {
      // Down to the newest command of the next miner.
      const { minerId: miner, id } = head;
      const floor = heads[0]?.id ?? since;
      const found = run.all({ ...whose, miner, after: floor, head: id, limit: limit - ids.length });
      ids.push(...found.map((row) => integer(row.id)));
      const next = floor === since ? undefined : below.get({ ...whose, miner, after: since, floor });
      if (next !== undefined) insert(heads, { minerId: miner, id: integer(next.id) });
    }
    return ids;
  };

  return async ({ minerIds, actor, since }, limit) =>
    sqlite.read(() => {
      const after = since === undefined ? 0 : integer(lastBefore.get(since)?.id);
      if (minerIds === undefined && actor === undefined) return ofAll.all(after, limit).map((row) => integer(row.id));
      const miners = minerIds ?? minersOfActor.all({ actor: actor ?? "" }).map((row) => integer(row.miner));
      return merged(miners, actor, after, limit);
    });
}

/** Keeps the newest first. */
function insert(heads: Head[], head: Head): void {
  const at = heads.findIndex(({ id }) => id < head.id);
  heads.splice(at === -1 ? heads.length : at, 0, head);
}

const integer = (value: SQLOutputValue | undefined): number => (typeof value === "number" ? value : 0);
