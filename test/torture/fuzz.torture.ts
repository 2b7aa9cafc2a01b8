import { fuzzService } from "./fuzzed-service.ts";
import { say } from "./say.ts";

/** 50,000 requests of all kinds at a real service with virtual rigs; every answer is looked at. */
const count = 50_000;
const seed = Date.now() % 1_000_000_000;
say(`${count} requests made from the table of operations and the OpenAPI document, seed ${seed}`);
const report = await fuzzService(count, seed);
const statuses = [...report.statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
say(`answered in ${Math.round(report.seconds)} s, by status ${statuses.join(", ")}`);
say(`memory of the service before ${megabytes(report.memoryBefore)}, after ${megabytes(report.memoryAfter)}`);
say(`never done: ${report.neverDone.join(", ") || "nothing"}`);
for (const flaw of report.flaws.slice(0, 20)) say(`NOT AS PROMISED: ${flaw}`);
if (report.memoryAfter > 600e6) say("NOT AS PROMISED: the memory grew beyond 600 MB");
process.exitCode = report.flaws.length > 0 || report.memoryAfter > 600e6 ? 1 : 0;
