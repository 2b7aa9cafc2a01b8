import type { Driver } from "../../driver.ts";
import { type ProgramPage, ReadOnlyProgram, recognisePage } from "../shared/program.ts";
import { isNamed, summaryReport } from "../trex/summary.ts";

/** z-enemy's HTTP API (--api-bind-http), in the form of T-Rex's first versions. */
export const zenemy: Driver = {
  id: "zenemy",
  name: "z-enemy",
  evidence: { readings: "other source", controls: "other source" },
  ports: [4068],
  recognise: (signs) => recognisePage(signs, page),
  connect: (link) => new ReadOnlyProgram(link, page),
};

const page: ProgramPage = {
  path: "/summary",
  isIts: (summary) => isNamed(summary, /z-?enemy/i),
  report: (summary) => summaryReport(summary, { software: "ZEnemy", make: "z-enemy" }),
};
