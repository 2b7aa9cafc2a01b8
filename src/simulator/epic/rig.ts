import type { RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

export interface EpicOptions {
  readonly password: string;
  /** Whether its tuner can hold a power. */
  readonly tunesPower: boolean;
  /** Idles without its pool. */
  readonly idlesWithoutPool: boolean;
}

/** The state of a rig with ePIC's control board. */
export class EpicRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly options: EpicOptions;
  lastCommand: string | null = null;
  blinks = false;
  /** Automatic cooling; null while the fans have a fixed speed. */
  autoFan: { readonly target: number; readonly idle: number } | null;
  /** W that its tuner holds; null while it tunes to a hash rate. */
  powerTarget: number | null = null;

  constructor(body: RigBody, options: EpicOptions) {
    this.body = body;
    this.model = body.model;
    this.options = options;
    this.autoFan = { target: Math.round(body.model.temperatureTarget), idle: 20 };
  }

  get state(): string {
    if (this.options.idlesWithoutPool && this.model.activePool === null) return "Idling";
    return this.model.mining && !this.model.overheated ? "Mining" : "Idling";
  }
}
