/** Nodes evaluated, elements visited and characters looked at in one evaluation; 50 to 100 µs. */
export const mostWork = 10_000;
/** Characters and elements of all values that one evaluation makes. */
const mostSize = 20_000;

/** An evaluation has used up its budget. */
export class OverBudget extends Error {}

/** What one evaluation of an expression may still cost. Everything that an expression does is charged here first. */
export class Budget {
  work = mostWork;
  #size = mostSize;

  /** Throws `OverBudget`. */
  spend(work: number): void {
    this.work -= work;
    if (this.work < 0) throw new OverBudget(`it takes more than ${mostWork.toLocaleString("en-US")} steps`);
  }

  /** Before so many characters are looked at. Throws `OverBudget`. */
  scan(characters: number): void {
    this.spend(characters >> 4);
  }

  /** Before a text or list of this size is made. Throws `OverBudget`. */
  make(size: number): void {
    this.#size -= size;
    if (this.#size < 0)
      throw new OverBudget(`it makes more than ${mostSize.toLocaleString("en-US")} characters and elements`);
    this.scan(size);
  }
}
