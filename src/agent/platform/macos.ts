import { type Platform, posixSignals, signalProcessGroup } from "./platform.ts";
import { allProcessors, namesIn, outputOf } from "./tools.ts";

/** Written from the manual of ps; untested. */
export const macos: Platform = {
  programsOutliveAgent: true,
  identify: async (pid) => {
    const line = await outputOf("ps", ["-p", String(pid), "-o", "lstart=,stat=,comm="]);
    // "Sun Nov 22 18:09:15 2026 Ss   /usr/local/bin/xmrig"
    const [, startTime, state, command] = /^(\w+ +\w+ +\d+ +[\d:]+ +\d+) +(\S+) +(.+)$/m.exec(line ?? "") ?? [];
    if (startTime === undefined || command === undefined || state?.startsWith("Z")) return null;
    return { pid, startTime, command };
  },
  marked: async () => [],
  exiting: async () => false,
  processNames: async () => namesIn((await outputOf("ps", ["-axo", "comm="])) ?? ""),
  processorTime: async () => ({ ...allProcessors(), own: null }),
  listeningGroups: async () => null,
  signalGroup: signalProcessGroup,
  stopSignals: posixSignals,
  rebootCommand: ["shutdown", "-r", "now"],
};
