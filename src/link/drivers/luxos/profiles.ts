import type { Notes } from "../../tolerant-reader.ts";
import type { WattLevel } from "../shared/watt-levels.ts";
import { type Reports, recordOf, recordsOf } from "./reports.ts";

/** The rig's profiles and the present one. */
export interface Profiles {
  /** Profiles with the power that LuxOS estimates. */
  readonly levels: readonly WattLevel[];
  /** Profiles without a known power. */
  readonly others: readonly string[];
  readonly present: string | null;
  /** Whether Advanced Thermal Management selects profiles automatically; null where it is not reported. */
  readonly managed: boolean | null;
  /** The highest that it may select; "" for any, null where it is not reported. */
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

/** W that the rig's settings allow: of its profile, or of the highest that thermal management may select. */
export function limitNow({ levels, present, managed, highest }: Profiles): number | null {
  const wattsOf = (name: string | null): number | null => levels.find(({ label }) => label === name)?.watts ?? null;
  if (managed !== true || highest === null) return wattsOf(present);
  if (highest !== "") return wattsOf(highest);
  return levels.length === 0 ? null : Math.max(...levels.map(({ watts }) => watts));
}
