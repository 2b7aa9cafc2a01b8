import type { Caller, MiningService } from "rigbridge";
import type { Listed } from "../config/choices.ts";

/** A mining service that is there, whichever it is. */
export interface Opened {
  readonly service: MiningService;
  readonly caller: Caller;
  readonly listed: Listed;
  close(): Promise<void>;
}

/** Who asks, in the audit. */
export const actor = "homebridge";
