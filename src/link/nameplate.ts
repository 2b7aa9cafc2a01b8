import { isAntminer } from "../catalogue/asic-models.ts";
import { nameplatePower } from "../catalogue/nameplate-power.ts";
import type { Identity } from "../contract/readings.ts";

/** What stands in a model's name beside the model: its maker, its hash rate, its version. */
const maker = /^(?:antminer|whatsminer|avalon(?:miner)?|innosilicon)\s*/;
const furtherWords = /[_(].*$|-\d+.*$|\s+v\.?\d.*$|\s*\d+t\b.*$/;

const plain = (name: string): string =>
  name.trim().toLowerCase().replace(maker, "").replace(furtherWords, "").replace(/[\s.]/g, "");

const watts: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(nameplatePower).map(([make, models]) => [
    make.toLowerCase(),
    new Map(Object.entries(models).map(([model, power]) => [plain(model), power])),
  ]),
);

/** Nameplate power of the model, W; null if the exact model name is unknown: variants differ by half and more. */
export function nameplateOf({ make, model }: Pick<Identity, "make" | "model">): number | null {
  if (model === null) return null;
  return watts.get(isAntminer(make, model) ? "antminer" : (make ?? "").toLowerCase())?.get(plain(model)) ?? null;
}
