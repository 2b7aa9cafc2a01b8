/** Names after which the stored ones are read again, since most of the older ones were dropped meanwhile. */
const readEvery = 10_000;

/** The names of rows that may be stored, so that nobody has to look for those of others. */
export class KnownKeys {
  readonly #read: () => Promise<readonly string[]>;
  #known: Set<string>;
  /** Since the last reading. */
  #added = new Set<string>();

  private constructor(read: () => Promise<readonly string[]>, known: readonly string[]) {
    this.#read = read;
    this.#known = new Set(known);
  }

  static async open(read: () => Promise<readonly string[]>): Promise<KnownKeys> {
    return new KnownKeys(read, await read());
  }

  has(name: string): boolean {
    return this.#known.has(name) || this.#added.has(name);
  }

  /** Call it before the row is written. */
  add(name: string): void {
    this.#added.add(name);
    if (this.#added.size >= readEvery) void this.#readAgain();
  }

  async #readAgain(): Promise<void> {
    const added = this.#added;
    this.#added = new Set();
    for (const name of added) this.#known.add(name);
    // If it cannot be read now, more names stay than are needed.
    const stored = await this.#read().catch(() => null);
    // The reading may have come before the rows of the last ones.
    if (stored !== null) this.#known = new Set([...stored, ...added]);
  }
}
