import { join } from "node:path";
import { hasPostgres, startPostgres } from "../store/postgres.ts";
import { lateness, middle, type Watching } from "./fleets.ts";
import { inFolder } from "./folder.ts";
import { LeftOut } from "./left-out.ts";
import { cpuWithChildren } from "./linux-processes.ts";
import { type Measured, measured } from "./statistics.ts";

/** The reads of 100,000 rigs while their samples are written to PostgreSQL, and after it to an SQLite file. */
export async function largePair(quick: boolean): Promise<Measured[]> {
  if (process.platform !== "linux") throw new LeftOut("it needs Linux");
  if (!hasPostgres("the part large-pair")) throw new LeftOut("there is no PostgreSQL");
  const size = quick
    ? ({ rigs: 200, interval: 10, workers: 2, seconds: 5, windows: 1 } as const)
    : ({ rigs: 100_000, interval: 30, workers: "auto", seconds: 30, windows: 5 } as const);
  const postgres = await overPostgres(size);
  const sqlite = await inFolder((folder) => watched({ ...size, store: { file: join(folder, "rigbridge.db") } }));
  return [
    measured("pair.100000at30.lateness.p99", postgres.p99, postgres.note),
    measured("pair.100000at30.sqlite.p99", sqlite.p99, sqlite.note),
    measured("pair.100000at30.memory", [postgres.memory], `SQLite ${sqlite.memory.toFixed(2)} GB`),
  ];
}

type Size = Pick<Watching, "rigs" | "interval" | "workers" | "seconds" | "windows">;

async function overPostgres(size: Size) {
  // As a server that is meant to keep what it has confirmed.
  const server = await startPostgres(["fsync=on", "shared_buffers=128MB", "autovacuum=on"]);
  try {
    const database = server.url(await server.database());
    const [postmaster = 0] = await server.pids();
    return await watched({ ...size, store: { database }, databaseCpu: () => cpuWithChildren(postmaster) });
  } finally {
    await server.stop();
  }
}

async function watched(watching: Omit<Watching, "silentOfTen">) {
  const { late, note, rows, mostWaiting, others, resident, firstReads } = await lateness({
    ...watching,
    silentOfTen: 0,
    firstReadsWithin: 600,
  });
  const share = (cores: number): string => `${Math.round(100 * cores)} %`;
  const most = (Math.max(...late.map((window) => window.most)) / 1000).toFixed(1);
  return {
    p99: late.map(({ p99 }) => p99 / 1000),
    memory: resident / 1e9,
    note:
      `${note}, simulator ${share(others.simulator)}, database ${share(others.database)}; ${middle(late)}, latest ${most} s; ` +
      `${Math.round(rows)} rows written a second, at most ${mostWaiting} waiting; all read first after ${Math.round(firstReads)} s`,
  };
}
