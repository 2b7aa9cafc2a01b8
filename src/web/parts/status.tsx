import type { MinerStatus, Severity } from "../../contract/resources.ts";
import { now } from "../clock.ts";
import { ago, dateTime } from "../format.ts";
import { t } from "../language.ts";

/** How a status is shown: by colour and by word, never by colour alone. */
const tones: Record<MinerStatus, string> = {
  Mining: "good",
  Starting: "busy",
  Idle: "warning",
  Stopped: "off",
  Disabled: "off",
  Disconnected: "bad",
  Error: "bad",
};

/** In the order in which lists and bars show them. */
export const statuses = Object.keys(tones).filter((each): each is MinerStatus => Object.hasOwn(tones, each));

export const toneOf = (status: MinerStatus): string => tones[status];

/** The status of a rig, with the reason for which it does not hash. */
export const Status = ({ status, reason }: { status: MinerStatus; reason?: string | null }) => (
  <span class={`status ${tones[status]}`}>
    <span class="dot" aria-hidden="true" />
    {t.status[status]}
    {reason === null || reason === undefined ? null : <small> · {reasonText(reason)}</small>}
  </span>
);

export const reasonText = (code: string): string =>
  Object.entries(t.reason).find(([each]) => each === code)?.[1] ?? code;

export const SeverityMark = ({ severity }: { severity: Severity }) => (
  <span class={`status ${severity === "critical" ? "bad" : severity === "warning" ? "warning" : "busy"}`}>
    <span class="dot" aria-hidden="true" />
    {t.severity[severity]}
  </span>
);

/** How long ago something was; follows the clock. */
export const Age = ({ time }: { time: string | number }) => (
  <time dateTime={new Date(time).toISOString()} title={dateTime(time)}>
    {ago(time, now.value)}
  </time>
);

/** Beside a reading that is out of date. */
export const Stale = ({ readAt }: { readAt: string | null | undefined }) =>
  readAt === null || readAt === undefined ? null : (
    <small class="stale">
      <Age time={readAt} />
    </small>
  );
