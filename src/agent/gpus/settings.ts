import type { GpuSettings, HostGpu } from "../../contract/agent.ts";
import { type SettingName, settingNames } from "./card-changes.ts";

/** Settings of one GPU as options of mining programs: W, MHz, %. */
export type ProgramTuning = Readonly<Record<SettingName, number | null>>;

export interface TunedProgram {
  /** The settings that the program can make by its own options. */
  readonly tuning: Partial<Readonly<Record<SettingName, unknown>>>;
  /** The kinds of devices that it mines with, such as "nvidia". */
  readonly devices: readonly string[];
}

/**
 * Splits settings into those that the program makes itself, for each of its GPUs in PCI order, and those left to the agent.
 * `tuning` is absent if the program makes none.
 */
export function splitSettings(
  settings: readonly GpuSettings[],
  gpus: readonly HostGpu[],
  program: TunedProgram,
): { readonly tuning?: readonly ProgramTuning[]; readonly host: readonly GpuSettings[] } {
  const isOwn = (setting: SettingName) => program.tuning[setting] !== undefined;
  const host = settings
    .map((each) => ({ ...each, ...Object.fromEntries(settingNames.filter(isOwn).map((name) => [name, null])) }))
    .filter((each) => settingNames.some((name) => each[name] !== null));
  const tuning = gpus
    .filter(({ vendor }) => program.devices.includes(vendor))
    .map((gpu): ProgramTuning => {
      const own = settings.find(({ bus }) => bus === gpu.pciBusId) ?? settings.find(({ bus }) => bus === null);
      const value = (name: SettingName, perUnit = 1) => {
        const set = isOwn(name) ? (own?.[name] ?? null) : null;
        return set === null ? null : Math.round(set / perUnit);
      };
      return {
        powerLimit: value("powerLimit"),
        coreClock: value("coreClock", 1e6),
        memoryClock: value("memoryClock", 1e6),
        fan: value("fan"),
      };
    });
  const isTuned = tuning.some((each) => settingNames.some((name) => each[name] !== null));
  return isTuned ? { tuning, host } : { host };
}
