import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { GpuSettings, Program, ProgramState } from "../contract/agent.ts";
import type { GpuTuner } from "./gpus/gpu-tuner.ts";
import type { LogLimits } from "./log-file.ts";
import type { Platform } from "./platform/index.ts";
import type { Launch, RunLimits } from "./program-run.ts";
import type { RestartLimits } from "./restart-law.ts";

export interface SupervisorLimits extends RunLimits {
  readonly restart: RestartLimits;
  readonly log: LogLimits;
}

export interface SupervisorParts {
  readonly platform: Platform;
  readonly limits: SupervisorLimits;
  /** The agent's folder. */
  readonly folder: string;
  readonly log: Logger;
  /**
   * Throws a `RigbridgeError` with the reason if the program cannot be started; reports long steps, such as downloads.
   */
  readonly prepare: (
    program: Program,
    report: (step: Preparing) => void,
    signal: AbortSignal,
  ) => Promise<PreparedLaunch>;
  /** Sets the GPUs for a program before it starts, and restores them after its end. */
  readonly gpus: Pick<GpuTuner, "apply" | "restore">;
  /** Writes the state of all programs, or throws. */
  readonly save: () => void;
  /** Like `save`, after a change that cannot be undone; a failed write is repeated later. */
  readonly saveOrLog: () => void;
  /** The state may have changed. */
  readonly changed: () => void;
  readonly now: () => number;
}

export interface PreparedLaunch extends Omit<Launch, "fingerprint"> {
  /** GPU settings that the program does not make itself. */
  readonly gpuSettings: readonly GpuSettings[];
}

export interface Preparing {
  readonly status: "starting" | "downloading" | "confirming";
  readonly download: ProgramState["download"];
}

/** Digest of all inputs of the command line and the GPU settings. */
export const fingerprintOf = (program: Program): string => {
  const { software, files, algorithm, dualAlgorithm, pools, dualPools, parameters, gpuSettings } = program;
  const parts = [software, files, algorithm, dualAlgorithm, pools, dualPools, parameters, gpuSettings];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
};
