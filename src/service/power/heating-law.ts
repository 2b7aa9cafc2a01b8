import { type Demand, highestWithin, type LoopRig, settingOf } from "./loop-rig.ts";

export interface Room {
  /** °C. */
  readonly target: number;
  /** °C. */
  readonly room: number;
  /** °C below the target at which all heat is on, and above it at which all heat is off. */
  readonly hysteresis: number;
}

/** The share of all its heat that a room needs: 1 at the lower edge of its band, 0 at the upper. */
export const demandOf = ({ target, room, hysteresis }: Room): number =>
  Math.min(1, Math.max(0, (target + hysteresis - room) / (2 * hysteresis)));

/** Share of a rig's highest power below which a change is not made: for a quick change, and for a wearing one. */
const minimumChange = { atOnce: 0.05, wearing: 0.2 };

/**
 * The power of each rig for a demand of 0 to 1; rigs that stay unchanged, or may not be changed now, are left out.
 * Mining rigs share the watts, each between its lowest and its highest power. Another rig starts when the watts would
 * fill it, and the last stops when the others can do with their lowest: a rig that can only be stopped and started runs
 * from the lower edge of the band to the upper, and several share the band. Where the room has a limit, that is all the
 * heat.
 */
export function heat(rigs: readonly LoopRig[], demand: number): Demand[] {
  const most = rigs[0]?.room?.watts ?? Number.POSITIVE_INFINITY;
  const all = sum(rigs, ({ ladder }) => ladder.highest);
  const wanted = demand * Math.min(all, most);
  const running = runningAt(rigs, wanted, demand, most);
  const isFull = demand >= 1 && most < all;
  const fixed = rigs.filter((rig) => !movable(rig));
  const left = wanted - sum(fixed, settingOf);
  const shared = running.filter(movable);
  const least = sum(shared, ({ ladder }) => ladder.lowest);
  const span = sum(shared, ({ ladder }) => ladder.highest) - least;
  const share = span <= 0 ? 1 : Math.min(1, Math.max(0, (left - least) / span));
  return rigs.flatMap((rig): Demand[] => {
    const { id, ladder } = rig;
    const { lowest, highest } = ladder;
    const fair = running.includes(rig) ? lowest + share * (highest - lowest) : 0;
    const watts = highestWithin(ladder, fair);
    return movable(rig) && isWorthIt(rig, watts, fair, isFull) && rig.permits(watts) ? [{ id, watts }] : [];
  });
}

/** Ends heating: stops the rigs that can be stopped, and sets the others to their lowest power. */
export const stopHeating = (rigs: readonly LoopRig[]): Demand[] => heat(rigs, 0);

const movable = ({ free }: LoopRig): boolean => free;

/** The rigs that should mine, given those that mine now. A rig that may not be changed stays unchanged. */
function runningAt(rigs: readonly LoopRig[], wanted: number, demand: number, most: number): LoopRig[] {
  const running = rigs.filter((rig) => rig.mining || (rig.free && !rig.ladder.stops));
  const others = rigs.filter((rig) => !running.includes(rig) && rig.free && rig.permits(rig.ladder.lowest));
  const highest = (some: readonly LoopRig[]) => sum(some, ({ ladder }) => ladder.highest);
  const lowest = (some: readonly LoopRig[]) => sum(some, ({ ladder }) => ladder.lowest);
  for (const next of others) {
    if (demand < 1 && wanted + rounding < highest(running) + next.ladder.highest) break;
    if (lowest(running) + next.ladder.lowest > most + rounding) continue;
    running.push(next);
  }
  for (const last of rigs.toReversed()) {
    const rest = running.filter((rig) => rig !== last);
    if (!running.includes(last) || !last.free || !last.ladder.stops || !last.permits(0)) continue;
    const fits = lowest(running) <= most + rounding;
    if (demand > 0 && fits && wanted - rounding > lowest(rest)) break;
    running.splice(running.indexOf(last), 1);
  }
  return running;
}

/** W. */
const rounding = 1e-6;

/**
 * `fair`: its exact share, W; `watts`: the setting closest to it; `isFull`: the room takes all that its limit allows.
 */
function isWorthIt(rig: LoopRig, watts: number, fair: number, isFull: boolean): boolean {
  const { ladder, mining } = rig;
  if (watts === 0 || !mining) return (watts === 0) === mining;
  if (ladder.choose(watts).settings.length === 0) return false;
  if (fair >= ladder.highest || fair <= ladder.lowest) return true;
  const present = settingOf(rig);
  // Between two settings, the present one is good enough.
  const moved = watts > present ? watts - present : present - fair;
  return moved >= ladder.highest * (rig.wears(watts) && !isFull ? minimumChange.wearing : minimumChange.atOnce);
}

const sum = (rigs: readonly LoopRig[], watts: (rig: LoopRig) => number): number =>
  rigs.reduce((total, rig) => total + watts(rig), 0);
