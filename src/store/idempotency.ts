import type { Kysely } from "kysely";
import type { CommandState } from "../contract/resources.ts";
import { unlessFull } from "./deferred-delete.ts";
import type { Run, SqliteConnection } from "./sqlite-connection.ts";
import type { Tables } from "./tables.ts";

/** How long a key is known, ms. */
const keptMs = 86_400_000;
/** Of one caller: keys, and characters of their answers; the newest are kept. */
const keptKeys = 10_000;
const keptCharacters = 16_000_000;
/** Interval of dropping old keys, in new ones; a long answer counts as several. */
const pruneEvery = 100;
const charactersLikeKey = 10_000;
/** Answers kept in memory while the store cannot be written. */
const unwrittenLimit = 1_000;

/** The key of a request, and who sent it: the keys of two callers have nothing to do with each other. */
export interface RequestKey {
  readonly caller: string;
  readonly key: string;
}

export interface KeyedRequest {
  /** Digest of the operation and its input. */
  readonly request: string;
  /** JSON; null: the request is running, or the service stopped before it was answered. */
  readonly answer: string | null;
  /** The first command that it has started. */
  readonly command: { readonly id: number; readonly state: CommandState; readonly message: string } | null;
  /** The first run that it has started. */
  readonly runId: number | null;
}

/**
 * Writes with an `Idempotency-Key`, for 24 h: each has a row before it does anything, and gets its answer afterwards. While
 * the store cannot be written, answers are kept in memory.
 */
export interface IdempotencyLog {
  find(of: RequestKey): Promise<KeyedRequest | undefined>;
  begin(of: RequestKey, request: string): void;
  end(of: RequestKey, request: string, answer: string): void;
  /** For a request that has done nothing. */
  forget(of: RequestKey): void;
  /** Writes unwritten answers. Throws store.full. */
  flush(): void;
}

/** Binds a request to the command or the run that it starts, in the transaction that adds this. */
export function bindRequest(
  run: Run,
  tables: Kysely<Tables>,
  { caller, key }: RequestKey,
  started: { readonly command_id: number } | { readonly run_id: number },
): void {
  const request = tables.updateTable("idempotency").where("caller", "=", caller).where("key", "=", key);
  run(request.set(started).where("command_id" in started ? "command_id" : "run_id", "is", null));
}

export const openIdempotency = (sqlite: SqliteConnection, now: () => number): IdempotencyLog => {
  const { tables } = sqlite;
  const unwritten = new Map<string, Answered>();
  const insert = sqlite.prepare("insert or replace into idempotency (caller, key, request, at) values (?, ?, ?, ?)");
  const upsert = sqlite.prepare(
    "insert into idempotency (caller, key, request, answer, at) values (?, ?, ?, ?, ?) " +
      "on conflict do update set answer = excluded.answer, at = excluded.at",
  );
  const remove = sqlite.prepare("delete from idempotency where caller = ? and key = ?");
  const dropOld = sqlite.prepare("delete from idempotency where abs(at - ?) >= ?");
  const dropExcess = sqlite.prepare(
    `delete from idempotency where rowid in (select id from (
      select rowid as id, row_number() over newest as keys, sum(length(answer)) over newest as characters
      from idempotency window newest as (partition by caller order by rowid desc)
    ) where keys > ? or characters > ?)`,
  );
  let sincePrune = 0;
  const prune = (): void => {
    sincePrune = 0;
    dropOld.run(now(), keptMs);
    dropExcess.run(keptKeys, keptCharacters);
  };
  unlessFull(() => sqlite.free(prune));

  const flush = (): void => {
    if (unwritten.size === 0) return;
    sqlite.write(() => {
      for (const { caller, key, request, answer, at } of unwritten.values())
        upsert.run(caller, key, request, answer, at);
    });
    unwritten.clear();
  };

  return {
    find: async (of) => {
      const kept = unwritten.get(nameOf(of));
      if (kept !== undefined) return { ...kept, command: null, runId: null };
      const row = await tables
        .selectFrom("idempotency")
        .leftJoin("command", "command.id", "command_id")
        .select(["request", "answer", "at", "run_id as runId", "command.id", "command.state", "command.message"])
        .where("caller", "=", of.caller)
        .where("key", "=", of.key)
        .executeTakeFirst();
      // The clock may have been set back.
      if (row === undefined || Math.abs(now() - row.at) >= keptMs) return undefined;
      const { id, state, message, ...found } = row;
      const isBound = id !== null && state !== null && message !== null;
      return { ...found, command: isBound ? { id, state, message } : null };
    },

    begin: ({ caller, key }, request) => {
      unlessFull(() => {
        flush();
        sqlite.write(() => {
          insert.run(caller, key, request, now());
          sincePrune += 1;
          if (sincePrune >= pruneEvery) prune();
        });
      });
    },

    end: (of, request, answer) => {
      const at = now();
      sincePrune += answer.length / charactersLikeKey;
      const isWritten = unlessFull(() => {
        sqlite.write(() => upsert.run(of.caller, of.key, request, answer, at));
      });
      if (!isWritten && unwritten.size < unwrittenLimit) unwritten.set(nameOf(of), { ...of, request, answer, at });
    },

    forget: ({ caller, key }) => {
      unlessFull(() => {
        sqlite.free(() => remove.run(caller, key));
      });
    },

    flush,
  };
};

interface Answered extends RequestKey {
  readonly request: string;
  readonly answer: string;
  readonly at: number;
}

const nameOf = ({ caller, key }: RequestKey): string => `${caller} ${key}`;
