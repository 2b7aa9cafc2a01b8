import type { MiningProgram, TuningKey } from "../catalogue/mining-program.ts";
import type { Program } from "../contract/agent.ts";
import type { Mistake } from "../contract/problems.ts";

export interface CommandOptions {
  /** A free port of the host's loopback; null for a program without an API. */
  readonly apiPort: number | null;
  /** Random; programs whose API knows no token get none. */
  readonly apiToken: string;
  /** Settings of each GPU in the program's order, by its own flags; absent where none are wanted. */
  readonly tuning?: readonly GpuTuning[];
}

/** `powerLimit` in W, clocks in MHz, `fan` in %; null leaves a GPU as it is. */
export type GpuTuning = Readonly<Record<TuningKey, number | null>>;

export interface CommandLine {
  /** Without the executable. */
  readonly argv: readonly string[];
  /** The same with `***` in place of passwords and tokens. */
  readonly shown: readonly string[];
  /** To be set beside the environment of the agent. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * What a program is started with. `mistakes` (with paths of `Program`: software, algorithm, dualAlgorithm, pools,
 * dualPools, parameters) lists all that is wrong; nothing is started then.
 */
export declare function commandLine(
  entry: MiningProgram,
  program: Program,
  options: CommandOptions,
): CommandLine | { readonly mistakes: readonly Mistake[] };
