import { openStore as openFile, openPostgresStore, type Store, type StoreOptions } from "../src/store/index.ts";
import type { Postgres } from "./store/postgres.ts";

/** In the project `postgres`, where the same tests run over a database server. */
export const isInServer = process.env.TEST_STORE === "postgres";

/** For all tests of this process; it ends with it. */
let server: Promise<Postgres> | null = null;
/** By the file that it stands for. */
const databases = new Map<string, Promise<string>>();

/** Opens a store, and the same one for the same file. */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { file, now, idsAfter = 0 } = options;
  // The demo is always in memory.
  if (!isInServer || idsAfter > 0) return openFile(options);
  // What is lost when the machine fails is no part of these tests.
  server ??= import("./store/postgres.ts").then(({ startPostgres }) => startPostgres(["fsync=off"]));
  const postgres = await server;
  const database = (file === ":memory:" ? undefined : databases.get(file)) ?? postgres.database();
  if (file !== ":memory:") databases.set(file, database);
  return openPostgresStore({ url: postgres.url(await database), now, site: "home", address: null });
};
