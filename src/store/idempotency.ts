import type { Kysely } from "kysely";
import { RigbridgeError } from "../contract/problems.ts";
import type { CommandState } from "../contract/resources.ts";
import { type Database, plain, type Statement } from "./database.ts";
import { unlessFull } from "./deferred-delete.ts";
import { flusher } from "./flusher.ts";
import { KnownKeys } from "./known-keys.ts";
import { MayBeStored } from "./postgres-failures.ts";
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
/** Keys whose first write may be stored. */
const mostInDoubt = 10_000;

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
 * Writes with an `Idempotency-Key`, for 24 h: each has a row with what it does first, and gets its answer afterwards. While
 * the store cannot be written, answers are kept in memory.
 */
export interface IdempotencyLog {
  find(of: RequestKey): Promise<KeyedRequest | undefined>;
  begin(of: RequestKey, request: string): Promise<void>;
  /** The same for work whose first effect is a write of this store: the row is added with that write if this takes less time. */
  beginWith<T>(of: RequestKey, request: string, work: () => Promise<T>): Promise<T>;
  end(of: RequestKey, request: string, answer: string): Promise<void>;
  /** For a request that has done nothing. */
  forget(of: RequestKey): Promise<void>;
  /** Writes unwritten answers. Throws store.full. */
  flush(): Promise<void>;
}

/** Binds a request to the command or the run that it starts, in the transaction that adds this. */
export function bindRequest(
  tables: Kysely<Tables>,
  { caller, key }: RequestKey,
  started: { readonly command_id: number } | { readonly run_id: number },
): Statement {
  const request = tables.updateTable("idempotency").where("caller", "=", caller).where("key", "=", key);
  return request.set(started).where("command_id" in started ? "command_id" : "run_id", "is", null);
}

const added = "insert into idempotency (caller, key, request, at) values (?, ?, ?, ?) on conflict (caller, key)";
const insertNew = `${added} do nothing`;
const insert =
  `${added} do update set ` +
  "request = excluded.request, at = excluded.at, command_id = null, run_id = null, answer = null";
const upsert =
  "insert into idempotency (caller, key, request, answer, at) values (?, ?, ?, ?, ?) " +
  "on conflict (caller, key) do update set answer = excluded.answer, at = excluded.at";
const dropOld = "delete from idempotency where abs(at - ?) >= ?";
const dropExcess = `delete from idempotency where (caller, key) in (select caller, key from (
    select caller, key, row_number() over newest as keys, sum(length(answer)) over newest as characters
    from idempotency window newest as (partition by caller order by at desc, key)
  ) as kept where keys > ? or characters > ?)`;

export const openIdempotency = async (database: Database, now: () => number): Promise<IdempotencyLog> => {
  const { tables } = database;
  const unwritten = new Map<string, Answered>();
  /** Whose first write may be stored, or still may be. */
  const inDoubt = new Set<string>();
  /** Requests that are running, some of which may have no row yet. */
  const running = new Map<string, string>();
  let sincePrune = 0;
  const pruning = (): Statement[] => {
    sincePrune = 0;
    return [plain(dropOld, now(), keptMs), plain(dropExcess, keptKeys, keptCharacters)];
  };
  await unlessFull(() => database.free(pruning()));
  const known = await KnownKeys.open(async () =>
    (await tables.selectFrom("idempotency").select(["caller", "key"]).execute()).map(nameOf),
  );

  const answered = ({ caller, key, request, answer, at }: Answered): Statement =>
    plain(upsert, caller, key, request, answer, at);

  const flush = flusher(
    (statements) => database.write(statements),
    () => {
      const rows = [...unwritten.values()];
      return rows.length === 0
        ? null
        : {
            statements: rows.map(answered),
            written: () => {
              for (const row of rows) if (unwritten.get(nameOf(row)) === row) unwritten.delete(nameOf(row));
            },
            failed: () => undefined,
          };
    },
  );

  const stored = (of: RequestKey) =>
    tables
      .selectFrom("idempotency")
      .leftJoin("command", "command.id", "command_id")
      .select(["request", "answer", "at", "run_id as runId", "command.id", "command.state", "command.message"])
      .where("caller", "=", of.caller)
      .where("key", "=", of.key)
      .executeTakeFirst();

  const begun = ({ caller, key }: RequestKey, request: string): readonly Statement[] => {
    sincePrune += 1;
    known.add(nameOf({ caller, key }));
    const row = plain(insert, caller, key, request, now());
    return sincePrune >= pruneEvery ? [row, ...pruning()] : [row];
  };

  const begin = async (of: RequestKey, request: string): Promise<void> => {
    await unlessFull(async () => {
      if (unwritten.size > 0) await flush();
      await database.write(begun(of, request));
    }).catch(doubting(of));
  };

  const doubting =
    (of: RequestKey) =>
    (error: unknown): never => {
      if (error instanceof MayBeStored && inDoubt.size < mostInDoubt) inDoubt.add(nameOf(of));
      throw error;
    };

  return {
    find: async (of) => {
      const kept = unwritten.get(nameOf(of));
      if (kept !== undefined) return { ...kept, command: null, runId: null };
      if (inDoubt.has(nameOf(of))) {
        // A write, because it waits until the server has ended the one in doubt.
        await database.write([plain("update idempotency set at = at where caller = ? and key = ?", of.caller, of.key)]);
        inDoubt.delete(nameOf(of));
      }
      const row = known.has(nameOf(of)) ? await stored(of) : undefined;
      // The clock may have been set back.
      if (row === undefined || Math.abs(now() - row.at) >= keptMs) {
        const request = running.get(nameOf(of));
        return request === undefined ? undefined : { request, answer: null, command: null, runId: null };
      }
      const { id, state, message, ...found } = row;
      const isBound = id !== null && state !== null && message !== null;
      return { ...found, command: isBound ? { id, state, message } : null };
    },

    begin,

    beginWith: async (of, request, work) => {
      if (database.withFirstWrite === null) {
        await begin(of, request);
        return work();
      }
      if (unwritten.size > 0) await unlessFull(flush);
      running.set(nameOf(of), request);
      try {
        return await database.withFirstWrite(begun(of, request), work);
      } catch (error) {
        // A fault, after which it is not known what was done, even if nothing was stored.
        if (!(error instanceof RigbridgeError))
          await database.write([plain(insertNew, of.caller, of.key, request, now())]).catch(() => undefined);
        return doubting(of)(error);
      } finally {
        running.delete(nameOf(of));
      }
    },

    end: async (of, request, answer) => {
      const row = { ...of, request, answer, at: now() };
      known.add(nameOf(of));
      sincePrune += answer.length / charactersLikeKey;
      const isWritten = await unlessFull(() => database.write([answered(row)]));
      if (!isWritten && unwritten.size < unwrittenLimit) unwritten.set(nameOf(of), row);
    },

    forget: async ({ caller, key }) => {
      const removal = tables.deleteFrom("idempotency").where("caller", "=", caller).where("key", "=", key);
      await unlessFull(() => database.free([removal]));
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
