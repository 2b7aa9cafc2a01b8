import { type Card, unreadCard } from "./card.ts";
import type { CardFiles } from "./sysfs.ts";

/** The energy that a card had used at a time of the monotonic clock. */
export interface EnergyMark {
  readonly joules: number;
  readonly atMs: number;
}

/** An Intel Arc card, through the files of the kernel's drivers i915 and xe, which count energy instead of power. */
export async function readIntel(
  slot: string,
  name: string,
  files: CardFiles,
  before: EnergyMark | undefined,
  now: () => number,
): Promise<{ readonly card: Card; readonly energy: EnergyMark | undefined }> {
  const joules = await files.sensor("energy1_input", 1e-6);
  const energy = joules === null ? undefined : { joules, atMs: now() };
  const card: Card = {
    ...unreadCard({ slot, name, vendor: "intel" }),
    clock: (await megahertz(files, "tile0/gt0/freq0/act_freq")) ?? (await megahertz(files, "drm/gt_act_freq_mhz")),
    fanRpm: await files.sensor("fan1_input"),
    temperature: await files.temperature("pkg", "temp1"),
    memoryTemperature: await files.temperature("vram", "temp3"),
    power: powerBetween(before, energy),
    powerLimit: await files.sensor("power1_max", 1e-6),
  };
  return { card: { ...card, lost: files.isDead }, energy };
}

const megahertz = (files: CardFiles, file: string) => files.number(file, 1e6);

/** null for the first read, and after a reset of the counter. */
export function powerBetween(before: EnergyMark | undefined, after: EnergyMark | undefined): number | null {
  if (before === undefined || after === undefined) return null;
  const [joules, seconds] = [after.joules - before.joules, (after.atMs - before.atMs) / 1000];
  return seconds > 0 && joules >= 0 ? Math.round((joules / seconds) * 10) / 10 : null;
}
