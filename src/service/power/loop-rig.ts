import type { StoredCommand } from "../../store/index.ts";
import type { PowerLadder } from "./power-ladder.ts";

/** A rig as a loop decides on it. */
export interface LoopRig {
  readonly id: number;
  readonly ladder: PowerLadder;
  /** Whether it mines; one that does not say is taken to. */
  readonly mining: boolean;
  /** W that it draws now. */
  readonly draw: number;
  /** Whether the loop may tell it something now at all. */
  readonly free: boolean;
  /** Whether its rules let it be held to so many watts now. */
  permits(watts: number): boolean;
  /** Whether that takes a change that may only be made a few times an hour; then it has to be worth one. */
  wears(watts: number): boolean;
}

/** What a rig is to be held to. */
export interface Demand {
  readonly id: number;
  /** W of one of its settings; 0 = stopped. */
  readonly watts: number;
}

/** The most of its settings that takes no more than so many watts; 0 where even the least takes more. */
export const highestWithin = (ladder: PowerLadder, watts: number): number =>
  watts + tolerance < ladder.lowest ? 0 : ladder.choose(Math.max(watts, ladder.lowest)).watts;

/** W; sums of settings are no whole numbers. */
const tolerance = 1e-6;

/** W of its present settings, 0 when it is stopped; what it draws where it does not say. */
export const settingOf = ({ ladder, mining, draw }: LoopRig): number => (mining ? (ladder.present ?? draw) : 0);

/** As `power_target` takes it: whole where that is the same setting, never less than it. */
export function targetValue(ladder: PowerLadder, watts: number): number {
  const whole = Math.ceil(watts);
  const isSame = whole === watts || (whole <= ladder.highest && ladder.choose(whole).watts === watts);
  return isSame ? whole : Math.ceil(watts * 1000) / 1000;
}

/** What the last command about its power says of a rig. */
export interface PowerCommand {
  /** Epoch ms. */
  readonly at: number;
  readonly open: boolean;
  /** By a loop, not by a person or what a person has set up. */
  readonly byLoop: boolean;
  readonly stops: boolean;
}

/** ms for which a rig is left as somebody has set it. */
const overrideMs = 3_600_000;
/** ms after which a rig that was told to mine and does not was stopped by somebody at the rig itself. */
const startTimeoutMs = 600_000;

/**
 * Why a rig is left alone, or null. Whom a person stops stays so until a person starts it; what else a person sets
 * stays for an hour. Whom somebody stops at the rig itself, or what stops by itself, stays so until it mines again.
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

/** Who acts for a loop, as the audit shows it; nobody else may be called so. */
export const actorFor = (loop: string): string => `${actorsOfLoops}${loop}`;

/** A command as a word about a rig's power; null for what is about something else, or was not done. */
export function powerCommandOf({ action, parameters, actor, state, updated }: StoredCommand): PowerCommand | null {
  if (state === "failed") return null;
  const stops = stopsBy(action, parameters);
  if (stops === null) return null;
  return { at: updated, open: state === "queued" || state === "sent", byLoop: actor.startsWith(actorsOfLoops), stops };
}

const powerControls: readonly unknown[] = ["mining", "power_target", "power_limit", "throttle", "mode"];

/** Whether it stops the rig; null when it is not about its power. */
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
