import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Logs on stdout: lines for people on a terminal, JSON elsewhere. LOG_LEVEL sets the level; it is info otherwise. */
export function openLog(): Logger {
  const wanted = process.env.LOG_LEVEL ?? "info";
  const level = levels.includes(wanted) ? wanted : "info";
  const log = process.stdout.isTTY
    ? pino({ level }, pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" }))
    : pino({ level });
  if (level !== wanted) log.warn(`LOG_LEVEL is none of ${levels.join(", ")}; it is info`);
  return log;
}
