import type { SessionLog, SessionRow } from "../contract/session.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** The sessions of browsers (src/http/sessions.ts). */
export const openSessions = async (sqlite: SqliteConnection): Promise<SessionLog> => {
  const { tables } = sqlite;
  const rows = await tables.selectFrom("session").selectAll().execute();
  const all = rows.map(
    ({ digest, user_id, key_digest, created, used }): SessionRow => ({
      ...{ digest, userId: user_id, keyDigest: key_digest, created, used },
    }),
  );
  const upsert = sqlite.prepare(
    "insert into session (digest, user_id, key_digest, created, used) values (?, ?, ?, ?, ?) " +
      "on conflict do update set used = excluded.used",
  );
  return {
    all: () => all,
    save: ({ digest, userId, keyDigest, created, used }) => {
      sqlite.write(() => upsert.run(digest, userId, keyDigest, Math.round(created), Math.round(used)));
    },
    remove: (digests) => {
      sqlite.free((run) => {
        for (const digest of digests) run(tables.deleteFrom("session").where("digest", "=", digest));
      });
    },
  };
};
