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

/** `application_id` in the header of every store file: "RIGB". */
const application = 0x52494742;

export const refuse = (sentence: string): never => {
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
 * The canonical path of a store file, in a writable folder. It must be unique, because the lock and SQLite's write-ahead
 * log lie beside it. Throws store.refused; changes nothing.
 */
export const locate = (file: string): string => {
  const path = resolve(file);
  const folder = dirname(path);
  const found = stat(folder);
  if (found === undefined)
    return refuse(`The folder ${folder} for the store does not exist; create it, or choose another store file.`);
  if (!found.isDirectory())
    return refuse(`${folder} is not a folder, so the store ${path} cannot be in it; choose another store file.`);
  if (!allows(folder, constants.W_OK | constants.X_OK))
    return refuse(
      `The folder ${folder} of the store is not writable by this user, and SQLite keeps files beside the store; change its permissions.`,
    );
  const existing = stat(path);
  if (existing === undefined) return join(realpathSync(folder), basename(path));
  if (!existing.isFile()) return refuse(`${path} is not a file, so it cannot be the store; choose another store file.`);
  if (!allows(path, constants.R_OK | constants.W_OK))
    return refuse(`The store ${path} is not readable and writable by this user; change its permissions.`);
  const real = realpathSync(path);
  if (existing.nlink > 1)
    return refuse(
      `The store ${real} has ${existing.nlink} names (hard links); a second Rigbridge that uses another name would not ` +
        `notice this one and would damage the store. Remove the others (find / -xdev -samefile ${real}), or copy the file.`,
    );
  if (isMountedAlone(real))
    return refuse(
      `The store ${real} is mounted as a single file, but SQLite keeps files beside it; mount its folder instead.`,
    );
  return real;
};

/** Whether the file itself is a mount point; known only on Linux. */
const isMountedAlone = (file: string): boolean => {
  try {
    return mountPoints(readFileSync("/proc/self/mountinfo", "utf8")).includes(file);
  } catch {
    return false;
  }
};

/** Whitespace and backslashes are octal escapes. Source: proc_pid_mountinfo(5). */
export const mountPoints = (mountinfo: string): string[] =>
  mountinfo.split("\n").flatMap((line) => {
    const point = line.split(" ")[4];
    return point?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))) ?? [];
  });

/**
 * Refuses a file that is not a store of Rigbridge, or is of a newer version, without changing it. `what`: how messages
 * call it. Call it for an own store only while holding the lock: closing a file drops every POSIX lock that this process
 * has on it. Returns the version of the store; 0 for a new file.
 */
export const inspect = (file: string, what = "store"): number => {
  const size = stat(file)?.size ?? 0;
  if (size === 0 && what === "store") return 0;
  const marks = (stat(`${file}-wal`)?.size ?? 0) > 0 ? marksInLog(file) : marksInHeader(file);
  if (marks?.application !== application)
    return refuse(`${file} is not a ${what} of Rigbridge; choose another ${what} file. It was not changed.`);
  if (marks.version > storeVersion)
    refuse(
      `The ${what} ${file} was written by a newer Rigbridge (store version ${marks.version}, this one supports up to ` +
        `${storeVersion}); install that version again, or choose another ${what} file. It was not changed.`,
    );
  return marks.version;
};

/** Throws store.refused for a store that has other tables than a new one. */
export const checkCopyable = (name: string, version: number): void => {
  if (version < storeVersion)
    refuse(
      `The store ${name} is of an older version (${version}, this one has ${storeVersion}); start this version of ` +
        "Rigbridge with it once, then copy it.",
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

/** After a crash the newest header may still be in the write-ahead log, which a read-only connection does not merge. */
const marksInLog = (file: string): StoreMarks => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const mark = (name: string) => Number(database.prepare(`select ${name} as mark from pragma_${name}`).get()?.mark);
    return { version: mark("user_version"), application: mark("application_id") };
  } finally {
    database.close();
  }
};

/** Creates the file with access for its owner only; SQLite gives -wal and -shm the same mode. */
export const createPrivate = (file: string): void => {
  if (stat(file) === undefined) closeSync(openSync(file, "wx", 0o600));
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (stat(path) !== undefined) chmodSync(path, 0o600);
};

/** Marks an empty file as a store; this is the first write to it. */
export const mark = (file: string): void => {
  if (stat(file)?.size !== 0) return;
  const database = new DatabaseSync(file);
  try {
    database.exec(`pragma application_id = ${application}`);
  } finally {
    database.close();
  }
};
