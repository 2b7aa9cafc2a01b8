import type { Place } from "../../contract/place-operations.ts";
import type { PlaceBook } from "../places/place-book.ts";
import type { MinerFigures } from "./present-miner.ts";

type SummedFigures = Pick<
  MinerFigures,
  "power" | "running" | "inRepair" | "dual" | "algorithmKey" | "hashrate" | "hashrateKnown"
>;

/** The sums of a place. Miners in repair count as rigs alone. */
export class PlaceSum {
  rigs = 0;
  mining = 0;
  /** W; null if nothing is known. */
  power: number | null = null;
  /** H/s by algorithm. */
  readonly #hashrates = new Map<string, number>();

  add({ power, running, inRepair, dual, ...work }: SummedFigures): void {
    this.rigs += 1;
    if (inRepair) return;
    if (power !== null) this.power = (this.power ?? 0) + power;
    if (!running) return;
    this.mining += 1;
    for (const { algorithmKey, hashrate, hashrateKnown } of dual ?? [work])
      if (algorithmKey !== "" && hashrateKnown) this.#addHashrate(algorithmKey, hashrate);
  }

  addSum(inner: PlaceSum): void {
    this.rigs += inner.rigs;
    this.mining += inner.mining;
    if (inner.power !== null) this.power = (this.power ?? 0) + inner.power;
    for (const [algorithm, hashrate] of inner.#hashrates) this.#addHashrate(algorithm, hashrate);
  }

  #addHashrate(algorithm: string, hashrate: number): void {
    this.#hashrates.set(algorithm, (this.#hashrates.get(algorithm) ?? 0) + hashrate);
  }

  shown(): Pick<Place, "rigs" | "mining" | "power" | "hashrates"> {
    const { rigs, mining, power } = this;
    return {
      rigs,
      mining,
      power: power === null ? null : Math.round(power),
      hashrates: Array.from(this.#hashrates, ([algorithm, hashrate]) => ({ algorithm, hashrate })),
    };
  }
}

/** Adds figures by place, for `Totals`. */
export class PlaceSums {
  readonly byId = new Map<number, PlaceSum>();

  add(placeId: number, figures: SummedFigures): void {
    let sum = this.byId.get(placeId);
    if (sum === undefined) {
      sum = new PlaceSum();
      this.byId.set(placeId, sum);
    }
    sum.add(figures);
  }
}

/** The sums of places with those inside them, from those of the miners directly in each; places without miners have none. */
export function wholeSums(direct: ReadonlyMap<number, PlaceSum>, places: PlaceBook): ReadonlyMap<number, PlaceSum> {
  const whole = new Map<number, PlaceSum>();
  for (const { row, parent } of places.all().toReversed()) {
    const own = direct.get(row.id);
    const inner = whole.get(row.id);
    const sum = inner ?? (own === undefined ? undefined : new PlaceSum());
    if (sum === undefined) continue;
    if (own !== undefined) sum.addSum(own);
    whole.set(row.id, sum);
    if (parent === null) continue;
    const around = whole.get(parent.row.id) ?? new PlaceSum();
    around.addSum(sum);
    whole.set(parent.row.id, around);
  }
  return whole;
}
