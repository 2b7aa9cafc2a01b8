import type { Control } from "../../contract/readings.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { PowerMemory, StoredMiner } from "../../store/index.ts";
import type { PowerLadder } from "./power-ladder.ts";

/** Limits on how often the power of a rig changes; s. */
export interface PowerRules {
  /** Minimum time that it mines before a stop, and that it is stopped before a start. */
  readonly minOn: number;
  readonly minOff: number;
  /** Counts changes that last or restart mining; throttling does not wear the rig. */
  readonly changesPerHour: number;
}

/** A rig's own rules take precedence over the general ones. */
export const powerRules = (all: PowerRules, own: StoredMiner["power"] = {}): PowerRules => ({
  minOn: own.minOn ?? all.minOn,
  minOff: own.minOff ?? all.minOff,
  changesPerHour: own.changesPerHour ?? all.changesPerHour,
});

/** Whether a power may be set now; if not, when (epoch ms) and why not now. */
export type Permission = { readonly now: true } | { readonly now: false; readonly from: number; readonly why: Detail };

export const free: Permission = { now: true };

export interface PowerChange {
  /** W that the rig should be set to. */
  readonly watts: number;
  readonly ladder: PowerLadder | null;
  readonly controls: readonly Control[];
  /** Whether it mines now. */
  readonly mining: boolean | null;
  readonly rules: PowerRules;
  readonly memory: Pick<PowerMemory, "startedAt" | "stoppedAt" | "changes">;
  /** Epoch ms. */
  readonly now: number;
}

const hour = 3_600_000;

/** Whether `minOn`, `minOff` and `changesPerHour` allow a change of power now. */
export function permissionFor({ watts, ladder, controls, mining, rules, memory, now }: PowerChange): Permission {
  const { minOn, minOff, changesPerHour } = rules;
  const { startedAt, stoppedAt } = memory;
  const stops = ladder !== null && watts < Math.floor(ladder.lowest);
  const stopped = mining === false;
  const waitUntil = (since: number | null, seconds: number, why: (rest: string) => Detail): Permission => {
    const from = (since ?? Number.NEGATIVE_INFINITY) + seconds * 1000;
    return now >= from ? free : { now: false, from, why: why(durationText(from - now)) };
  };
  if (stops && !stopped)
    return waitUntil(startedAt, minOn, (rest) => detail("command.minOn", { time: durationText(minOn * 1000), rest }));
  if (stops) return free;
  const started = stopped
    ? waitUntil(stoppedAt, minOff, (rest) => detail("command.minOff", { time: durationText(minOff * 1000), rest }))
    : free;
  if (!started.now) return started;
  const settings = ladder?.choose(watts).settings ?? [];
  if (!stopped && !settings.some(({ key }) => wears(controls, key))) return free;
  const within = changesWithin(memory, now);
  const oldest = within.at(-changesPerHour);
  return oldest === undefined
    ? free
    : waitUntil(oldest, 3600, (rest) => detail("command.changes", { count: within.length, rest }));
}

/** The changes of the last hour, epoch ms. */
export const changesWithin = ({ changes }: Pick<PowerMemory, "changes">, now: number): number[] =>
  changes.filter((at) => at > now - hour);

/** Whether a change of this control lasts or restarts mining. */
export const wears = (controls: readonly Control[], key: string): boolean => {
  const control = controls.find((each) => each.key === key);
  return control?.lasting === true || control?.restartsMining === true;
};

/** A duration for messages, rounded up. */
function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
