import type { Caller, MiningService } from "../contract/service.ts";

/** The list of pool definitions is read again after this. */
const cacheMs = 10_000;

/** The pool definitions that miners can be switched to, by name. */
export class PoolNames {
  readonly #service: MiningService;
  readonly #caller: Caller;
  readonly #now: () => number;
  #ids: ReadonlyMap<string, number> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(service: MiningService, caller: Caller, now: () => number) {
    this.#service = service;
    this.#caller = caller;
    this.#now = now;
  }

  /** As last read; null before the first read. */
  get names(): readonly string[] | null {
    return this.#ids === null ? null : [...this.#ids.keys()];
  }

  /** Resolves with a lookup of the Static ID by name; if the list cannot be read, the last one is used. */
  async read(): Promise<(name: string) => number | undefined> {
    if (this.#now() - this.#readAt >= cacheMs) {
      this.#readAt = this.#now();
      const list = await this.#service.listPools({}, this.#caller).catch(() => undefined);
      // The first of two with one name counts; names in Home Assistant have at most 250 characters.
      const named = (list?.list ?? []).filter(({ description }) => description !== "");
      if (list !== undefined)
        this.#ids = new Map(named.toReversed().map(({ description, id }) => [description.slice(0, 250), id]));
    }
    return (name) => this.#ids?.get(name);
  }
}
