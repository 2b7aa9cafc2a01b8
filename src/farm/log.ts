import { type Logger, pino } from "pino";

export type { Logger };

/** Where the host of a front end takes sentences for its own log. */
export interface Saying {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** A logger whose sentences go to the log of the host; of an error that comes with one, its message. */
export const logTo = (saying: Saying): Logger =>
  pino(
    { base: null, timestamp: false, serializers: { err: (error: unknown) => ({ message: String(error) }) } },
    { write: (line) => say(saying, JSON.parse(line)) },
  );

function say(saying: Saying, line: { level: number; msg?: string; err?: { message: string } }): void {
  const { level, msg = "", err } = line;
  const message = [msg, err?.message].filter((part) => part !== undefined && part !== "").join(": ");
  if (level >= 50) saying.error(message);
  else if (level >= 40) saying.warn(message);
  else saying.info(message);
}
