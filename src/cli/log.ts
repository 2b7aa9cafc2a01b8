import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import { logLevels } from "../config/log-levels.ts";

/** Logs to stdout: lines for people on a terminal, JSON elsewhere. LOG_LEVEL sets the level, info by default. */
export async function openLog(): Promise<Logger> {
  const wanted = process.env.LOG_LEVEL ?? "info";
  const level = logLevels.includes(wanted) ? wanted : "info";
  const log = process.stdout.isTTY
    ? pino(
        { level },
        (await import("pino-pretty")).default({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" }),
      )
    : pino({ level }, stdout);
  if (level !== wanted) log.warn(`LOG_LEVEL is not one of ${logLevels.join(", ")}; using info`);
  return log;
}

/**
 * A line that cannot be written, because the disk is full or the pipe is closed, is dropped. Pino's own destination
 * would end the process, or wait for space at the end of the process.
 */
const stdout: DestinationStream = {
  write: (line) => {
    const bytes = Buffer.from(line);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
    } catch {
      // There is nowhere left to report it.
    }
  },
};
