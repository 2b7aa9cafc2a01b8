import type { Platform } from "./platform.ts";
import { allProcessors, namesIn, outputOf } from "./tools.ts";

/** Untested. */
export const windows: Platform = {
  programsOutliveAgent: false,
  // Reading the start time requires PowerShell; it is not needed, since programs end with the agent.
  identify: async (pid) => (exists(pid) ? { pid, startTime: "", command: null } : null),
  marked: async () => [],
  exiting: async () => false,
  processNames: async () => {
    const table = (await outputOf("tasklist", ["/FO", "CSV", "/NH"])) ?? "";
    return namesIn(table.replace(/^"([^"]*)".*$/gm, "$1"));
  },
  processorTime: async () => ({ ...allProcessors(), own: null }),
  listeningGroups: async () => null,
  signalGroup: async (pid, signal) => {
    await outputOf("taskkill", ["/PID", String(pid), "/T", ...(signal === "SIGKILL" ? ["/F"] : [])]);
  },
  stopSignals: ["SIGTERM", "SIGKILL"],
  rebootCommand: ["shutdown", "/r", "/t", "5"],
};

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
