import { RigbridgeError } from "../contract/problems.ts";

/** SQLite's primary result codes (sqlite.org/rescode.html) that a user can act on. */
const busy = 5;
const full = 13;
/** SQLITE_IOERR_SHMSIZE: no space for the index of the write-ahead log. */
const noSpaceForIndex = 4874;
const reasons: ReadonlyMap<number, string> = new Map([
  [3, "access is denied"],
  [busy, "another program is writing it"],
  [6, "another program is writing it"],
  [8, "it is read-only"],
  [10, "the disk reports an error"],
  [11, "it is damaged; restore it from a backup"],
  [full, "the disk is full; free some space"],
  [14, "it cannot be opened"],
  [26, "it is damaged, or not an SQLite database"],
]);

const resultCode = (error: unknown): number | undefined => {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error && error.code === "ENOSPC") return full;
  if (!("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode === noSpaceForIndex ? full : error.errcode & 0xff;
};

/** The system's error code, or SQLite's message: during opening it names tables, never their contents. */
const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return "errcode" in error ? error.message : error.code;
};

/** Another program has the file locked; the same write may succeed later. */
export const isBusy = (error: unknown): boolean => resultCode(error) === busy;

/** The file is damaged, or not an SQLite database. */
export const isDamaged = (error: unknown): boolean => [11, 26].includes(resultCode(error) ?? 0);

/** The disk is full, by SQLite's code, the system's, or the cause of a RigbridgeError. */
export const isFull = (error: unknown): boolean =>
  resultCode(error instanceof RigbridgeError ? error.cause : error) === full;

/** The store cannot be reached; the same write may succeed later. */
export const isAway = (error: unknown): boolean =>
  error instanceof RigbridgeError && error.code === "service.store-away";

const reason = (error: unknown): string | undefined => reasons.get(resultCode(error) ?? 0);

/** Why a file could not be opened, as a RigbridgeError; one of those is returned unchanged. */
export const openingFailure = (file: string, error: unknown): unknown => {
  if (error instanceof RigbridgeError) return error;
  const why = reason(error) ?? codeOf(error) ?? "unknown reason";
  return new RigbridgeError("store.refused", `The store ${file} cannot be opened: ${why}. Nothing was changed.`, {
    cause: error,
  });
};

/** Why a write failed. SQLite's message names columns, never values, so the cause contains no secret. */
export const writingFailure = (file: string, error: unknown): RigbridgeError => {
  if (error instanceof RigbridgeError) return error;
  const why = reason(error);
  return why === undefined
    ? new RigbridgeError("internal", `The store ${file} refused a write`, { cause: error })
    : new RigbridgeError("store.full", `The store ${file} cannot be written: ${why}`, { cause: error });
};

/** Why a read failed. */
export const readingFailure = (file: string, error: unknown): RigbridgeError => {
  if (error instanceof RigbridgeError) return error;
  const why = reason(error);
  return why === undefined
    ? new RigbridgeError("internal", `The store ${file} refused a read`, { cause: error })
    : new RigbridgeError("store.refused", `The store ${file} cannot be read: ${why}`, { cause: error });
};

/** Why a copy of a store was not made, as a RigbridgeError; one of those is returned unchanged. */
export const copyingFailure = (source: string, target: string, error: unknown): unknown => {
  if (error instanceof RigbridgeError) return error;
  const why = isFull(error) ? reasons.get(full) : (reason(error) ?? codeOf(error) ?? "unknown reason");
  const code = isFull(error) ? "store.full" : "store.refused";
  return new RigbridgeError(code, `${source} cannot be copied to ${target}: ${why}. Nothing was changed.`, {
    cause: error,
  });
};

/** The remaining space is reserved for deletions. */
export const diskFull = (file: string): RigbridgeError =>
  new RigbridgeError("store.full", `The store ${file} cannot be written: ${reasons.get(full)}`);
