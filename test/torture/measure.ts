import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { say } from "./say.ts";

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Bytes in memory of a process; null where /proc does not say. */
export function residentOf(pid: number | "self"): number | null {
  try {
    const pages = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return pages === undefined ? null : Number(pages) * 1024;
  } catch {
    return null;
  }
}

/** Open files and sockets of a process; null where /proc does not say. */
export function openFilesOf(pid: number | "self"): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}

/** The most memory that this process has, seen every 20 ms, and how late its event loop was, in ms. */
export function watchProcess(): { end(): { peak: number; delayP99: number; delayMax: number } } {
  let peak = process.memoryUsage.rss();
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  return {
    end: () => {
      clearInterval(timer);
      delay.disable();
      return { peak, delayP99: delay.percentile(99) / 1e6, delayMax: delay.max / 1e6 };
    },
  };
}

/** Says what was promised and what was measured; remembers whether every promise was kept. */
export class Verdict {
  #broken = 0;

  check(what: string, kept: boolean): void {
    if (!kept) this.#broken += 1;
    say(`${kept ? "kept  " : "BROKEN"}  ${what}`);
  }

  /** Ends the process as it went. */
  end(): never {
    process.exit(this.#broken === 0 ? 0 : 1);
  }
}
