import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { RigbridgeError } from "../contract/problems.ts";
import { openingFailure } from "./failures.ts";
import { storeVersion } from "./migrations.ts";

/** Stands in the header of every store file (`application_id`): "RIGB". */
const application = 0x52494742;

const refuse = (sentence: string): never => {
  throw new RigbridgeError("store.refused", sentence);
};

const stat = (path: string) => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw openingFailure(path, error);
  }
};

const allows = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

/**
 * The one true path of a store file, in a folder that can be written. One file has one path: the lock lies beside it,
 * and so does SQLite's write-ahead log. Throws store.refused; touches nothing.
 */
export const locate = (file: string): string => {
  const path = resolve(file);
  const folder = dirname(path);
  const found = stat(folder);
  if (found === undefined)
    return refuse(`The folder ${folder} for the store does not exist; create it, or choose another store file.`);
  if (!found.isDirectory()) return refuse(`${folder} is no folder, so the store ${path} cannot be there.`);
  if (!allows(folder, constants.W_OK | constants.X_OK))
    return refuse(`The folder ${folder} of the store cannot be written by this user; SQLite keeps files beside it.`);
  const existing = stat(path);
  if (existing === undefined) return join(realpathSync(folder), basename(path));
  if (!existing.isFile()) return refuse(`${path} is no file, so it cannot be the store.`);
  if (!allows(path, constants.R_OK | constants.W_OK))
    return refuse(`The store ${path} cannot be read and written by this user.`);
  const real = realpathSync(path);
  if (existing.nlink > 1)
    return refuse(
      `The store ${real} has ${existing.nlink} names (hard links), and under another one a second Rigbridge would not ` +
        `see this one and damage it; remove the others (find / -xdev -samefile ${real}), or copy the file.`,
    );
  if (isMountedAlone(real))
    return refuse(
      `The store ${real} is mounted by itself, and SQLite keeps files beside it that would not be; mount its folder.`,
    );
  return real;
};

/** Whether the file itself is a mount point; only Linux says so. */
const isMountedAlone = (file: string): boolean => {
  try {
    return mountPoints(readFileSync("/proc/self/mountinfo", "utf8")).includes(file);
  } catch {
    return false;
  }
};

/** Spaces and their like stand there as octal numbers. Source: proc_pid_mountinfo(5). */
export const mountPoints = (mountinfo: string): string[] =>
  mountinfo.split("\n").flatMap((line) => {
    const point = line.split(" ")[4];
    return point?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))) ?? [];
  });

/**
 * Refuses what is no store of ours, or of a newer version, without touching it. Call it only while holding the lock:
 * closing a file drops every POSIX lock that this process has on it.
 */
export const inspect = (file: string): void => {
  const size = stat(file)?.size ?? 0;
  if (size === 0) return;
  const marks = (stat(`${file}-wal`)?.size ?? 0) > 0 ? marksInLog(file) : marksInHeader(file);
  if (marks?.application !== application)
    refuse(`${file} is no store of Rigbridge; choose another store file. It was not changed.`);
  else if (marks.version > storeVersion)
    refuse(
      `The store ${file} was written by a newer Rigbridge (store version ${marks.version}, this one knows up to ` +
        `${storeVersion}); install that version again, or choose another store file. It was not changed.`,
    );
};

interface StoreMarks {
  readonly application: number;
  readonly version: number;
}

/** Source: sqlite.org/fileformat.html, "The Database Header". */
const marksInHeader = (file: string): StoreMarks | undefined => {
  const header = Buffer.alloc(100);
  const descriptor = openSync(file, "r");
  try {
    const length = readSync(descriptor, header, 0, header.length, 0);
    if (length < header.length || header.toString("latin1", 0, 16) !== "SQLite format 3\0") return undefined;
    return { version: header.readUInt32BE(60), application: header.readUInt32BE(68) };
  } finally {
    closeSync(descriptor);
  }
};

/** After a crash the newest header may still be in the write-ahead log; a read-only connection does not merge it. */
const marksInLog = (file: string): StoreMarks => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const mark = (name: string) => Number(database.prepare(`select ${name} as mark from pragma_${name}`).get()?.mark);
    return { version: mark("user_version"), application: mark("application_id") };
  } finally {
    database.close();
  }
};

/** Makes the file for its owner alone before anything is in it; SQLite gives -wal and -shm the same mode. */
export const createPrivate = (file: string): void => {
  if (stat(file) === undefined) closeSync(openSync(file, "wx", 0o600));
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (stat(path) !== undefined) chmodSync(path, 0o600);
};

/** Marks an empty file as a store, as the first thing written to it. */
export const mark = (file: string): void => {
  if (stat(file)?.size !== 0) return;
  const database = new DatabaseSync(file);
  try {
    database.exec(`pragma application_id = ${application}`);
  } finally {
    database.close();
  }
};
