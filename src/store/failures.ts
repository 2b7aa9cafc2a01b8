import { RigbridgeError } from "../contract/problems.ts";

/** SQLite's primary result codes (sqlite.org/rescode.html) that people can do something about. */
const busy = 5;
const reasons: ReadonlyMap<number, string> = new Map([
  [3, "access is denied"],
  [busy, "another program is writing it"],
  [6, "another program is writing it"],
  [8, "it is read-only"],
  [10, "the disk reports an error"],
  [11, "it is damaged; restore it from a backup"],
  [13, "the disk is full; free some space"],
  [14, "it cannot be opened"],
  [26, "it is damaged, or no SQLite database"],
]);

const resultCode = (error: unknown): number | undefined =>
  typeof error === "object" && error !== null && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

const systemCode = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** Somebody else holds the file for a moment; the same write may succeed later. */
export const isBusy = (error: unknown): boolean => resultCode(error) === busy;

const reason = (error: unknown): string | undefined => reasons.get(resultCode(error) ?? 0);

/** Why a file could not be opened, as a sentence; what is no fault of the file passes as it is. */
export const openingFailure = (file: string, error: unknown): unknown => {
  if (error instanceof RigbridgeError) return error;
  const why = reason(error) ?? systemCode(error) ?? "for an unknown reason";
  return new RigbridgeError("store.refused", `The store ${file} cannot be opened: ${why}. Nothing was changed.`, {
    cause: error,
  });
};

/** Why a write failed, as a sentence. SQLite's own words name columns, never values, so the cause holds no secret. */
export const writingFailure = (file: string, error: unknown): RigbridgeError => {
  if (error instanceof RigbridgeError) return error;
  const why = reason(error);
  return why === undefined
    ? new RigbridgeError("internal", `The store ${file} refused a write`, { cause: error })
    : new RigbridgeError("store.full", `The store ${file} cannot be written: ${why}`, { cause: error });
};
