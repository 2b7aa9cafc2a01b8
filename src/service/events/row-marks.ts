import type { Access } from "../users/access.ts";

interface Departure {
  /** The event with which the miner left. */
  readonly at: number;
  readonly minerId: number;
  /** The group that the miner left. */
  readonly groupId: number;
}

/** The last event for the row of each miner, and the miners that left a group, with the event. */
export class RowMarks {
  readonly #byMiner = new Map<number, number>();
  /** The last event with which a miner changed group, for miners that ever did. */
  readonly #movedAt = new Map<number, number>();
  readonly #departuresKept: number;
  #departures: Departure[] = [];
  /** All departures after this event are kept. */
  #completeAfter: number;
  /** The last event for all rows. */
  #all: number;
  #newest: number;

  /** `start`: the event before the first. */
  constructor(departuresKept: number, start: number) {
    this.#departuresKept = departuresKept;
    this.#completeAfter = start;
    this.#all = start;
    this.#newest = start;
  }

  /** The last event for any row. */
  get newest(): number {
    return this.#newest;
  }

  of(minerId: number): number {
    return Math.max(this.#all, this.#byMiner.get(minerId) ?? 0);
  }

  has(minerId: number): boolean {
    return this.#byMiner.has(minerId);
  }

  movedAt(minerId: number): number {
    return this.#movedAt.get(minerId) ?? 0;
  }

  mark(minerId: number, at: number): void {
    this.#byMiner.set(minerId, at);
    this.#newest = at;
  }

  markAll(at: number): void {
    this.#all = at;
    this.#newest = at;
  }

  /** The miner has moved to another group. */
  left(departure: Departure): void {
    this.#movedAt.set(departure.minerId, departure.at);
    this.#note(departure);
  }

  remove(departure: Departure): void {
    this.#byMiner.delete(departure.minerId);
    this.#movedAt.delete(departure.minerId);
    this.#note(departure);
  }

  #note(departure: Departure): void {
    this.#departures.push(departure);
    this.#newest = departure.at;
    if (this.#departures.length < 2 * this.#departuresKept) return;
    this.#departures = this.#departures.slice(-this.#departuresKept);
    this.#completeAfter = this.#departures[0]?.at ?? departure.at;
  }

  /** The miners that have left a group visible to this access; null if that is no longer known. */
  leftSince(version: number, access: Access): number[] | null {
    if (version < this.#completeAfter) return null;
    const left = this.#departures.filter(({ at, groupId }) => at > version && access.seesGroup(groupId));
    return left.map(({ minerId }) => minerId);
  }
}
