/** The parties that an amount counts for: an address, a user, the owner. */
export type Parties = readonly string[];

/**
 * A capacity shared by clients, in bytes or in number. Parties that already hold some of it may use only the first
 * half; the second half is for parties that hold nothing yet, so that no party can keep others out. If nothing is held,
 * one amount of any size fits.
 */
export class FairShare {
  readonly #size: number;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether this amount still fits. */
  fits(parties: Parties, more: number): boolean {
    const isFirst = !parties.some((party) => this.#held.has(party));
    return this.#all === 0 || this.#all + more <= (isFirst ? this.#size : this.#size / 2);
  }

  /** Whether this amount would exceed the parties' own share, which is half of the capacity. */
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
