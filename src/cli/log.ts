import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import pretty from "pino-pretty";

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Logs on stdout: lines for people on a terminal, JSON elsewhere. LOG_LEVEL sets the level; it is info otherwise. */
export function openLog(): Logger {
  const wanted = process.env.LOG_LEVEL ?? "info";
  const level = levels.includes(wanted) ? wanted : "info";
  const log = process.stdout.isTTY
    ? pino({ level }, pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" }))
    : pino({ level }, stdout);
  if (level !== wanted) log.warn(`LOG_LEVEL is none of ${levels.join(", ")}; it is info`);
  return log;
}

/**
 * A line that cannot be written, because the disk is full or nobody reads any more, is lost, and nothing with it: pino's
 * own destination ends the process then, or waits at its end for space.
 */
const stdout: DestinationStream = {
  write: (line) => {
    const bytes = Buffer.from(line);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
    } catch {
      // There is nowhere to say it.
    }
  },
};
