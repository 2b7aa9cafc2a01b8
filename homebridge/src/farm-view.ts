import { setImmediate as immediate } from "node:timers/promises";
import type { Group, ManualAction, Miner } from "rigbridge";
import type { FarmListener, FarmLists } from "rigbridge/farm";

/** What is known of the farm now. */
export interface Farm {
  readonly miners: readonly Miner[];
  readonly groups: readonly Group[];
  readonly rules: readonly ManualAction[];
  /** `host:port` of rigs that are there and of which nothing can be shown: what stands for them in Home stays. */
  readonly hidden: ReadonlySet<string>;
}

/** Takes in what changes and tells, at most ten times a second, that it is another farm; null = the service is lost. */
export class FarmView implements FarmListener {
  readonly #changed: (farm: Farm | null) => void;
  readonly #miners = new Map<number, Miner>();
  #groups: readonly Group[] = [];
  #rules: readonly ManualAction[] = [];
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;
  /** The lists were read, and the service has not been lost since. */
  #isThere = false;

  constructor(changed: (farm: Farm | null) => void) {
    this.#changed = changed;
  }

  miner(miner: Miner): void {
    this.#miners.set(miner.id, miner);
    this.#soon();
  }

  /**
   * Only one that is known: who was asked while it was removed may answer later. Resolves when it is told; of many that
   * come together it is told once.
   */
  again(miner: Miner): Promise<void> {
    if (this.#miners.has(miner.id)) this.#miners.set(miner.id, miner);
    this.#telling ??= immediate().then(() => {
      this.#telling = undefined;
      this.#now();
    });
    return this.#telling;
  }

  removed(id: number): void {
    this.#miners.delete(id);
    this.#soon();
  }

  read({ miners, groups, rules }: FarmLists): void {
    this.#miners.clear();
    for (const miner of miners) this.#miners.set(miner.id, miner);
    this.#groups = groups;
    this.#rules = rules;
    this.#isThere = true;
    this.#now();
  }

  lost(): void {
    this.close();
    this.#isThere = false;
    this.#changed(null);
  }

  happened(): void {}

  summary(): void {}

  notification(): void {}

  get(id: number): Miner | undefined {
    return this.#miners.get(id);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#now(), 100);
  }

  #now(): void {
    this.close();
    if (!this.#isThere) return;
    this.#changed({ miners: [...this.#miners.values()], groups: this.#groups, rules: this.#rules, hidden: new Set() });
  }
}
