import { type Database, plain } from "./database.ts";

/** Old runs that are checked before each new one. */
const pruneBatch = 1_000;

interface Run {
  readonly id: number;
  readonly time: number;
  readonly total: number;
}

/** Decides which runs of a kind are kept. Only the oldest are read: there may be 200,000. */
export async function keptRuns(
  database: Database,
  cause: "null" | "not null",
  most: { runs: number; results: number },
) {
  const counted = `select count(*) as runs, sum(total) as results from bulk_action where cause is ${cause}`;
  const oldest = `select id, time, total from bulk_action where cause is ${cause} and state <> 'running' order by id limit ?`;
  const [row] = await database.rows(plain(counted));
  let [runs, results] = [Number(row?.runs ?? 0), Number(row?.results ?? 0)];
  return {
    added: (total: number): void => {
      runs += 1;
      results += total;
    },
    /** The oldest runs, as long as they are older than this or there are too many. */
    outdated: async (before: number): Promise<Run[]> => {
      const isOutdated = ({ time }: Run): boolean =>
        time < before || runs > most.runs || (runs > 1 && results > most.results);
      const read = async (most: number): Promise<Run[]> =>
        (await database.rows(plain(oldest, most))).map(({ id, time, total }) => ({
          id: Number(id),
          time: Number(time),
          total: Number(total),
        }));
      const dropped: Run[] = [];
      if ((await read(1)).some(isOutdated))
        for (const run of await read(pruneBatch)) {
          if (!isOutdated(run)) break;
          dropped.push(run);
          runs -= 1;
          results -= run.total;
        }
      return dropped;
    },
  };
}
