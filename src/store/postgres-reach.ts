import type { RigbridgeError } from "../contract/problems.ts";
import { storeAway } from "./postgres-failures.ts";

/** Whether the connections to a database reach it. */
export class PostgresReach {
  readonly #name: string;
  readonly #now: () => number;
  /** When it was first not reached; null while it answers. */
  #awaySince: number | null = null;

  constructor(name: string, now: () => number) {
    this.#name = name;
    this.#now = now;
  }

  get isAway(): boolean {
    return this.#awaySince !== null;
  }

  answered(): void {
    this.#awaySince = null;
  }

  /** The error of a call that did not reach it. */
  away(why: string): RigbridgeError {
    this.#awaySince ??= this.#now();
    return storeAway(this.#name, this.#awaySince, why);
  }
}
