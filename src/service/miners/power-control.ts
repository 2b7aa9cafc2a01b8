import type { Control } from "../../contract/readings.ts";
import type { Brief, RigState } from "../../fleet/state.ts";

/** What currently controls a rig's power. */
export interface PowerHolder {
  /** A user, a front end, a rule or a loop. */
  readonly what: string;
  /** Epoch ms; null: without an end. */
  readonly until: number | null;
}

/** Power control as miners show it. */
export interface PowerControl {
  holder(minerId: number, state: RigState): PowerHolder | null;
  /** W left under the limit of its room; null without a limit. */
  leftFor(minerId: number): number | null;
  /** Called with every good read before the miner is shown. */
  observe(minerId: number, reading: Brief): void;
  /** The control `power_target`; empty if the rig's power cannot be controlled. */
  control(minerId: number, state: Pick<RigState, "controls" | "reading">): Control[];
}
