import type { GpuSettingsOfModel } from "../../config/gpu-settings.ts";
import type { GpuSettings, HostGpu } from "../../contract/agent.ts";

/** The GPU settings of the configuration file for one algorithm, applied to the cards of the host by their models. */
export interface ModelSettings {
  readonly settings: readonly GpuSettingsOfModel[];
  readonly gpus: readonly HostGpu[];
}

/** The managed miner's settings take precedence over the file's; among the file's, later entries do. */
export function withModelSettings(own: readonly GpuSettings[], { settings, gpus }: ModelSettings): GpuSettings[] {
  const isOf = ({ model }: GpuSettingsOfModel, { name }: HostGpu) =>
    model === undefined || name.toLowerCase().includes(model.toLowerCase());
  const matched = gpus.filter((gpu) => settings.some((each) => isOf(each, gpu)));
  const byCard = matched.map(({ pciBusId: bus, ...gpu }): GpuSettings => {
    const mine = own.find((each) => each.bus === bus) ?? own.find((each) => each.bus === null);
    const ofFile = settings.filter((each) => isOf(each, { pciBusId: bus, ...gpu })).toReversed();
    const value = (key: "powerLimit" | "coreClock" | "memoryClock" | "fan", perUnit = 1) => {
      const found = ofFile.find((each) => each[key] !== undefined)?.[key];
      return mine?.[key] ?? (found === undefined ? null : found * perUnit);
    };
    return {
      bus,
      powerLimit: value("powerLimit"),
      coreClock: value("coreClock", 1e6),
      memoryClock: value("memoryClock", 1e6),
      fan: value("fan"),
    };
  });
  return [...byCard, ...own.filter(({ bus }) => !matched.some(({ pciBusId }) => pciBusId === bus))];
}
