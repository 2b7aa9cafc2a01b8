import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const there = new Set<string>();
process.once("exit", () => there.forEach(remove));

/** Runs with a folder that is gone afterwards, also when the process is ended meanwhile. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-bench-"));
  there.add(folder);
  try {
    return await work(folder);
  } finally {
    remove(folder);
  }
}

function remove(folder: string): void {
  there.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}
