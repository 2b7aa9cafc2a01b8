import type { RigModel } from "../model.ts";

/** A step of LuxOS between frequencies; the model's rated one is the strongest. */
export interface LuxosProfile {
  readonly name: string;
  /** Of the step, relative to the default. */
  readonly step: number;
  /** MHz. */
  readonly frequency: number;
  /** 0 to 1, of the rated rate. */
  readonly level: number;
  /** TH/s. */
  readonly hashrate: number;
  readonly watts: number;
}

const steps = 14;
const overclocked = 2;
const megahertzPerStep = 25;

/** From the weakest to two above the default, as LuxOS makes them by itself. */
export function profilesFor(model: RigModel): LuxosProfile[] {
  const rated = model.hardware.frequency / 1e6;
  return Array.from({ length: steps + 1 }, (_, index) => {
    const step = index - (steps - overclocked);
    const frequency = rated - megahertzPerStep * (overclocked - step);
    const level = frequency / rated;
    return {
      name: step === 0 ? "default" : `${frequency}MHz`,
      step,
      frequency,
      level,
      hashrate: (model.hardware.hashrate * level) / 1e12,
      watts: Math.round(model.powerAt(level)),
    };
  });
}
