import type { Room } from "../../../contract/resources.ts";
import { clockTime, power } from "../../format.ts";
import { t } from "../../language.ts";

/** What the rigs of a room do and what controls them, in a few words. */
export function stateOf(room: Room): string {
  const what = doing(room);
  const who = holder(room);
  return who === null ? what : `${what} · ${who}`;
}

function doing(room: Room): string {
  const { on, power: watts, kind, mining } = room;
  if (on === null) return t.family.unknown;
  if (!on) return t.shell.off;
  // The draw of stopped rigs is negligible.
  if (mining === 0 && kind === "surplus") return sunWait(room);
  if (mining === 0 && kind === "target") return heatWait(room);
  if (watts === null) return t.shell.on;
  if (watts === 0) return t.family.starts;
  return kind === "surplus" ? used(watts, room.available) : t.family.draws({ watts: power(watts) });
}

/** The rigs' share of the surplus, and the remainder. */
function used(watts: number, available: number | null): string {
  if (available === null) return t.family.draws({ watts: power(watts) });
  const left = Math.round(Math.max(0, available) - watts);
  return left < 0
    ? t.family.usesMore({ watts: power(watts), more: power(-left) })
    : t.family.uses({ watts: power(watts), left: power(left) });
}

function sunWait({ available, lowest }: Room): string {
  if (available === null) return t.family.waitsForMeter;
  return lowest !== null && available < lowest ? t.family.waitsForSun({ watts: power(lowest) }) : t.family.waits;
}

function heatWait({ demand, temperature }: Room): string {
  if (temperature === null) return t.family.waitsForTemperature;
  return demand !== null && demand > 0 ? t.family.waitsToHeat : t.family.warm;
}

function holder({ heldBy, on, kind }: Room): string | null {
  if (heldBy === null) return null;
  const { until } = heldBy;
  // The service's own key has no name.
  const what = heldBy.what === "http" ? t.shell.owner : heldBy.what;
  if (until !== null) {
    const time = clockTime(until);
    return kind === "power" ? t.family.heldUntil({ who: what, time }) : t.family.backAt({ who: what, time });
  }
  return on === false ? t.family.offBy({ who: what }) : t.family.held({ who: what });
}
