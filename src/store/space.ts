import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { RigbridgeError } from "../contract/problems.ts";

/** Free bytes on the disk of a file that may not exist yet. */
export const freeBytes = (file: string): number => {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
};

/** Throws store.full if a file of this size does not fit. */
export const requireSpace = (file: string, bytes: number, free = freeBytes(file)): void => {
  if (free < bytes)
    throw new RigbridgeError(
      "store.full",
      `The disk of ${dirname(file)} has ${megabytes(free)} free, and ${file} needs ${megabytes(bytes)}; free some space, or choose another folder.`,
    );
};

/** "12 MB" */
export const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString("en-US")} MB`;
