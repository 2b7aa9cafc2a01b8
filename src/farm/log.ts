import { type Logger, pino } from "pino";

export type { Logger };

/** The log of a front end's host. */
export interface HostLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** A logger that writes to the host's log; of an attached error, it writes the message. */
export const logTo = (hostLog: HostLog): Logger =>
  pino(
    { base: null, timestamp: false, serializers: { err: (error: unknown) => ({ message: wordsOf(error) }) } },
    { write: (line) => write(hostLog, JSON.parse(line)) },
  );

/** The names of these classes mean nothing to users; any other class indicates a bug. */
const wordsOf = (error: unknown): string => String(error).replace(/^(Rigbridge)?Error: (?=.)/, "");

function write(hostLog: HostLog, line: { level: number; msg?: string; err?: { message: string } }): void {
  const { level, msg = "", err } = line;
  const message = [msg, err?.message].filter((part) => part !== undefined && part !== "").join(": ");
  if (level >= 50) hostLog.error(message);
  else if (level >= 40) hostLog.warn(message);
  else hostLog.info(message);
}
