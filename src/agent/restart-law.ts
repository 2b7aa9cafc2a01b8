import { type BackOff, backOffMs } from "../async/index.ts";

export interface RestartLimits {
  readonly backOff: BackOff;
  /** A program that ran shorter than this has ended quickly. */
  readonly quickMs: number;
  /** After this many quick ends in a row the agent gives up. */
  readonly mostQuickEnds: number;
  /** A program that has run this long is healthy; its failures are forgotten. */
  readonly healthyMs: number;
}

export const restartLimits: RestartLimits = {
  backOff: { firstMs: 10_000, longestMs: 300_000 },
  quickMs: 120_000,
  mostQuickEnds: 5,
  healthyMs: 600_000,
};

/** Unrequested exits of a program since it was last healthy or started by a user. */
export interface Failures {
  readonly ends: number;
  /** Consecutive quick ends. */
  readonly quickEnds: number;
}

export const noFailures: Failures = { ends: 0, quickEnds: 0 };

interface End {
  readonly ranMs: number;
  /** Exit code; null after a signal, or if unknown. */
  readonly code: number | null;
  /** Exit codes by which this program reports a wrong configuration. */
  readonly badConfiguration: readonly number[];
}

export type AfterEnd =
  | { readonly what: "wait"; readonly waitMs: number; readonly failures: Failures }
  | { readonly what: "give up"; readonly why: string; readonly failures: Failures };

/** Decides what to do when a program that should run exits. */
export function afterEnd({ ranMs, code, badConfiguration }: End, before: Failures, limits: RestartLimits): AfterEnd {
  const ends = ranMs >= limits.healthyMs ? 1 : before.ends + 1;
  const quickEnds = ranMs < limits.quickMs ? before.quickEnds + 1 : 0;
  const failures = { ends, quickEnds };
  if (code !== null && badConfiguration.includes(code))
    return { what: "give up", why: `rejects its configuration (exit code ${code})`, failures };
  if (quickEnds >= limits.mostQuickEnds)
    return {
      what: "give up",
      why: `ended ${quickEnds} times within ${limits.quickMs / 1000} s of its start`,
      failures,
    };
  return { what: "wait", waitMs: backOffMs(ends, limits.backOff), failures };
}
