import { existsSync, statSync } from "node:fs";
import { checkTables } from "./check-tables.ts";
import { inspect, locate } from "./file.ts";
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
  checkTables(path, "quick_check", "restore a backup with rigbridge restore");
  return { bytes: statSync(path).size, isOlder: version < storeVersion, holder: lockHolder(path) };
}
