import type { SqliteConnection } from "./sqlite-connection.ts";

/** Old runs that are checked before each new one. */
const pruneBatch = 1_000;

interface Run {
  readonly id: number;
  readonly time: number;
  readonly total: number;
}

/** Decides which runs of a kind are kept. Only the oldest are read: there may be 200,000. */
export function keptRuns(
  sqlite: SqliteConnection,
  cause: "null" | "not null",
  most: { runs: number; results: number },
) {
  const counted = sqlite.prepare(
    `select count(*) as runs, sum(total) as results from bulk_action where cause is ${cause}`,
  );
  const oldest = sqlite.prepare(
    `select id, time, total from bulk_action where cause is ${cause} and state <> 'running' order by id limit ${pruneBatch}`,
  );
  const row = counted.get();
  let [runs, results] = [Number(row?.runs ?? 0), Number(row?.results ?? 0)];
  return {
    added: (total: number): void => {
      runs += 1;
      results += total;
    },
    /** The oldest runs, as long as they are older than this or there are too many. */
    outdated: (before: number): Run[] => {
      const dropped: Run[] = [];
      for (const { id, time, total } of oldest.iterate()) {
        const run = { id: Number(id), time: Number(time), total: Number(total) };
        if (!(run.time < before || runs > most.runs || (runs > 1 && results > most.results))) break;
        dropped.push(run);
        runs -= 1;
        results -= run.total;
      }
      return dropped;
    },
  };
}
