import { writeFileSync } from "node:fs";
import { constants, PerformanceObserver } from "node:perf_hooks";

/**
 * Loaded into the service before anything else (`--import`): writes once a second what cannot be seen from outside to
 * the file that INSIDE names.
 */
const file = process.env.INSIDE;
let heap: number | null = null;

new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind }: { kind?: unknown } = Object("detail" in entry ? entry.detail : null);
    if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) heap = process.memoryUsage().heapUsed;
  }
}).observe({ entryTypes: ["gc"] });

setInterval(() => {
  const timers = process.getActiveResourcesInfo().filter((type) => type === "Timeout").length;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ heap, timers }));
}, 1_000).unref();
