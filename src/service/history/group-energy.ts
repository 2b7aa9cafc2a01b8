import { allMiners, type Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { lineOf } from "../nested-groups.ts";

/**
 * Counters of the energy of each group and of all miners. Each counts the energy that its miners draw while they belong
 * to it: joining and leaving miners do not change it, so it never falls.
 */
export class GroupEnergy {
  readonly #store: Store;
  /** Not saved yet, Wh. */
  readonly #unsaved = new Map<number, number>();

  constructor(store: Store) {
    this.#store = store;
    if (store.groupEnergies.all().has(allMiners)) return;
    // A store without counters is new, or comes from a version that showed the sums of the miners: the counters
    // continue from these.
    for (const { id } of enabled(store.miners)) {
      const energy = store.memory.get(id)?.energy ?? null;
      if (energy !== null) this.add(id, energy);
    }
  }

  /** A miner has drawn this energy. */
  add(minerId: number, wattHours: number): void {
    const { groups, miners } = this.#store;
    for (const id of [allMiners, ...lineOf(miners.get(minerId)?.groupId ?? 0, groups)])
      this.#unsaved.set(id, (this.#unsaved.get(id) ?? 0) + Math.max(0, wattHours));
  }

  /** Throws store.full; the values are kept and written with the next save. */
  async save(): Promise<void> {
    if (this.#unsaved.size === 0) return;
    const saved = this.#store.groupEnergies.all();
    const batch = new Map(this.#unsaved);
    await this.#store.groupEnergies.save(
      new Map([...batch].map(([id, wattHours]) => [id, (saved.get(id) ?? 0) + wattHours])),
    );
    for (const [id, wattHours] of batch) {
      const rest = (this.#unsaved.get(id) ?? 0) - wattHours;
      if (rest > 0) this.#unsaved.set(id, rest);
      else this.#unsaved.delete(id);
    }
  }

  /** Last stored Wh; null until one of its miners has reported any. */
  of(groupId: number): number | null {
    return this.#store.groupEnergies.all().get(groupId) ?? null;
  }
}
