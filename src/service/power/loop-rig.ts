import type { StoredCommand } from "../../store/index.ts";
import type { PowerLadder } from "./power-ladder.ts";

/** A rig as loops see it. */
export interface LoopRig {
  readonly id: number;
  readonly ladder: PowerLadder;
  /** Whether it mines; assumed if it does not report that. */
  readonly mining: boolean;
  /** W that it draws now. */
  readonly draw: number;
  /** Whether the loop may send it commands now. */
  readonly free: boolean;
  /** Whether its rules allow this power now. */
  permits(watts: number): boolean;
  /** Whether this power takes a change of which only a few are allowed per hour. */
  wears(watts: number): boolean;
}

/** The power that a rig should be set to. */
export interface Demand {
  readonly id: number;
  /** W of one of its settings; 0 = stopped. */
  readonly watts: number;
}

/** The highest setting within a power, W; 0 if even the lowest exceeds it. */
export const highestWithin = (ladder: PowerLadder, watts: number): number =>
  watts + tolerance < ladder.lowest ? 0 : ladder.choose(Math.max(watts, ladder.lowest)).watts;

/** W; sums of settings are not whole numbers. */
const tolerance = 1e-6;

/** W of its present settings, 0 if it is stopped; its draw if the settings are unknown. */
export const settingOf = ({ ladder, mining, draw }: LoopRig): number => (mining ? (ladder.present ?? draw) : 0);

/** As `power_target` takes it: rounded up to whole watts if that is the same setting. */
export function targetValue(ladder: PowerLadder, watts: number): number {
  const whole = Math.ceil(watts);
  const isSame = whole === watts || (whole <= ladder.highest && ladder.choose(whole).watts === watts);
  return isSame ? whole : Math.ceil(watts * 1000) / 1000;
}

/** The last command about the power of a rig. */
export interface PowerCommand {
  /** Epoch ms. */
  readonly at: number;
  readonly open: boolean;
  /** Sent by a loop, not by a person or a person's automation. */
  readonly byLoop: boolean;
  readonly stops: boolean;
}

/** ms for which a manual setting holds. */
const overrideMs = 3_600_000;
/** ms after which a rig that should mine and does not counts as stopped at the rig itself. */
const startTimeoutMs = 600_000;

/**
 * Why loops leave a rig alone, or null. If a person stops a rig, it stays stopped until a person starts it; other
 * manual settings hold for an hour. A rig that was stopped at the rig itself, or that stopped on its own, is left alone
 * until it mines again.
 */
export function heldBy(last: PowerCommand | null, mining: boolean, now: number): "person" | "rig" | null {
  if (last === null) return null;
  if (!last.byLoop) {
    if (last.stops) return mining && now > last.at + overrideMs ? null : "person";
    if (now < last.at + overrideMs) return "person";
  }
  return !last.stops && !mining && now > last.at + startTimeoutMs ? "rig" : null;
}

const actorsOfLoops = "service for ";

/** The actor of a loop's commands, as the audit shows it; no other actor may have such a name. */
export const actorFor = (loop: string): string => `${actorsOfLoops}${loop}`;

/** What a command says about a rig's power; null if it is about something else or failed. */
export function powerCommandOf({ action, parameters, actor, state, updated }: StoredCommand): PowerCommand | null {
  if (state === "failed") return null;
  const stops = stopsBy(action, parameters);
  if (stops === null) return null;
  return { at: updated, open: state === "queued" || state === "sent", byLoop: actor.startsWith(actorsOfLoops), stops };
}

const powerControls: readonly unknown[] = ["mining", "power_target", "power_limit", "throttle", "mode"];

/** Whether it stops the rig; null if it is not about power. */
function stopsBy(action: string, { property, value }: StoredCommand["parameters"]): boolean | null {
  switch (action) {
    case "stop":
      return true;
    case "start":
    case "set_power_limit":
    case "set_mode":
      return false;
    case "set":
      if (!powerControls.includes(property)) return null;
      return ["mining", "power_target"].some((key) => key === property) && /^(false|off|0)$/i.test(String(value));
    default:
      return null;
  }
}
