import { RigbridgeError } from "rigbridge";
import type { FoundRigAt } from "rigbridge/discovery";
import { listOf, recordOf } from "../config/json.ts";

export interface ScanProgress {
  /** Addresses scanned so far, and all addresses. */
  readonly scanned: number;
  readonly total: number;
  readonly found: readonly FoundRigAt[];
}

export interface Scanned extends ScanProgress {
  /** For display: skipped parts. */
  readonly notes: readonly string[];
  readonly wasStopped: boolean;
}

const progressIntervalMs = 200;

/** The search for rigs, one at a time. */
export class RigScan {
  readonly #progress: (progress: ScanProgress) => void;
  readonly #ending: AbortSignal;
  #stopping: AbortController | null = null;

  constructor(progress: (progress: ScanProgress) => void, ending: AbortSignal) {
    this.#progress = progress;
    this.#ending = ending;
  }

  /** Resolves when the search ends. `networks` are separated by whitespace or commas; none = this machine's own. */
  async run(given: unknown): Promise<Scanned> {
    if (this.#stopping !== null) throw new RigbridgeError("not.possible", "A search is already running");
    const stopping = new AbortController();
    this.#stopping = stopping;
    const found: FoundRigAt[] = [];
    let at = { scanned: 0, total: 0 };
    const timer = setInterval(() => this.#progress({ ...at, found }), progressIntervalMs);
    try {
      const { findRigs } = await import("rigbridge/discovery");
      const notes = await findRigs({
        networks: networksIn(given),
        signal: AbortSignal.any([stopping.signal, this.#ending]),
        found: (rig) => found.push(rig),
        progress: (progress) => {
          at = progress;
        },
      });
      return { ...at, found: found.toSorted(byAddress), notes, wasStopped: stopping.signal.aborted };
    } finally {
      clearInterval(timer);
      this.#stopping = null;
    }
  }

  stop(): void {
    this.#stopping?.abort();
  }
}

const networksIn = (given: unknown): string[] => {
  const { networks } = recordOf(given);
  const text = typeof networks === "string" ? networks : listOf(networks).join(" ");
  return text.split(/[\s,]+/).filter((part) => part !== "");
};

const byAddress = (one: FoundRigAt, other: FoundRigAt): number =>
  one.address.localeCompare(other.address, "en", { numeric: true });
