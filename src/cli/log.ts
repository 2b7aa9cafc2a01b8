import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino } from "pino";
import { logLevels } from "../config/log-levels.ts";
import { textLine } from "./text-line.ts";

const formats = ["text", "json"];

/**
 * Logs to stdout: coloured lines on a terminal, JSON elsewhere, or what LOG_FORMAT asks for. LOG_LEVEL sets the level, info by
 * default.
 */
export async function openLog(): Promise<Logger> {
  const { LOG_LEVEL: wanted = "info", LOG_FORMAT: format } = process.env;
  const level = logLevels.includes(wanted) ? wanted : "info";
  const isKnown = format === undefined || formats.includes(format);
  const log = pino({ level }, await destination(isKnown ? format : undefined));
  if (level !== wanted) log.warn(`LOG_LEVEL is not one of ${logLevels.join(", ")}; using info`);
  if (!isKnown) log.warn(`LOG_FORMAT is not one of ${formats.join(", ")}; using the usual one`);
  return log;
}

async function destination(format: string | undefined): Promise<DestinationStream> {
  if (format === "text") return { write: (line) => stdout.write(`${textLine(line)}\n`) };
  if (format === "json" || !process.stdout.isTTY) return stdout;
  const { default: pretty } = await import("pino-pretty");
  return pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
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
