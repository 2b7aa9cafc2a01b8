import { DatabaseSync } from "node:sqlite";
import { isDamaged, openingFailure } from "./failures.ts";
import { refuse } from "./file.ts";

/**
 * Throws store.refused, with `advice`, if SQLite finds a mistake in the file. Takes seconds for each GB; `quick_check` does
 * not compare indexes with their tables.
 */
export const checkTables = (file: string, check: "quick_check" | "integrity_check", advice: string): void => {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      if (database.prepare(`pragma ${check}(1)`).get()?.[check] !== "ok") refuse(damaged(file, advice));
    } finally {
      database.close();
    }
  } catch (error) {
    refuseDamaged(file, error, advice);
    throw openingFailure(file, error);
  }
};

/** Throws store.refused, with `advice`, if the error says that the file is damaged. */
export const refuseDamaged = (file: string, error: unknown, advice: string): void => {
  if (isDamaged(error)) refuse(damaged(file, advice));
};

const damaged = (file: string, advice: string): string => `${file} is damaged; ${advice}.`;
