import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/**
 * On a full disk SQLite cannot even delete: what is deleted is first written down. So this much space, in bytes, is
 * held by a file beside the store, and given up for what frees space. Enough for the history of one miner.
 */
export const reserveSize = 4 << 20;

/** ms between two attempts to hold the space again. */
const retryAfterMs = 1_000;

/** Space held for deleting. Once given up it belongs to that alone, until there is as much space again. */
export interface DiskReserve {
  /**
   * Whether others may write: the space is held, or was not given up. Now and then tries to hold it again, also after
   * `makeSpace`, which does what it can.
   */
  mayWrite(makeSpace: () => void): boolean;
  /** Frees the space; false when none is held. */
  release(): boolean;
}

export const noReserve: DiskReserve = { mayWrite: () => true, release: () => false };

/** Holds the space if there is any, unless it was just `givenUp`. Never throws. */
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

/** Frees what an earlier run held, to open the store on a full disk; false when there was nothing. */
export const releaseReserve = (store: string): boolean => {
  const file = reserveFile(store);
  if (!isWhole(file)) return false;
  rmSync(file, { force: true });
  return true;
};

const reserveFile = (store: string): string => `${store}.reserve`;

const isWhole = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.size === reserveSize;

/** Of random bytes: file systems that compress, or leave holes, would hold nothing else for it. */
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
    // It stays short, and is made anew.
  }
};
