import type { ChannelSettings } from "../../contract/channels.ts";
import { type Severity, severities } from "../../contract/resources.ts";

/** Whether a message of this severity is deferred now. `timeZone`: the display's; undefined: the machine's. */
export function isQuiet(
  quiet: ChannelSettings["quiet"],
  severity: Severity,
  now: number,
  timeZone: string | undefined,
): boolean {
  if (quiet === undefined) return false;
  if (quiet.except !== "none" && severities.indexOf(severity) >= severities.indexOf(quiet.except)) return false;
  const time = wallTime(now, quiet.timeZone ?? timeZone);
  // Hours such as 22:00 to 07:00 span midnight; equal ones are the whole day.
  return quiet.from < quiet.to ? time >= quiet.from && time < quiet.to : time >= quiet.from || time < quiet.to;
}

/** Such as 22:05. */
const wallTime = (now: number, timeZone: string | undefined): string =>
  new Intl.DateTimeFormat("en-GB", {
    ...(timeZone === undefined ? {} : { timeZone }),
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(now);
