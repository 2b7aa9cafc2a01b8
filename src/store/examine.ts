import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isDamaged, openingFailure } from "./failures.ts";
import { inspect, locate, refuse } from "./file.ts";
import { lockHolder } from "./lock.ts";
import { storeVersion } from "./migrations.ts";

export interface ExaminedStore {
  readonly bytes: number;
  /** Whether the next start of this version upgrades it. */
  readonly isOlder: boolean;
  /** The process that uses it; null if none does. */
  readonly holder: number | null;
}

/** Checks a store in another process than the service's; null if there is none. Throws store.refused if it cannot be used. */
export function examineStore(store: string): ExaminedStore | null {
  const path = locate(store);
  if (!existsSync(path)) return null;
  const version = inspect(path);
  checkTables(path);
  return { bytes: statSync(path).size, isOlder: version < storeVersion, holder: lockHolder(path) };
}

function checkTables(file: string): void {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const found = database.prepare("pragma quick_check(1)").get()?.quick_check;
      if (found !== "ok") refuseDamaged(file);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isDamaged(error)) refuseDamaged(file);
    throw openingFailure(file, error);
  }
}

const refuseDamaged = (file: string): never =>
  refuse(`The store ${file} is damaged; restore a backup with rigbridge restore.`);
