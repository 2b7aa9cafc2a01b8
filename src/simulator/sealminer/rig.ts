import type { RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

export interface SealminerOptions {
  readonly username: string;
  readonly password: string;
  /** Whether every client may write over its RPC. */
  readonly privileged: boolean;
  /** Seconds until a session expires. */
  readonly sessionSeconds: number;
}

/** The numbers of its modes. */
export const modes = { low: 0, normal: 2, high: 3, custom: 5 } as const;

/** 0 to 1, of the rated rate. */
const levels: ReadonlyMap<number, number> = new Map([
  [modes.low, 0.7],
  [modes.normal, 0.9],
]);

/** The state of a Sealminer. */
export class SealminerRig {
  readonly body: RigBody;
  readonly model: RigModel;
  mode: number = modes.normal;
  blinks = false;
  suspended = false;

  constructor(body: RigBody) {
    this.body = body;
    this.model = body.model;
    this.settle();
  }

  /** Applies what was changed. */
  settle(): void {
    this.model.advance();
    const mining = !this.suspended;
    const level = levels.get(this.mode) ?? 1;
    if (this.model.mining === mining && this.model.level === level) return;
    this.model.change((model) => {
      model.mining = mining;
      model.level = level;
    });
  }
}
