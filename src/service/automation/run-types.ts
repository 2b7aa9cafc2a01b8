import type { Caller } from "../../contract/service.ts";
import type { RunStep } from "../../contract/steps.ts";
import type { RunCause } from "../../store/index.ts";

/** What a run is begun for; `safety` rules come before people. */
export type { RunCause } from "../../store/index.ts";

/** Name of what a rule does when it has fired for the n-th time, or when its condition is over again. */
export const ruleOccurrence = (ruleId: number, minerId: number, count: number, why: RuleTurn): string =>
  `rule:${ruleId}:${minerId}:${count}${why === "cleared" ? clearing : why === "gave up" ? ":gave-up" : ""}`;

/** Why a rule runs its steps. */
export type RuleTurn = "fired" | "cleared" | "gave up";
export const isOfClearing = (occurrence: string): boolean => occurrence.endsWith(clearing);
const clearing = ":clear";

/** A list of steps to run, on some miners or on none. */
export interface RunRequest {
  readonly cause: RunCause;
  /** Names one occurrence, such as a rule's firing for a miner: a second run with the same name is not begun, ever. */
  readonly occurrence: string;
  /** Its access is checked whenever a step begins. */
  readonly caller: Caller;
  readonly minerIds: readonly number[];
  readonly steps: readonly RunStep[];
  /** Fills in a text that names fields of `miner`, `reading` and `rule`; by default those of the miner then. */
  readonly texts?: ((minerId: number | null, text: string) => string) | undefined;
}

export const runStates = ["running", "done", "failed", "unknown", "cancelled"] as const;
export type RunState = (typeof runStates)[number];

export const stepStates = ["queued", "sent", "done", "failed", "unknown", "skipped"] as const;
export type StepState = (typeof stepStates)[number];

/** The result of one step. */
export interface StepRecord {
  readonly step: RunStep;
  readonly state: StepState;
  readonly message: string;
  /** The command in the audit; null if the step sends none. */
  readonly commandId: number | null;
}

/** A run as the journal has it. `minerId` null: the steps that concern no miner. Times are epoch ms. */
export interface RunRecord {
  readonly id: number;
  readonly cause: RunCause;
  readonly occurrence: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly state: RunState;
  readonly miners: readonly { readonly minerId: number | null; readonly steps: readonly StepRecord[] }[];
}

/** Runs lists of steps. */
export interface Runs {
  /**
   * Resolves once the run is stored, before anything is sent; "seen" if its occurrence was begun before. Throws why its
   * caller must not begin it, and `too.many`.
   */
  begin(request: RunRequest): Promise<RunRecord | "seen">;
  /** Resolves with the record of a run that has ended. */
  ended(id: number): Promise<RunRecord>;
  /** Continues the runs of the last start, where it is known what was sent. */
  resume(): Promise<void>;
  close(): Promise<void>;
}
