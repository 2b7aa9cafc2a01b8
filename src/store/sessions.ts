import type { SessionLog, SessionRow } from "../contract/session.ts";
import { type Database, plain } from "./database.ts";

const upsert =
  "insert into session (digest, user_id, key_digest, created, used) values (?, ?, ?, ?, ?) " +
  "on conflict (digest) do update set used = excluded.used";

/** The sessions of browsers (src/http/sessions.ts). */
export const openSessions = async (database: Database, store: string): Promise<SessionLog> => {
  const { tables } = database;
  const stored = await tables.selectFrom("session").selectAll().execute();
  const rows = new Map<string, SessionRow>(
    stored.map(({ user_id, key_digest, ...row }) => [row.digest, { ...row, userId: user_id, keyDigest: key_digest }]),
  );
  return {
    store,
    all: () => [...rows.values()],
    save: async (row) => {
      const { digest, userId, keyDigest, created, used } = row;
      await database.write([plain(upsert, digest, userId, keyDigest, Math.round(created), Math.round(used))]);
      rows.set(digest, row);
    },
    remove: async (digests) => {
      await database.free(digests.map((digest) => tables.deleteFrom("session").where("digest", "=", digest)));
      for (const digest of digests) rows.delete(digest);
    },
  };
};
