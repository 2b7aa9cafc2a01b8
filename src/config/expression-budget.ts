/** Limit of nodes evaluated, elements visited and characters read in one evaluation; 50 to 100 µs. */
export const mostWork = 10_000;
/** Limit of characters and elements in all values created by one evaluation. */
const mostSize = 20_000;

/** An evaluation has used up its budget. */
export class OverBudget extends Error {}

/** The remaining cost of one evaluation of an expression. Every operation of an expression is charged here first. */
export class Budget {
  work = mostWork;
  #size = mostSize;

  /** Throws `OverBudget`. */
  spend(work: number): void {
    this.work -= work;
    if (this.work < 0) throw new OverBudget(`it takes more than ${mostWork.toLocaleString("en-US")} steps`);
  }

  /** Call it before reading this many characters. Throws `OverBudget`. */
  scan(characters: number): void {
    this.spend(characters >> 4);
  }

  /** Call it before creating a text or list of this size. Throws `OverBudget`. */
  make(size: number): void {
    this.#size -= size;
    if (this.#size < 0)
      throw new OverBudget(`it makes more than ${mostSize.toLocaleString("en-US")} characters and elements`);
    this.scan(size);
  }
}
