import type { Caller } from "../../contract/service.ts";
import type { RunStep } from "../../contract/steps.ts";
import type { RunCause } from "../../store/index.ts";

/** The cause of a run; `safety` rules take precedence over people. */
export type { RunCause } from "../../store/index.ts";

/** The occurrence of a rule's n-th firing, or of its clearing. */
export const ruleOccurrence = (ruleId: number, minerId: number, count: number, why: RuleTurn): string =>
  `rule:${ruleId}:${minerId}:${count}${why === "cleared" ? clearing : why === "gave up" ? ":gave-up" : ""}`;

/** Why a rule runs its steps. */
export type RuleTurn = "fired" | "cleared" | "gave up";
export const isOfClearing = (occurrence: string): boolean => occurrence.endsWith(clearing);
const clearing = ":clear";

/** A list of steps to run, on some miners or on none. */
export interface RunRequest {
  readonly cause: RunCause;
  /** Identifies one occurrence, such as a rule's firing for a miner: a second run with the same name never starts. */
  readonly occurrence: string;
  /** Access is checked before each step. */
  readonly caller: Caller;
  readonly minerIds: readonly number[];
  readonly steps: readonly RunStep[];
  /** Replaces the names `miner`, `reading` and `rule` in a text; by default with the miner's values at that time. */
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

/** A run in the journal. `minerId` null: the steps that concern no miner. Times are epoch ms. */
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
   * Resolves once the run is stored, before anything is sent; "seen" if its occurrence has already run. Throws
   * `too.many`, or the reason why the caller must not start it.
   */
  begin(request: RunRequest): Promise<RunRecord | "seen">;
  /**
   * Runs a safety rule's steps about power while the store is away, without a record; a command that does not lower the
   * power is not sent. Resolves with what failed, or ""; null if no step is about power.
   */
  lower(request: RunRequest): Promise<string | null>;
  /** Resolves with the record of the run once it has ended. */
  ended(id: number): Promise<RunRecord>;
  /** Continues the runs from before the last start, as far as it is known what was sent. */
  resume(): Promise<void>;
  close(): Promise<void>;
}
