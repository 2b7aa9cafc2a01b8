import type { StoredCommand } from "../../store/index.ts";

/**
 * Precedence on a rig's power, the lowest first: tuning, the loops that heat or follow a surplus, rules and schedules,
 * curtailment, people, curtailment by a plan with `safety` or for the limit of a place, and safety rules.
 */
export const powerRanks = ["tuning", "loop", "rule", "curtailment", "person", "emergency", "safety"] as const;
export type PowerRank = (typeof powerRanks)[number];

/** The last command about the power of a rig. */
export interface PowerCommand {
  /** Epoch ms. */
  readonly at: number;
  readonly open: boolean;
  readonly by: PowerRank;
  /** Its actor. */
  readonly who: string;
  readonly stops: boolean;
}

/** What keeps a caller from setting a rig's power. `rig`: it was stopped at the rig itself, or stopped on its own. */
export interface PowerHold {
  readonly by: PowerRank | "rig";
  /** Epoch ms; null: until a caller of that rank or a higher one starts the rig. */
  readonly until: number | null;
  /** It lasts as long as this curtailment. */
  readonly curtailed?: CurtailedBy;
}

/** The wish of a caller for a rig's power. */
export interface PowerWish {
  readonly rank: PowerRank;
  readonly stops: boolean;
  /** A person who knows of the curtailment. */
  readonly overrides?: boolean;
}

/** The curtailment that a rig is held at a lower power by. */
export interface CurtailedBy {
  readonly id: number;
  readonly reason: string;
  readonly rank: PowerRank;
  /** A lower power does not wait for the rules of the rig. */
  readonly urgent: boolean;
}

/** Whether a curtailment keeps a caller from giving a rig more power. Anybody may stop it. */
export const isHeldBy = ({ rank }: CurtailedBy, wish: PowerWish): boolean =>
  !wish.stops && wish.overrides !== true && powerRanks.indexOf(wish.rank) < powerRanks.indexOf(rank);

/** ms for which a setting holds against lower ranks. */
const settingHoldMs = 3_600_000;
/** ms for which people cannot undo an action of a safety rule; they may always stop a rig. */
export const safetyHoldMs = 600_000;
/** ms after which a rig that should mine and does not counts as stopped at the rig itself. */
const startTimeoutMs = 600_000;

/**
 * What holds a caller back from setting a rig's power; null if nothing does. Against lower ranks, a stop holds until
 * the rig is started, any other setting for an hour. Loops also leave alone a rig that should mine but does not.
 */
export function powerHold(last: PowerCommand | null, wish: PowerWish, mining: boolean, now: number): PowerHold | null {
  if (last === null || wish.rank === "safety" || (wish.rank === "emergency" && wish.stops)) return null;
  const { by, at, stops } = last;
  if (wish.rank === "person")
    return by === "safety" && !wish.stops && now < at + safetyHoldMs ? { by, until: at + safetyHoldMs } : null;
  if (powerRanks.indexOf(by) > powerRanks.indexOf(wish.rank)) {
    if (stops && !(mining && now > at + settingHoldMs)) return { by, until: null };
    if (!stops && now < at + settingHoldMs) return { by, until: at + settingHoldMs };
  }
  const isAutomatic = wish.rank === "loop" || wish.rank === "tuning";
  return isAutomatic && !stops && !mining && now > at + startTimeoutMs ? { by: "rig", until: null } : null;
}

const actorsOfLoops = "service for ";

/** The actor of a loop's commands, as the audit shows it; no other actor may have such a name. */
export const actorFor = (loop: string): string => `${actorsOfLoops}${loop}`;

const actorsOfMaxima = `${actorsOfLoops}the maximum of `;

/** The actor of commands that lower a room to its limit. */
export const maximumActorFor = (room: string): string => `${actorsOfMaxima}${room}`;

/** Whether a command only lowered a room to its limit; control of the rig's power stays the same. */
export const isOfMaximum = (actor: string): boolean => actor.startsWith(actorsOfMaxima);

const actorOfCurtailment = /^service in (safety )?curtailment \d+$/;

/** The actor of a curtailment's commands. */
export const curtailmentActor = (id: number, rank: PowerRank): string =>
  `service in ${rank === "emergency" ? "safety " : ""}curtailment ${id}`;

/** Whether a command belongs to a curtailment, which holds its rigs itself as long as it lasts. */
export const isOfCurtailment = (actor: string): boolean => actorOfCurtailment.test(actor);

/**
 * Whether a command is to lower the power of a rig for safety: by a safety rule, by a curtailment for safety, or to hold a room
 * to its maximum. Whether what it sends only lowers it is checked again when it is sent.
 */
export function isForSafety(command: Pick<StoredCommand, "actor" | "action" | "parameters" | "cause">): boolean {
  const { action, parameters, actor } = command;
  const rank = rankOf(command);
  if (!isOfMaximum(actor) && rank !== "safety" && rank !== "emergency") return false;
  const stops = stopsBy(action, parameters);
  return stops === true || (stops === false && action !== "start" && action !== "plug");
}

/** A command's effect on a rig's power; null if it concerns something else or failed. */
export function powerCommandOf(command: StoredCommand): PowerCommand | null {
  const { action, parameters, actor, state, updated } = command;
  if (state === "failed") return null;
  const stops = stopsBy(action, parameters);
  if (stops === null) return null;
  return { at: updated, open: state === "queued" || state === "sent", by: rankOf(command), who: actor, stops };
}

/** The rank of a command: that of its cause, otherwise of its actor. */
export function rankOf({ actor, cause }: Pick<StoredCommand, "actor" | "cause">): PowerRank {
  if (cause?.kind === "rule" || cause?.kind === "schedule") return cause.safety === true ? "safety" : "rule";
  const curtailing = actorOfCurtailment.exec(actor);
  if (curtailing !== null) return curtailing[1] === undefined ? "curtailment" : "emergency";
  return actor.startsWith(actorsOfLoops) ? "loop" : "person";
}

/** Whether a command stops the rig, or sets a power that may stop it: an earlier start must not follow it. */
export const endsStarts = ({ action, parameters }: Pick<StoredCommand, "action" | "parameters">): boolean =>
  stopsBy(action, parameters) === true || (action === "set" && parameters.property === "power_target");

const powerControls: readonly unknown[] = ["mining", "power_target", "power_limit", "throttle", "mode"];

/** Whether an action stops the rig; null if it is not about power. */
export function stopsBy(action: string, { property, value, plug }: Readonly<Record<string, unknown>>): boolean | null {
  switch (action) {
    case "stop":
      return true;
    case "start":
    case "set_power_limit":
    case "set_mode":
      return false;
    case "plug":
      return plug === "off";
    case "set":
      if (!powerControls.includes(property)) return null;
      return ["mining", "power_target"].some((key) => key === property) && /^(false|off|0)$/i.test(String(value));
    default:
      return null;
  }
}
