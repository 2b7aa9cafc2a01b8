import { RigbridgeError } from "rigbridge";
import type { FoundRigAt } from "rigbridge/discovery";
import { listOf, recordOf } from "../config/json.ts";

export interface ScanProgress {
  /** Addresses looked at, and to look at. */
  readonly scanned: number;
  readonly total: number;
  readonly found: readonly FoundRigAt[];
}

export interface Scanned extends ScanProgress {
  /** What was left out, for people. */
  readonly notes: readonly string[];
  readonly wasStopped: boolean;
}

/** ms between two tellings. */
const pace = 200;

/** The search for rigs, one at a time. */
export class RigScan {
  readonly #sendCommand: (progress: ScanProgress) => void;
  readonly #ending: AbortSignal;
  #stopping: AbortController | null = null;

  constructor(sendCommand: (progress: ScanProgress) => void, ending: AbortSignal) {
    this.#sendCommand = sendCommand;
    this.#ending = ending;
  }

  /** Resolves at its end. `networks` is a text with blanks or commas between them; none = this machine's own. */
  async run(given: unknown): Promise<Scanned> {
    if (this.#stopping !== null) throw new RigbridgeError("not.possible", "A search is under way");
    const stopping = new AbortController();
    this.#stopping = stopping;
    const found: FoundRigAt[] = [];
    let at = { scanned: 0, total: 0 };
    const timer = setInterval(() => this.#sendCommand({ ...at, found }), pace);
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
