import type { SessionLog, SessionRow } from "../contract/session.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** The sessions of browsers (src/http/sessions.ts). */
export const openSessions = (sqlite: SqliteConnection): SessionLog => {
  const { tables } = sqlite;
  const select = sqlite.prepare("select digest, user_id, key_digest, created, used from session");
  const upsert = sqlite.prepare(
    "insert into session (digest, user_id, key_digest, created, used) values (?, ?, ?, ?, ?) " +
      "on conflict do update set used = excluded.used",
  );
  return {
    all: () =>
      sqlite.read(() =>
        select.all().map(
          (row): SessionRow => ({
            digest: String(row.digest),
            userId: row.user_id === null ? null : Number(row.user_id),
            keyDigest: String(row.key_digest),
            created: Number(row.created),
            used: Number(row.used),
          }),
        ),
      ),
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
