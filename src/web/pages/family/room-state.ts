import type { Room } from "../../../contract/resources.ts";
import { clockTime, power } from "../../format.ts";
import { t } from "../../language.ts";

/** What the rigs of a room do and who decides that, in a few words. */
export function stateOf(room: Room): string {
  const what = doing(room);
  const who = holder(room);
  return who === null ? what : `${what} · ${who}`;
}

function doing(room: Room): string {
  const { on, power: watts, kind } = room;
  if (on === null) return t.family.unknown;
  if (!on) return t.shell.off;
  if (watts === null) return t.shell.on;
  if (watts > 0) return kind === "surplus" ? used(watts, room.available) : t.family.draws(power(watts));
  if (kind === "surplus") return sunWait(room);
  return kind === "target" ? heatWait(room) : t.family.starts;
}

/** What the rigs take of the surplus, and what is left of it. */
function used(watts: number, available: number | null): string {
  if (available === null) return t.family.draws(power(watts));
  const left = Math.round(available - watts);
  return left < 0 ? t.family.usesMore(power(watts), power(-left)) : t.family.uses(power(watts), power(left));
}

function sunWait({ available, lowest }: Room): string {
  if (available === null) return t.family.waitsForMeter;
  return lowest !== null && available < lowest ? t.family.waitsForSun(power(lowest)) : t.family.waits;
}

function heatWait({ demand, temperature }: Room): string {
  if (temperature === null) return t.family.waitsForTemperature;
  return demand !== null && demand > 0 ? t.family.waitsToHeat : t.family.warm;
}

function holder({ heldBy, on, kind }: Room): string | null {
  if (heldBy === null) return null;
  const { what, until } = heldBy;
  if (until !== null) {
    const time = clockTime(until);
    return kind === "power" ? t.family.heldUntil(what, time) : t.family.backAt(what, time);
  }
  return on === false ? t.family.offBy(what) : t.family.held(what);
}
