import type { StoredCurtailedRig } from "../../store/index.ts";

/** What the last reading of a rig shows. */
export interface RigView {
  /** Epoch ms of the reading; null: it was never read. */
  readonly at: number | null;
  readonly reachable: boolean;
  /** W; null: not known. */
  readonly draw: number | null;
  /** Whether it mines or should; null: not known. */
  readonly mining: boolean | null;
  /** W of its settings; null: not known. */
  readonly setting: number | null;
}

/** ms after which less power that was not seen is no longer counted on. */
export const unseenAfterMs = 60_000;
/** Commands to a rig that shows nothing of them. */
const mostTries = 3;
/** Times that a rig that starts automatically is sent its command again. */
const mostWakes = 3;
/** A rig takes that much more than its setting, as share of it and in W: what it measures is not exact. */
const overShare = 0.1;
const overWatts = 25;

/** Whether a reading shows that a rig takes no more than it was set to. A stopped rig of unknown power must not mine. */
export function shows({ draw, mining, setting }: RigView, wanted: number): boolean {
  const most = wanted * (1 + overShare) + overWatts;
  if (wanted === 0) return mining === false && (draw === null || draw <= idleMost);
  if (draw !== null) return draw <= most;
  return setting !== null && setting <= most;
}

/** W that a stopped rig may take for its fans and its controller. */
const idleMost = 250;

/** What is to be done with a rig: its command is sent again, or it is reported. */
export interface RigTurn {
  readonly row: StoredCurtailedRig;
  /** It does not follow its command, which is not sent again. */
  readonly gaveUp?: "silent" | "wakes";
}

/**
 * The next state of a rig while its curtailment lasts. `patienceMs`: how long it may take to show a command; `isOpen`: its
 * command is under way. Pure.
 */
export function advance(
  row: StoredCurtailedRig,
  view: RigView,
  { now, patienceMs, isOpen }: { readonly now: number; readonly patienceMs: number; readonly isOpen: boolean },
): RigTurn {
  const isFresh = view.at !== null && view.at > (row.sent ?? Number.POSITIVE_INFINITY);
  switch (row.state) {
    case "due":
      return view.reachable ? { row } : { row: { ...row, state: "away" } };
    case "away":
      return view.reachable ? { row: { ...row, state: "due" } } : { row };
    case "sent": {
      if (view.reachable && isFresh && shows(view, row.wanted))
        return { row: { ...row, state: "reached", reached: row.reached ?? now, message: "" } };
      if (isOpen || !isPast(row, now, patienceMs)) return { row };
      if (!view.reachable) return { row: { ...row, state: "away" } };
      if (row.tries < mostTries) return { row: { ...row, state: "due" } };
      return {
        row: { ...row, state: "failed", message: row.message || "Its readings do not show less power" },
        gaveUp: "silent",
      };
    }
    case "reached": {
      const isAwake = view.reachable && view.mining === true;
      if (!isAwake || shows(view, row.wanted)) return { row };
      if (row.wakes < mostWakes) return { row: { ...row, state: "due", tries: 0, wakes: row.wakes + 1 } };
      return { row: { ...row, state: "failed", message: "It keeps starting automatically" }, gaveUp: "wakes" };
    }
    default:
      return { row };
  }
}

/** The next state of a rig that is given back its power. Pure. */
export function advanceBack(
  row: StoredCurtailedRig,
  view: RigView,
  { now, patienceMs, isOpen }: { readonly now: number; readonly patienceMs: number; readonly isOpen: boolean },
): RigTurn {
  if (row.state !== "restoring" || row.sent === null) return { row };
  const isFresh = view.reachable && view.at !== null && view.at > row.sent;
  const { setting } = row.before;
  const hasSetting = setting === null || view.setting === null || view.setting >= setting * (1 - overShare);
  if (isFresh && view.mining !== false && hasSetting)
    return { row: { ...row, state: "restored", restored: now, message: "" } };
  if (isOpen || !isPast(row, now, patienceMs)) return { row };
  if (row.tries < mostTries) return { row: { ...row, sent: null } };
  return {
    row: { ...row, state: "failed", gaveUp: true, message: row.message || "It does not start again" },
    gaveUp: "silent",
  };
}

/** Whether a command should have shown by now, also if the clock was set back since. */
const isPast = ({ sent }: StoredCurtailedRig, now: number, patienceMs: number): boolean =>
  Math.abs(now - (sent ?? 0)) >= Math.max(patienceMs, unseenAfterMs);

/** Whether a rig's power is held down by its curtailment. */
export const isHeld = ({ state, gaveUp }: StoredCurtailedRig): boolean =>
  state === "due" || state === "sent" || state === "reached" || state === "away" || (state === "failed" && !gaveUp);
