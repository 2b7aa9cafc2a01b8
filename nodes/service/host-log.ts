import { type Logger, pino } from "pino";
import { z } from "zod";
import type { HostLog } from "./node-log.ts";

const Entry = z.object({
  level: z.number(),
  msg: z.string().default(""),
  err: z.object({ message: z.string() }).optional(),
});

/** The service's log, said through Node-RED's. */
export function logTo(log: HostLog): Logger {
  const write = (line: string): void => {
    const { level, msg, err } = Entry.parse(JSON.parse(line));
    const text = err === undefined ? msg : `${msg}: ${err.message}`;
    if (level >= 50) log.error(text);
    else if (level >= 40) log.warn(text);
    else log.info(text);
  };
  return pino({ level: "info", base: null, timestamp: false }, { write });
}
