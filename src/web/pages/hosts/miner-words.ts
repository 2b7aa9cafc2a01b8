import { t } from "../../language.ts";
import type { FormWords } from "../../parts/schema-form/context.ts";
import type { Catalogue } from "./miner-data.ts";

const units: Readonly<Record<string, string>> = {
  powerLimit: "W",
  coreClock: "Hz",
  memoryClock: "Hz",
  fan: "%",
  load: "%",
  hysteresis: "%",
};

const lookUp = (texts: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

/** Texts and suggestions for the form of a managed miner. */
export function minerWords({ algorithms, pools, software }: Catalogue): FormWords {
  const nameIn = (list: readonly { readonly id: string; readonly name: string }[], id: string) =>
    list.find((each) => each.id === id)?.name;
  return {
    exactlyOne: [],
    label: (key) => lookUp(t.hosts.fields, key) ?? key,
    choice: () => t.form.choose,
    option: (key, value) =>
      (key === "algorithm"
        ? nameIn(algorithms, value)
        : key === "poolId"
          ? nameIn(pools, value)
          : key === "softwareType"
            ? nameIn(software, value)
            : lookUp(t.hosts.modes, value)) ?? value,
    member: (name) => name,
    suggestions: (key) => (key === "algorithm" ? algorithms.map(({ id }) => id) : []),
    unit: (key) => units[key] ?? null,
    directory: () => null,
  };
}
