import type { Caller, MiningService } from "../contract/service.ts";

/** ms for which a list of pool definitions is taken to hold. */
const holds = 10_000;

/** The pool definitions that miners can be sent to, by the names that people gave them. */
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

  /** As last read; null before that. */
  get names(): readonly string[] | null {
    return this.#ids === null ? null : [...this.#ids.keys()];
  }

  /** The Static ID by name; what cannot be read now is as it was. */
  async read(): Promise<(name: string) => number | undefined> {
    if (this.#now() - this.#readAt >= holds) {
      this.#readAt = this.#now();
      const list = await this.#service.listPools({}, this.#caller).catch(() => undefined);
      // Of two of one name the first has it; the names that Home Assistant shows have 250 characters at most.
      const named = (list?.list ?? []).filter(({ description }) => description !== "");
      if (list !== undefined)
        this.#ids = new Map(named.toReversed().map(({ description, id }) => [description.slice(0, 250), id]));
    }
    return (name) => this.#ids?.get(name);
  }
}
