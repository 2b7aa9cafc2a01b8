import { setTimeout as pause } from "node:timers/promises";
import { startPostgres } from "../../store/postgres.ts";
import { until } from "../../until.ts";

/** A PostgreSQL whose standby server has everything that it has confirmed, at a place that leads to whichever takes writes. */
export interface Engine {
  /** Of the server that takes writes now. */
  readonly place: { readonly host: string; readonly port: number };
  readonly database: string;
  url(): string;
  run(sql: string): Promise<Record<string, unknown>[]>;
  /** Ends the server at once; resolves when it answers again, after the given ms. */
  restart(awayMs: number): Promise<void>;
  /** Ends the server at once; after the given ms its standby server takes its place, and gets one of its own. */
  failOver(afterMs: number): Promise<void>;
  stop(): Promise<void>;
}

const settings = [
  "max_connections=60",
  // Seconds otherwise, in which nothing is confirmed after a restart.
  "wal_retrieve_retry_interval=200ms",
];

export async function startEngine(): Promise<Engine> {
  let primary = await startPostgres(settings);
  const database = await primary.database();
  let standby = await primary.replica();
  const run = (sql: string) => primary.run(sql, database);

  const confirmBy = async (standbys: "*" | ""): Promise<void> => {
    await primary.run(`alter system set synchronous_standby_names = '${standbys}'`);
    await primary.run("select pg_reload_conf()");
  };
  /** Resolves when the standby server has everything so far; from then on nothing is confirmed that it does not have. */
  const waitForStandby = async (): Promise<void> => {
    await confirmBy("*");
    const following = "select 1 from pg_stat_replication where sync_state = 'sync'";
    await until(async () => (await primary.run(following)).length > 0, "the standby server to follow");
    await primary.run("select pg_logical_emit_message(true, 'proof', '')");
  };
  await waitForStandby();

  return {
    place: {
      get host() {
        return primary.host;
      },
      get port() {
        return primary.port;
      },
    },
    database,
    url: () => primary.url(database),
    run,
    restart: async (awayMs) => {
      await primary.kill();
      await pause(awayMs);
      await primary.start();
    },
    failOver: async (afterMs) => {
      const old = primary;
      await old.kill();
      await pause(afterMs);
      await standby.promote();
      primary = standby;
      // As a cluster's manager does, since there is no standby server yet.
      await confirmBy("");
      await old.stop();
      standby = await primary.replica();
      await waitForStandby();
    },
    stop: async () => {
      await standby.stop();
      await primary.stop();
    },
  };
}
