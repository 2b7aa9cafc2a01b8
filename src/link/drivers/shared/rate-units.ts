import type { AsicModel } from "../../../catalogue/asic-models.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";

/** H/s, or Sol/s, by prefix. */
export type Units = Readonly<Record<string, number>>;

export const usualUnits: Units = { "": 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/**
 * What the prefixes stand for in the replies of this model. `written`: the rate of the whole rig in them, which tells
 * apart firmware that writes the same name before different units.
 */
export function unitsOf(model: AsicModel | null, written: () => number | null): Units {
  if (model === null || (model.units.G === undefined && model.units.M === undefined)) return usualUnits;
  const { M = [1e6], G = [1e9] } = model.units;
  const rate = written();
  return { ...usualUnits, M: likeliest(M, rate, model.nameplate), G: likeliest(G, rate, model.nameplate) };
}

/** The first, unless another brings the rate nearer to the nameplate. */
function likeliest(units: readonly [number, ...number[]], written: number | null, nameplate: number | null): number {
  if (written === null || written <= 0 || nameplate === null) return units[0];
  const distance = (unit: number): number => Math.abs(Math.log((written * unit) / nameplate));
  return units.reduce((best, unit) => (distance(unit) < distance(best) ? unit : best));
}

/** The unit that `rate_unit` of Bitmain's statistics states: "GH", "MH/s", "kSol/s"; null where it states none. */
export function statedUnit(reply: TolerantReader): number | null {
  const [, prefix] = /^([KMGTP]?)(?:H|Sol)/i.exec(reply.text("rate_unit") ?? "") ?? [];
  return prefix === undefined ? null : (usualUnits[prefix.toUpperCase()] ?? null);
}
