import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { checkTables, refuseDamaged } from "./check-tables.ts";
import { copyingFailure } from "./failures.ts";
import { inspect, locate, refuse } from "./file.ts";
import { lock } from "./lock.ts";
import { freeBytes, requireSpace } from "./space.ts";

/**
 * Copies a store to a new file by SQLite itself, while a service uses it or not: one consistent state, without unused
 * pages, readable by its owner only. The file appears when it is complete and on disk. Returns its size in bytes. Throws
 * store.refused if the store cannot be copied or the file exists, and store.full.
 */
export function backUpStore(store: string, file: string): number {
  const path = locate(store);
  if (!existsSync(path))
    refuse(`There is no store ${path}; name its folder with --data, or its configuration with --config.`);
  const target = resolve(file);
  const folder = dirname(target);
  if (!existsSync(folder)) refuse(`The folder ${folder} does not exist; create it, or choose another.`);
  if (existsSync(target)) refuse(`${target} exists already; choose a new name.`);
  inspect(path);
  copy(path, target, () => {
    if (existsSync(target)) refuse(`${target} exists already; choose a new name.`);
  });
  return statSync(target).size;
}

/**
 * Replaces a store, if there is one, by a backup. The earlier store is kept beside it. Returns its file, or null. Throws
 * store.refused, having changed nothing, while a service or another restore holds the store, and for a backup that is
 * damaged, of a newer version or not of Rigbridge; throws store.full.
 */
export function restoreStore(backup: string, store: string, now: () => number = Date.now): string | null {
  const path = locate(store);
  const source = resolve(backup);
  if (!existsSync(source)) refuse(`There is no file ${source}.`);
  if (source === path) refuse(`${source} is the store itself; name a backup.`);
  const held = lock(path);
  try {
    inspect(source, "backup");
    checkTables(source, "integrity_check", useAnother);
    let kept: string | null = null;
    copy(source, path, (part) => {
      giveToOwner(path, [part, `${path}.lock`]);
      kept = existsSync(path) ? keep(path, now()) : null;
    });
    return kept;
  } finally {
    held.release();
  }
}

const useAnother = "restore another backup. Nothing was changed";

/** Copies of stores that upgrades leave. */
const copiesKept = 2;

/**
 * Copies a store of an earlier version beside it, before it is upgraded, and deletes all but the newest two of these copies.
 * Returns the copy, or null if the disk has no room for it and the upgrade. Call it while holding the lock.
 */
export function keepBeforeUpgrade(path: string, version: number): string | null {
  const folder = dirname(path);
  const start = `${basename(path)}.version-`;
  const target = join(folder, `${start}${version}`);
  const others = readdirSync(folder)
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => join(folder, name))
    .filter((each) => each !== target)
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  // Before the copy, which may need their space.
  for (const each of others.slice(copiesKept - 1)) rmSync(each);
  if (freeBytes(path) < 2 * statSync(path).size) return null;
  copy(path, target, () => undefined);
  return target;
}

/** Copies beside the target, and renames the copy, `ready`, once it is on disk. */
function copy(source: string, target: string, ready: (part: string) => void): void {
  const part = `${target}.${process.pid}.part`;
  rmSync(part, { force: true });
  const database = new DatabaseSync(source, { readOnly: true });
  try {
    requireSpace(target, usedBytes(database));
    // SQLite accepts an empty file as a new database. Created here, the file is readable by its owner only, from the start.
    closeSync(openSync(part, "wx", 0o600));
    database.exec("pragma busy_timeout = 5000");
    database.prepare("vacuum into ?").run(part);
    flushToDisk(part);
    ready(part);
    renameSync(part, target);
    flushToDisk(dirname(target));
  } catch (error) {
    refuseDamaged(source, error, useAnother);
    throw copyingFailure(source, target, error);
  } finally {
    database.close();
    for (const end of ["", "-journal"]) rmSync(`${part}${end}`, { force: true });
  }
}

function usedBytes(database: DatabaseSync): number {
  const value = (name: string) => Number(database.prepare(`pragma ${name}`).get()?.[name]);
  return (value("page_count") - value("freelist_count")) * value("page_size");
}

/** The store gets a second name before the first is taken over, so that there is a store at every moment. */
function keep(store: string, now: number): string {
  const kept = newName(`${store}.before-restore-${new Date(now).toISOString().slice(0, 10)}`);
  mergeLog(store);
  // Left only by a store that SQLite cannot open.
  if (existsSync(`${store}-wal`)) renameSync(`${store}-wal`, `${kept}-wal`);
  rmSync(`${store}-shm`, { force: true });
  try {
    linkSync(store, kept);
  } catch {
    // A file system without hard links, such as FAT.
    renameSync(store, kept);
  }
  return kept;
}

/** Moves the write-ahead log into the file; closing the last connection deletes the log. */
function mergeLog(store: string): void {
  try {
    const database = new DatabaseSync(store);
    try {
      database.exec("pragma wal_checkpoint(truncate)");
    } finally {
      database.close();
    }
  } catch {
    // It is damaged, and kept as it is.
  }
}

function newName(name: string): string {
  for (let count = 1; ; count += 1) {
    const each = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(each)) return each;
  }
}

/** Written by root, the files belong to the user of the service. */
export function giveToOwner(store: string, files: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(existsSync(store) ? store : dirname(store));
  for (const file of files) chownSync(file, uid, gid);
}

/** Waits until a file, or the names in a folder, are on disk. Windows cannot open a folder. */
export function flushToDisk(path: string): void {
  if (process.platform === "win32" && statSync(path).isDirectory()) return;
  const descriptor = openSync(path, process.platform === "win32" ? "r+" : "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
