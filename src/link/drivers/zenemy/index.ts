import { readOnlyProgram } from "../shared/program.ts";
import { isNamed, summaryReport } from "../trex/summary.ts";

/** z-enemy's HTTP API (--api-bind-http), in the form of T-Rex's first versions. */
export const zenemy = readOnlyProgram({
  id: "zenemy",
  name: "z-enemy",
  evidence: { readings: "other source", controls: "other source" },
  ports: [4068],
  path: "/summary",
  isIts: (summary) => isNamed(summary, /z-?enemy/i),
  report: (summary) => summaryReport(summary, { software: "ZEnemy", make: "z-enemy" }),
});
