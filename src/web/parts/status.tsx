import type { ComponentChildren } from "preact";
import type { MinerStatus, Severity } from "../../contract/resources.ts";
import { now } from "../clock.ts";
import { ago, dateTime } from "../format.ts";
import { t } from "../language.ts";

/** A colour by its meaning. */
export type Tone = "good" | "busy" | "warning" | "off" | "bad";

/** A state as a coloured dot and a word, never by colour alone. */
export const Mark = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`status ${tone}`}>
    <span class="dot" aria-hidden="true" />
    {children}
  </span>
);

const tones: Record<MinerStatus, Tone> = {
  Mining: "good",
  Starting: "busy",
  Idle: "warning",
  Stopped: "off",
  Disabled: "off",
  Disconnected: "bad",
  Error: "bad",
};

/** In display order of lists and bars. */
export const statuses = Object.keys(tones).filter((each): each is MinerStatus => Object.hasOwn(tones, each));

export const toneOf = (status: MinerStatus): Tone => tones[status];

/** The status of a rig, with the reason why it does not hash. */
export const Status = ({ status, reason }: { status: MinerStatus; reason?: string | null }) => (
  <Mark tone={tones[status]}>
    {t.status[status]}
    {reason === null || reason === undefined ? null : <small> · {reasonText(reason)}</small>}
  </Mark>
);

export const reasonText = (code: string): string =>
  Object.entries(t.reason).find(([each]) => each === code)?.[1] ?? code;

export const SeverityMark = ({ severity }: { severity: Severity }) => (
  <Mark tone={severity === "critical" ? "bad" : severity === "warning" ? "warning" : "busy"}>
    {t.severity[severity]}
  </Mark>
);

/** The age of something; follows the clock. */
export const Age = ({ time }: { time: string | number }) => (
  <time dateTime={new Date(time).toISOString()} title={dateTime(time)}>
    {ago(time, now.value)}
  </time>
);

/** Marks an outdated reading. */
export const Stale = ({ readAt }: { readAt: string | null | undefined }) =>
  readAt === null || readAt === undefined ? null : (
    <small class="stale">
      <Age time={readAt} />
    </small>
  );
