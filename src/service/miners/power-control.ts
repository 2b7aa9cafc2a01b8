import type { Control } from "../../contract/readings.ts";
import type { Brief, RigState } from "../../fleet/state.ts";

/** Who keeps a rig's power as it is. */
export interface PowerHolder {
  /** A user, a front end, a rule or a loop. */
  readonly what: string;
  /** Epoch ms; null: without an end. */
  readonly until: number | null;
}

/** Power control as miners show it. */
export interface PowerControl {
  holder(minerId: number, state: RigState): PowerHolder | null;
  /** W that the maximum of its room leaves to it; null without a maximum. */
  leftFor(minerId: number): number | null;
  /** Called with every good read before the miner is shown. */
  observe(minerId: number, reading: Brief): void;
  /** The control `power_target`, none if the power of the rig cannot be controlled. */
  control(minerId: number, state: Pick<RigState, "controls" | "reading">): Control[];
}
