import { fullShare, settledSeconds } from "../../contract/efficiency.ts";
import { type Range, widened } from "../../contract/ranges.ts";
import type { ControlKey } from "../../contract/readings.ts";
import type { Brief } from "../../fleet/state.ts";
import type { PowerMemory } from "../../store/index.ts";
import type { PowerLadder } from "./power-ladder.ts";

/** A measured draw must differ from the stored one by more than this to be stored; W, and a share of it. */
const tolerance = { watts: 10, share: 0.03 };

/** A rig without a memory. */
export const blank: PowerMemory = {
  full: null,
  modes: {},
  before: {},
  mining: null,
  startedAt: null,
  stoppedAt: null,
  changes: [],
  command: null,
  range: null,
  rungs: [],
};

/**
 * The draw of a rig that has settled and is not throttled, at its settings. A nameplate gives the draw of the model, not
 * that of a mode.
 */
export function learnedDraw({ full, modes }: PowerMemory, { readings, controls }: Brief): Partial<PowerMemory> {
  const { power, powerSource, mining, hashrate, hashrateExpected, uptime } = readings;
  const works = hashrate !== null && hashrate > 0 && hashrate >= fullShare * (hashrateExpected ?? 0);
  if (power === null || power <= 0 || mining === false || !works || uptime === null || uptime < settledSeconds)
    return {};
  const reported = (key: ControlKey) => controls.find((each) => each.key === key)?.value ?? null;
  const throttle = reported("throttle");
  if (typeof throttle === "number" && throttle < 100) return {};
  const mode = powerSource === "nameplate" ? null : reported("mode");
  const moved = (known: number | null | undefined) =>
    known == null || Math.abs(known - power) > Math.max(tolerance.watts, tolerance.share * known);
  return {
    ...(moved(full) ? { full: Math.round(power) } : {}),
    ...(typeof mode === "string" && moved(modes[mode]) ? { modes: { ...modes, [mode]: Math.round(power) } } : {}),
  };
}

/** The known range, widened where the ladder goes beyond it. */
export const rangeOf = (ladder: PowerLadder | null, known: Range | null): Range | null =>
  ladder === null || ladder.levels !== null ? known : widened(known, ladder.span);

/** Whether a read has changed nothing that is stored. */
export const isSame = (a: PowerMemory, b: PowerMemory): boolean =>
  a.full === b.full &&
  a.modes === b.modes &&
  a.range?.min === b.range?.min &&
  a.range?.max === b.range?.max &&
  a.mining === b.mining &&
  a.rungs === b.rungs &&
  a.startedAt === b.startedAt &&
  a.stoppedAt === b.stoppedAt;
