import type { RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

export interface ProtoOptions {
  readonly password: string;
  /** Firmware whose reads need no login, and which has no telemetry. */
  readonly older: boolean;
  /** Seconds until a token expires. */
  readonly tokenSeconds: number;
}

/** W. */
export const powerTargets = { least: 2_000, most: 4_000, usual: 3_400 } as const;

/** The state of a Proto rig. */
export class ProtoRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly options: ProtoOptions;
  powerTarget: number = powerTargets.usual;
  mode: "MaximumHashrate" | "Efficiency" = "MaximumHashrate";
  /** Automatic fans; null while they have a fixed speed. */
  fanTarget: number | null = 50;
  names: string[] = ["Primary", "Backup"];

  constructor(body: RigBody, options: ProtoOptions) {
    this.body = body;
    this.model = body.model;
    this.options = options;
  }

  get status(): string {
    if (!this.model.mining) return "Stopped";
    if (this.model.pools.length === 0) return "NoPools";
    if (this.model.overheated) return "Error";
    return this.model.boardsLost.size > 0 ? "DegradedMining" : "Mining";
  }
}
