import { workerData } from "node:worker_threads";
import { killGroup } from "./kill-group.ts";

/** A thread of a test process: ends the process soon after its parent has ended, even if a test never yields. */
setInterval(() => {
  if (process.ppid !== workerData.parent) killGroup(process.pid);
}, 500);
