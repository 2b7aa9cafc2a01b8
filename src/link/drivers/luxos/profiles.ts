import type { Notes } from "../../tolerant-reader.ts";
import type { WattLevel } from "../shared/watt-levels.ts";
import { type Reports, recordOf, recordsOf } from "./reports.ts";

/** What the rig may run at, and what it does run at. */
export interface Profiles {
  /** By their names, with the power that LuxOS estimates; those that it tells none of are left out. */
  readonly levels: readonly WattLevel[];
  /** Names without a known power. */
  readonly others: readonly string[];
  readonly present: string | null;
  /** Whether Advanced Thermal Management moves between profiles by itself; null when the rig does not say. */
  readonly managed: boolean | null;
  /** The highest that it may choose; "" when it may choose any, null when the rig does not say. */
  readonly highest: string | null;
}

/** A comma would end the parameter. */
const isName = (name: string | null): name is string => name !== null && !name.includes(",");

export function profilesOf(live: Reports, seldom: Reports, notes: Notes): Profiles {
  const config = recordOf(live, "config", "CONFIG", notes);
  const atm = recordOf(live, "atm", "ATM", notes);
  const listed = recordsOf(seldom, "profiles", "PROFILES", notes).flatMap((profile) => {
    const label = profile.text("Profile Name", 60);
    return isName(label) ? [{ label, watts: profile.number("Watts", { absent: 0 }) }] : [];
  });
  return {
    levels: listed.flatMap(({ label, watts }) => (watts === null ? [] : [{ label, watts }])),
    others: listed.flatMap(({ label, watts }) => (watts === null ? [label] : [])),
    present: config.text("Profile", 60) ?? config.text("ProfileCurrent", 60),
    managed: atm.boolean("Enabled") ?? config.boolean("IsAtmEnabled"),
    highest: atm.has("Enabled") ? (atm.text("MaxProfile", 60) ?? "") : null,
  };
}

/** W that the rig's settings hold it to: of its profile, or of the highest that thermal management may choose. */
export function limitNow({ levels, present, managed, highest }: Profiles): number | null {
  const wattsOf = (name: string | null): number | null => levels.find(({ label }) => label === name)?.watts ?? null;
  if (managed !== true || highest === null) return wattsOf(present);
  if (highest !== "") return wattsOf(highest);
  return levels.length === 0 ? null : Math.max(...levels.map(({ watts }) => watts));
}
