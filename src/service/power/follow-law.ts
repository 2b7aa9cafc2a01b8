import { type Demand, highestWithin, type LoopRig, settingOf } from "./loop-rig.ts";

export interface Share {
  /** W available for all rigs together now. */
  readonly now: number;
  /** W that were available for the whole required time, before a rig may be raised. */
  readonly steady: number;
}

/** A rig that follows a surplus. */
export interface Follower extends LoopRig {
  /** Whether it may be raised now: one change per hour is reserved for lowering. */
  readonly mayRise: boolean;
}

/** Share of a rig's highest power below which a wearing change is not made. */
const minimumChange = 0.05;

/**
 * The power of each rig, in order: its highest setting within the remaining power. Lowered at once, raised only to the
 * steady power, and within the limit of its room. Rigs that stay unchanged, or may not be changed now, are left out;
 * their draw is not available to the others.
 */
export function share(rigs: readonly Follower[], watts: Share): Demand[] {
  const fixed = new Set(rigs.filter(({ free }) => !free));
  for (;;) {
    const wanted = allot(rigs, fixed, watts);
    // A rig that may not be set to its share keeps its draw, so the others' shares are calculated again.
    const refused = wanted.find(({ rig, to }) => to !== settingOf(rig) && !mayBe(rig, to));
    if (refused === undefined)
      return wanted.flatMap(({ rig, to }) => (isChange(rig, to) ? [{ id: rig.id, watts: to }] : []));
    fixed.add(refused.rig);
  }
}

/** Ends following: stops the rigs that can be stopped, and sets the others to their lowest power. */
export const stopFollowing = (rigs: readonly Follower[]): Demand[] => share(rigs, { now: 0, steady: 0 });

interface Allotment {
  readonly rig: Follower;
  /** W. */
  readonly to: number;
}

function allot(rigs: readonly Follower[], fixed: ReadonlySet<Follower>, { now, steady }: Share): Allotment[] {
  const kept = [...fixed].reduce((total, rig) => total + taken(rig), 0);
  let left = { now: now - kept, steady: Math.min(steady, now) - kept };
  const rooms = new Map(rigs.flatMap(({ room }) => (room == null ? [] : [[room.key, room.watts]])));
  const spend = ({ room }: Follower, watts: number): void => {
    if (room != null) rooms.set(room.key, (rooms.get(room.key) ?? 0) - watts);
  };
  for (const rig of fixed) spend(rig, taken(rig));
  return rigs.flatMap((rig): Allotment[] => {
    if (fixed.has(rig)) return [];
    const most = rig.room == null ? Number.POSITIVE_INFINITY : (rooms.get(rig.room.key) ?? 0);
    const to = settingFor(rig, { now: Math.min(left.now, most), steady: Math.min(left.steady, most) });
    spend(rig, to);
    left = { now: left.now - to, steady: left.steady - to };
    return [{ rig, to }];
  });
}

function settingFor(rig: Follower, { now, steady }: Share): number {
  const present = settingOf(rig);
  const margin = minimumChange * rig.ladder.highest;
  const most = recent(rig, now);
  // A little lower, so that the next cloud needs no further change.
  if (present > most)
    return most > 0 && rig.wears(most) ? Math.max(leastOf(rig), Math.min(most, recent(rig, present - margin))) : most;
  const more = recent(rig, steady);
  if (more <= present) return present;
  return rig.mining && rig.wears(more) && more - present < margin ? present : more;
}

/** W of its lowest setting. */
const leastOf = ({ ladder }: Follower): number => ladder.choose(ladder.lowest).watts;

const recent = (rig: Follower, watts: number): number => {
  const most = highestWithin(rig.ladder, watts);
  return most === 0 && !rig.ladder.stops ? leastOf(rig) : most;
};

/** The power of a rig that stays as it is: at least its draw. */
const taken = (rig: Follower): number => (rig.mining ? Math.max(settingOf(rig), rig.draw) : 0);

function mayBe(rig: Follower, watts: number): boolean {
  return rig.permits(watts) && (watts <= settingOf(rig) || rig.mayRise || !rig.wears(watts));
}

const isChange = (rig: Follower, watts: number): boolean =>
  rig.mining && watts > 0
    ? watts !== settingOf(rig) && rig.ladder.choose(watts).settings.length > 0
    : watts > 0 !== rig.mining;

/** Counted changes, epoch ms, and how many are allowed per hour. */
export interface Changes {
  readonly made: readonly number[];
  readonly atMost: number;
}

const hour = 3_600_000;

/** Whether a counted change may give a rig more power: changes are spread over the hour, and one is reserved. */
export function mayRise({ made, atMost }: Changes, now: number): boolean {
  const recent = made.filter((at) => at > now - hour);
  const last = recent.at(-1) ?? Number.NEGATIVE_INFINITY;
  const kept = atMost > 1 ? 1 : 0;
  return recent.length < atMost - kept && now >= last + hour / Math.max(1, atMost - kept);
}
