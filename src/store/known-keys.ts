/** Names after which the stored ones are read again, since most of the older ones were dropped meanwhile. */
const readEvery = 10_000;
/** Names that are kept while they cannot be read. */
const mostNames = 100_000;

/** The names of rows that may be stored, so that nobody has to look for those of others. */
export class KnownKeys {
  readonly #read: () => Promise<readonly string[]>;
  #known: Set<string>;
  /** Since the last reading began. */
  #added = new Set<string>();
  #isReading = false;
  /** Too many to be kept: any may be stored, until they can be read. */
  #isAny = false;

  private constructor(read: () => Promise<readonly string[]>, known: readonly string[]) {
    this.#read = read;
    this.#known = new Set(known);
  }

  static async open(read: () => Promise<readonly string[]>): Promise<KnownKeys> {
    return new KnownKeys(read, await read());
  }

  has(name: string): boolean {
    return this.#isAny || this.#known.has(name) || this.#added.has(name);
  }

  /** Call it before the row is written. */
  add(name: string): void {
    this.#added.add(name);
    if (this.#added.size >= readEvery && !this.#isReading) void this.#readAgain();
  }

  async #readAgain(): Promise<void> {
    this.#isReading = true;
    // The reading may come before the rows of the last ones.
    const before = this.#added;
    this.#added = new Set();
    for (const name of before) this.#known.add(name);
    const stored = await this.#read().catch(() => null);
    this.#isReading = false;
    if (stored !== null) this.#known = new Set([...stored, ...before]);
    else if (this.#known.size > mostNames) this.#known.clear();
    this.#isAny = stored === null && (this.#isAny || this.#known.size === 0);
  }
}
