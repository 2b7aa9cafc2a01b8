import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/**
 * On a full disk SQLite cannot even delete, because a deletion is first written to the log. So a file of this many bytes
 * beside the store reserves space, and is released for deletions. Enough for the history of one miner.
 */
export const reserveSize = 4 << 20;

/** Between two attempts to reserve the space again. */
const retryAfterMs = 1_000;

/** Disk space for deletions. Once released, only deletions may write, until it can be reserved again. */
export interface DiskReserve {
  /**
   * Whether other writes are allowed: the space was not released. Tries at intervals to reserve it again, if necessary
   * after `makeSpace`.
   */
  mayWrite(makeSpace: () => void): boolean;
  /** Releases the space; false if none is reserved. */
  release(): boolean;
}

export const noReserve: DiskReserve = { mayWrite: () => true, release: () => false };

/** Reserves the space if there is enough, unless it was just released. Never throws. */
export const openReserve = (store: string, justReleased: boolean): DiskReserve => {
  const file = reserveFile(store);
  let isHeld = isWhole(file) || (!justReleased && allocate(file));
  let isReleased = justReleased;
  let triedAt = Number.NEGATIVE_INFINITY;

  return {
    mayWrite: (makeSpace) => {
      if (!isReleased) return true;
      if (performance.now() - triedAt < retryAfterMs) return false;
      triedAt = performance.now();
      isHeld = allocate(file);
      if (!isHeld) {
        makeSpace();
        isHeld = allocate(file);
      }
      isReleased = !isHeld;
      return isHeld;
    },

    release: () => {
      if (!isHeld) return false;
      isHeld = false;
      isReleased = true;
      rmSync(file, { force: true });
      return true;
    },
  };
};

/** Releases the reserve of an earlier run, to open the store on a full disk; false if there is none. */
export const releaseReserve = (store: string): boolean => {
  const file = reserveFile(store);
  if (!isWhole(file)) return false;
  rmSync(file, { force: true });
  return true;
};

const reserveFile = (store: string): string => `${store}.reserve`;

const isWhole = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.size === reserveSize;

/** With random bytes: file systems that compress or store sparse files would reserve no space for others. */
const allocate = (file: string): boolean => {
  try {
    const descriptor = openSync(file, "w", 0o600);
    try {
      const bytes = randomBytes(reserveSize);
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch {
    remove(file);
    return false;
  }
};

const remove = (file: string): void => {
  try {
    rmSync(file, { force: true });
  } catch {
    // It stays too short, and is allocated again later.
  }
};
