import type { Room as ShownRoom } from "../../contract/resources.ts";
import { briefOf } from "../../fleet/state.ts";
import type { MoneySums } from "../../store/index.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { LocalClock } from "../money/local-time.ts";
import type { Rates } from "../money/rates.ts";
import { Follow } from "./follow.ts";
import type { Follower } from "./follow-law.ts";
import { Heating } from "./heating.ts";
import { highestWithin, settingOf } from "./loop-rig.ts";
import type { Loops } from "./loops.ts";
import type { PowerHolds } from "./power-holds.ts";
import { isMining, type PowerLadder } from "./power-ladder.ts";
import type { PowerTargets } from "./power-targets.ts";
import type { Room } from "./room-book.ts";

export interface RoomContext {
  readonly registry: MinerRegistry;
  readonly loops: Loops;
  readonly power: PowerTargets;
  readonly holds: PowerHolds;
  /** Sums of these miners on a local date; null if nothing was counted. */
  readonly sumsOf: (minerIds: readonly number[], date: string) => Promise<MoneySums | null>;
  readonly localTime: LocalClock;
  readonly rates: Pick<Rates, "currency">;
  /** Epoch ms. */
  readonly now: () => number;
}

export const kindOf = ({ loop }: Room): ShownRoom["kind"] =>
  loop === null ? "power" : loop instanceof Heating ? "target" : "surplus";

/** A room in the API; `money`: of its miners today, null if nothing was counted. */
export function presentRoom(room: Room, money: MoneySums | null, context: RoomContext): ShownRoom {
  const { registry, loops, holds } = context;
  const { key, name, groupId, loop, minerIds, max } = room;
  const entries = minerIds.flatMap((id) => registry.find(id) ?? []);
  const rigs = loops.rigsOf(minerIds);
  const heating = loop instanceof Heating ? loop.status : null;
  const surplus = loop instanceof Follow ? loop.status : null;
  const mining = entries.map(miningOf);
  const on = isOn(room, entries, mining, loops);
  const control = heating === null ? powerControl(rigs, max?.watts ?? null) : targetControl(heating);
  return {
    key,
    name,
    kind: kindOf(room),
    groupId,
    miners: [...minerIds],
    max,
    on,
    control: loop instanceof Follow ? limitControl(control, on === false ? 0 : loop.limit) : control,
    changing: minerIds.some((id) => holds.isOpen(id)),
    temperature: heating?.room ?? null,
    temperatureAt: heating?.at ?? null,
    demand: heating?.demand ?? null,
    surplus: surplus?.surplus ?? null,
    surplusAt: timeOf(surplus?.at),
    available: surplus?.available == null ? null : Math.round(surplus.available.watts),
    availableAt: timeOf(surplus?.available?.at),
    mining: mining.filter((each) => each === true).length,
    power: sumOf(entries.map(({ rig }) => briefOf(rig.state)?.readings.power ?? null)),
    heldBy: holderOf(room, entries, context),
    highest: rigs.length === 0 ? null : Math.round(highestOf(rigs)),
    lowest: rigs.length === 0 ? null : Math.ceil(lowestOf(rigs)),
    today: today(money, context),
  };
}

const timeOf = (at: number | null | undefined): string | null => (at == null ? null : new Date(at).toISOString());

const sumOf = (figures: readonly (number | null)[]): number | null => {
  const known = figures.filter((figure) => figure !== null);
  return known.length === 0 ? null : known.reduce((sum, figure) => sum + figure, 0);
};

export const highestOf = (rigs: readonly Follower[]): number =>
  rigs.reduce((sum, { ladder }) => sum + ladder.highest, 0);

/** The lowest power in W that one of them can run at. */
export const lowestOf = (rigs: readonly Follower[]): number => Math.min(...rigs.map(({ ladder }) => ladder.lowest));

export const miningOf = ({ rig }: Entry): boolean | null => {
  const brief = briefOf(rig.state);
  return brief === null ? null : isMining(brief.controls, brief.readings.mining);
};

/** A rig that its loop has stopped is not off: it waits for cold or sun. */
function isOn(
  { loop }: Room,
  entries: readonly Entry[],
  mining: readonly (boolean | null)[],
  loops: Loops,
): boolean | null {
  if (mining.includes(true)) return true;
  if (!mining.includes(false)) return null;
  return loop !== null && entries.some((entry, index) => mining[index] === false && !loops.isHeld(entry));
}

const targetControl = ({ target }: { readonly target: number }): ShownRoom["control"] => ({
  unit: "°C",
  value: target,
  min: 5,
  max: 35,
  step: 0.5,
  options: null,
});

function powerControl(rigs: readonly Follower[], most: number | null): ShownRoom["control"] {
  if (rigs.length === 0) return null;
  const max = Math.floor(Math.min(highestOf(rigs), most ?? Number.POSITIVE_INFINITY));
  const min = rigs.reduce((sum, { ladder }) => sum + (ladder.stops ? 0 : ladder.lowest), 0);
  const options = totalsOf(
    rigs.map(({ ladder }) => ladder),
    max,
  );
  return {
    unit: "W",
    value: Math.round(rigs.reduce((sum, rig) => sum + settingOf(rig), 0)),
    min: Math.min(max, Math.ceil(min)),
    max,
    step: options === null ? 1 : null,
    options,
  };
}

/** The same slider for the maximum that rigs take of a surplus; null: all of it. */
const limitControl = (control: ShownRoom["control"], limit: number | null): ShownRoom["control"] =>
  control && { ...control, value: Math.min(limit ?? control.max, control.max) };

/** Above this number of totals, any power counts as possible. */
const mostTotals = 50;

/** The totals that rigs with a few powers each can be set to, W, within a limit; null if any is possible. */
export function totalsOf(ladders: readonly PowerLadder[], max: number): number[] | null {
  let sums = new Set([0]);
  for (const { levels, stops } of ladders) {
    if (levels === null) return null;
    const own = [...(stops ? [0] : []), ...levels.map(({ watts }) => watts)];
    sums = new Set([...sums].flatMap((sum) => own.map((watts) => sum + watts)));
    if (sums.size > mostTotals) return null;
  }
  const reached = (total: number): boolean => {
    let left = total;
    for (const ladder of ladders) left -= highestWithin(ladder, left);
    return left < 1;
  };
  return [...sums]
    .filter((sum) => sum <= max && reached(sum))
    .map((sum) => Math.ceil(sum))
    .sort((one, other) => one - other);
}

/** The holder of the first of its rigs that something else controls. */
function holderOf({ loop }: Room, entries: readonly Entry[], { loops, power }: RoomContext): ShownRoom["heldBy"] {
  for (const entry of entries) {
    const { id } = entry.facts;
    const holder = loop === null || loops.isHeld(entry) ? power.holder(id, entry.rig.state) : null;
    const what = holder?.what ?? (loop === null ? loops.loopOf(id)?.settings.name : undefined);
    const until = holder?.until ?? null;
    if (what !== undefined) return { what, until: until === null ? null : new Date(until).toISOString() };
  }
  return null;
}

function today(sums: MoneySums | null, { localTime, rates, now }: RoomContext): ShownRoom["today"] {
  const { date } = localTime(now());
  const { energy = null, cost = null, revenue = null, profit = null } = sums ?? {};
  return {
    date,
    energy,
    cost,
    revenue,
    profit,
    currency: rates.currency,
    incomplete: sums !== null && (sums.uncosted > 0 || sums.unearned > 0),
  };
}
