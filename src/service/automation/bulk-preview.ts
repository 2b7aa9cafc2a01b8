import type { BulkPreview } from "../../contract/bulk-preview.ts";
import { problems, RigbridgeError } from "../../contract/problems.ts";

/** A miner that would accept the action. */
export interface Possible {
  /** W; null if it is not known. */
  readonly now: number | null;
  /** W; null if it is not known. */
  readonly after: number | null;
  /** s that the rig may need. */
  readonly seconds: number;
  /** Per day, in the display currency; null if it is not known. */
  readonly revenue: number | null;
}

/** How the miners are sent an action: rigs at once, and s between two starts. */
export interface Pace {
  readonly parallel: number;
  readonly delay: number;
}

/** Reasons that are listed; the results have each miner's. */
const mostReasons = 20;
const hours = 24;

/** Adds up what a bulk action would do, in the order in which the miners would be sent it. */
export class PreviewSums {
  readonly #pace: Pace;
  readonly #power = { now: 0, after: 0, unknown: 0 };
  #revenueLost: number | null = null;
  readonly #changes: { readonly at: number; readonly watts: number }[] = [];
  readonly #reasons = new Map<string, { readonly code: string; readonly message: string; miners: number }>();
  /** When each of the rigs that are sent it at once is ready, in s; the earliest first. */
  readonly #ready: number[];
  #lastStart = Number.NEGATIVE_INFINITY;

  constructor(pace: Pace) {
    this.#pace = pace;
    this.#ready = Array<number>(pace.parallel).fill(0);
  }

  add({ now, after, seconds, revenue }: Possible): void {
    const at = this.#effectiveAt(seconds);
    if (now === null || after === null) this.#power.unknown += 1;
    else {
      this.#power.now += now;
      this.#power.after += after;
      if (now !== after) this.#changes.push({ at, watts: Math.abs(now - after) });
    }
    // What a rig earns with less power is not known; it is taken to be proportional.
    const left = now === null || now <= 0 || after === null ? (after === 0 ? 0 : 1) : Math.min(1, after / now);
    if (left < 1 && revenue !== null) this.#revenueLost = (this.#revenueLost ?? 0) + (revenue * (1 - left)) / hours;
  }

  /** A miner that would not accept it; its turn comes all the same. */
  leaveOut(error: unknown): void {
    this.#effectiveAt(0);
    const code = error instanceof RigbridgeError ? error.code : "internal";
    // What a rig could not be reached for names the rig.
    const message = error instanceof RigbridgeError && !code.startsWith("rig.") ? error.message : problems[code].title;
    const known = this.#reasons.get(message);
    if (known === undefined) this.#reasons.set(message, { code, message, miners: 1 });
    else known.miners += 1;
  }

  /** `currency`: ISO 4217, of the revenues. */
  preview(currency: string): BulkPreview {
    const leftOut = [...this.#reasons.values()].sort((one, other) => other.miners - one.miners).slice(0, mostReasons);
    return { power: this.#power, seconds: this.#seconds(), revenueLost: this.#revenueLost, currency, leftOut };
  }

  /** As `runPaced` starts them: a slow rig delays only the next one in its place. */
  #effectiveAt(seconds: number): number {
    const { delay } = this.#pace;
    const free = this.#ready.shift() ?? 0;
    this.#lastStart = Math.max(free, this.#lastStart + delay);
    const at = this.#lastStart + seconds;
    const place = this.#ready.findLastIndex((each) => each <= at) + 1;
    this.#ready.splice(place, 0, at);
    return at;
  }

  #seconds(): BulkPreview["seconds"] {
    const changes = this.#changes.toSorted((one, other) => one.at - other.at);
    const all = changes.at(-1)?.at;
    if (all === undefined) return null;
    const total = changes.reduce((sum, { watts }) => sum + watts, 0);
    const until = (share: number): number => {
      let left = share * total;
      for (const { at, watts } of changes) {
        left -= watts;
        if (left <= 0) return at;
      }
      return all;
    };
    return { half: until(0.5), most: until(0.9), all };
  }
}
