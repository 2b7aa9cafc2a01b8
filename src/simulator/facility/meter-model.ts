import type { SimulatedRig } from "../simulated-rig.ts";

/** What can be wrong with a meter. `swapped`: the words of its numbers; `silent`: it does not answer. */
export const meterFaults = ["frozen", "zero", "nan", "negative", "swapped", "silent"] as const;
export type MeterFault = (typeof meterFaults)[number];

export interface MeterFigures {
  readonly power: number;
  /** kWh. */
  readonly energy: number;
  readonly voltage: number;
  readonly current: number;
}

const volts = 230;

/** What a meter over some rigs measures. */
export class MeterModel {
  readonly #rigs: readonly SimulatedRig[];
  readonly #now: () => number;
  /** W of other consumers. */
  base: number;
  fault: MeterFault | null = null;
  #energy = 1000;
  #at: number;
  #frozen: MeterFigures | null = null;

  constructor(rigs: readonly SimulatedRig[], now: () => number, base = 0) {
    this.#rigs = rigs;
    this.#now = now;
    this.base = base;
    this.#at = now();
  }

  figures(): MeterFigures {
    if (this.fault !== "frozen") this.#frozen = null;
    const now = this.#measure();
    if (this.fault === "frozen") {
      this.#frozen ??= now;
      return this.#frozen;
    }
    if (this.fault === "zero") return { power: 0, energy: 0, voltage: 0, current: 0 };
    if (this.fault === "nan")
      return { power: Number.NaN, energy: Number.NaN, voltage: Number.NaN, current: Number.NaN };
    if (this.fault === "negative") return { ...now, energy: -now.energy };
    return now;
  }

  #measure(): MeterFigures {
    const power = this.#rigs.reduce((sum, rig) => sum + powerOf(rig), this.base);
    const now = this.#now();
    this.#energy += (power / 1000) * ((now - this.#at) / 3_600_000);
    this.#at = now;
    return { power, energy: this.#energy, voltage: volts, current: power / volts };
  }
}

export function powerOf(rig: SimulatedRig): number {
  if (!rig.powered) return 0;
  rig.model.advance();
  return rig.model.power;
}
