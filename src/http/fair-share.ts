/** Whoever something is held for: an address, a user, the owner. It counts for each of them. */
export type Parties = readonly string[];

/**
 * What is held for clients, in bytes or in number. Half of it is for all, and what one party takes of it nobody else
 * has; the other half is for those who hold nothing yet, so that no party alone keeps others out. Whatever its size, one
 * thing fits where there is nothing else.
 */
export class FairShare {
  readonly #size: number;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether so much more fits in. */
  fits(parties: Parties, more: number): boolean {
    const isFirst = !parties.some((party) => this.#held.has(party));
    return this.#all === 0 || this.#all + more <= (isFirst ? this.#size : this.#size / 2);
  }

  /** Whether it is these parties' own share, the half, that so much more would go beyond. */
  isOverShare(parties: Parties, more: number): boolean {
    return parties.some((party) => {
      const held = this.#held.get(party) ?? 0;
      return held > 0 && held + more > this.#size / 2;
    });
  }

  take(parties: Parties, amount: number): void {
    this.#all += amount;
    for (const party of parties) this.#held.set(party, (this.#held.get(party) ?? 0) + amount);
  }

  give(parties: Parties, amount: number): void {
    this.#all -= amount;
    for (const party of parties) {
      const held = (this.#held.get(party) ?? 0) - amount;
      if (held > 0) this.#held.set(party, held);
      else this.#held.delete(party);
    }
  }
}
