import { mkdirSync, statSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** After the service has loaded its modules. A killed process writes nothing at its end. */
const flushAfterMs = 10_000;

/**
 * Caches the compiled program in the user's cache folder, which makes later starts a third faster. Node runs the
 * content of the cache, so the folder must belong to this user alone; without such a folder, as on a read-only system,
 * the program compiles as usual. As for any Node program, NODE_COMPILE_CACHE chooses another folder and
 * NODE_DISABLE_COMPILE_CACHE=1 disables the cache.
 */
export function keepCompiled(folder: string = cacheFolder()): void {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (![dirname(folder), folder].every(isOwn)) return;
    enableCompileCache(folder);
    setTimeout(flushCompileCache, flushAfterMs).unref();
  } catch {
    // It starts without a cache.
  }
}

/** The cache folder of the operating system for this user. */
function cacheFolder(): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  const caches =
    process.platform === "win32"
      ? LOCALAPPDATA || join(homedir(), "AppData", "Local")
      : process.platform === "darwin"
        ? join(homedir(), "Library", "Caches")
        : XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(caches, "rigbridge", "compiled");
}

/** Windows protects a user's folders from other users without modes. */
function isOwn(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
