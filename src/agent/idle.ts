import type { Program } from "../contract/agent.ts";
import { type Platform, processName } from "./platform/index.ts";

export type IdleRule = NonNullable<Program["idle"]>;

/** Other work on the host. */
export interface Activity {
  /** Names of its processes, as `processName` writes them. */
  readonly names: ReadonlySet<string>;
  /** % of its processors used by processes other than the agent's programs; null if unknown. */
  readonly load: number | null;
}

/** Whether other work on the host keeps a program from running. */
export interface Occupation {
  /** The reason, such as a process; null if the host is not busy. */
  readonly by: string | null;
  /** Since when the load has been above the limit, and since when the host has been quiet; epoch ms. */
  readonly loadedSince: number | null;
  readonly quietSince: number | null;
}

export const unoccupied: Occupation = { by: null, loadedSince: null, quietSince: null };

/** Short peaks of load, and short pauses of other work, are ignored. */
const loadedMs = 30_000;
const quietMs = 60_000;

export function occupation(before: Occupation, rule: IdleRule, { names, load }: Activity, now: number): Occupation {
  const process = rule.processes.find((name) => names.has(processName(name)));
  const isLoaded = rule.load !== null && load !== null && load > rule.load;
  const loadedSince = isLoaded ? (before.loadedSince ?? now) : null;
  if (process !== undefined) return { by: `the process ${process} runs`, loadedSince, quietSince: null };
  if (loadedSince !== null && (before.by !== null || now - loadedSince >= loadedMs))
    return { by: `other programs use more than ${rule.load} % of the processor`, loadedSince, quietSince: null };
  const quietSince = before.quietSince ?? now;
  const isOver = before.by === null || now - quietSince >= quietMs;
  return { by: isOver ? null : before.by, loadedSince, quietSince };
}

/** Observes the host for rules of idle time. */
export class ActivityReader {
  readonly #platform: Platform;
  #before: { readonly total: number; readonly others: number } | null = null;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** `groups`: the process groups of running programs. The load is measured since the last call. */
  async read(groups: readonly number[]): Promise<Activity> {
    const [names, { total, busy, own }] = await Promise.all([
      this.#platform.processNames(),
      this.#platform.processorTime(groups),
    ]);
    const before = this.#before;
    this.#before = own === null ? null : { total, others: busy - own };
    const isComparable = before !== null && own !== null && total > before.total;
    const load = isComparable ? (100 * (busy - own - before.others)) / (total - before.total) : null;
    return { names, load: load === null ? null : Math.min(100, Math.max(0, load)) };
  }
}
