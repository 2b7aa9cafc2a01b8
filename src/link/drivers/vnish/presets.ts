import { parseNumber, type TolerantReader } from "../../tolerant-reader.ts";
import type { WattLevel } from "../shared/watt-levels.ts";

/** The rig's presets and the present one. */
export interface Presets {
  /** Tuned presets with their power; choosing an untuned one starts hours of tuning. */
  readonly tuned: readonly WattLevel[];
  /** Presets without a power: `disabled`, which is the stock setting, and an untuned one in use. */
  readonly others: readonly string[];
  readonly present: string | null;
  readonly presentWatts: number | null;
  /** Whether it switches presets automatically. */
  readonly switches: boolean;
}

/** The stock setting, which every rig has. */
const stock = "disabled";

/** `listed` is null where the rig does not list its presets without a login. */
export function presetsOf(listed: readonly TolerantReader[] | null, performance: TolerantReader): Presets {
  const current = performance.object("current_preset");
  const present = current.text("name", 60);
  const named = (listed ?? []).flatMap((preset) => {
    const name = preset.text("name", 60);
    return name === null ? [] : [{ name, watts: wattsOf(preset, name), tuned: preset.text("status") === "tuned" }];
  });
  const tuned = named.flatMap(({ name, watts, tuned }) =>
    tuned && name !== stock && watts !== null ? [{ watts, label: name }] : [],
  );
  const others = new Set(named.some(({ name }) => name === stock) ? [stock] : []);
  if (listed !== null && present !== null && !tuned.some(({ label }) => label === present)) others.add(present);
  const presentPreset = named.find(({ name }) => name === present);
  return {
    tuned,
    others: [...others],
    present,
    presentWatts: presentPreset?.watts ?? (present === null ? null : wattsOf(current, present)),
    switches: performance.object("preset_switcher").boolean("enabled") === true,
  };
}

/** Presets are named by their power, or describe it: "1100 watt ~ 53 TH". */
function wattsOf(preset: TolerantReader, name: string): number | null {
  if (name === stock) return null;
  const written = /^\s*(\d{2,5})\s*w(?:att)?s?\b/i.exec(preset.text("pretty") ?? "")?.[1] ?? name;
  const watts = /^\d{2,5}$/.test(written) ? parseNumber(written) : null;
  return watts === 0 ? null : watts;
}
