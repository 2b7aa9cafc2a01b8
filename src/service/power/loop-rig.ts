import type { PowerLadder } from "./power-ladder.ts";

/** A rig as loops see it. */
export interface LoopRig {
  readonly id: number;
  readonly ladder: PowerLadder;
  /** Whether it mines; assumed if it does not report that. */
  readonly mining: boolean;
  /** Its present draw, W. */
  readonly draw: number;
  /** Its room, if that has a limit: W that the rigs in question may take together. */
  readonly room?: RoomLeft | null;
  /** Whether the loop may send it commands now. */
  readonly free: boolean;
  /** Whether its rules allow this power now. */
  permits(watts: number): boolean;
  /** Whether this power needs a wearing change, of which only a few are allowed per hour. */
  wears(watts: number): boolean;
}

export interface RoomLeft {
  readonly key: string;
  readonly watts: number;
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

/** A value for `power_target`: rounded up to whole watts if that is the same setting. */
export function targetValue(ladder: PowerLadder, watts: number): number {
  const whole = Math.ceil(watts);
  const isSame = whole === watts || (whole <= ladder.highest && ladder.choose(whole).watts === watts);
  return isSame ? whole : Math.ceil(watts * 1000) / 1000;
}
